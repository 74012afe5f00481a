// The Objects view: a live list by kind, the owner tree, pods by node, one object.

import { t } from './text.js';
import { el, problem, replace, throttled } from './dom.js';
import { follow, listMetadata, objectName, resources } from './api.js';
import { showObject } from './object.js';
import { drawTree } from './tree.js';
import { drawNodes } from './nodemap.js';

const mostRows = 200;
const upkeep = 5000; // ms between lists of what isn't watched

// owners are the kinds of the tree that aren't watched, if they are served.
const ownerKinds = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'cronjobs.batch', 'jobs.batch', 'replicasets.apps', 'replicationcontrollers'];

let panel;
let kind = 'deployments.apps';
let selected = '';
let watching; // AbortController of all
let listing; // of the list's kind
let pods = { columns: [], rows: new Map() };
let list = { columns: [], rows: new Map() };
let owners = []; // [resource, metadata objects]
let nodes = [];
let byName = new Map();

export async function show(root, address) {
  if (!panel) await build(root);
  const [object, query] = address.split('?');
  if (object && object !== selected) {
    selected = object;
    kind = byName.has(object.split('/')[0]) ? object.split('/')[0] : kind;
    panel.kind.value = kind;
    listing?.abort();
    listing = undefined;
  }
  start();
  redraw();
  const to = new URLSearchParams(query ?? '').get('to');
  await showObject(panel.object, selected, byName, { to: Number(to) || 0 });
}

export function hide() {
  watching?.abort();
  listing?.abort();
  watching = listing = undefined;
}

export function reset() { panel = undefined; }

function select(object) { location.hash = `objects/${object}`; }

async function build(root) {
  const all = (await resources()).filter((r) => r.preferred && r.verbs.includes('watch') && r.verbs.includes('list'));
  byName = new Map(all.map((r) => [r.traceName, r]));
  const options = [...byName.values()].sort((a, b) => a.kind.localeCompare(b.kind))
    .map((r) => el('option', { value: r.traceName }, r.group ? `${r.kind} (${r.group})` : r.kind));
  panel = {
    kind: el('select', { onchange: () => { kind = panel.kind.value; hide(); start(); } }, options),
    filter: el('input', { type: 'search', oninput: () => redraw() }),
    table: el('div', { class: 'scroll tall' }),
    tree: el('div', { class: 'scroll tall' }),
    nodes: el('div', { class: 'nodes' }),
    object: el('div', { class: 'object' }),
  };
  panel.kind.value = kind;
  root.replaceChildren(
    el('div', { class: 'columns' },
      el('div', {},
        el('div', { class: 'bar' }, el('label', {}, t('kind'), panel.kind), el('label', {}, t('filter'), panel.filter)),
        panel.table),
      el('div', {}, el('h2', {}, t('owners')), panel.tree)),
    el('h2', {}, t('nodeMap')),
    panel.nodes, panel.object);
}

const redraw = throttled(250, () => {
  if (!panel || !watching) return;
  drawList();
  drawTree(panel.tree, { owners, pods, podResource: byName.get('pods'), selected, select });
  drawNodes(panel.nodes, { nodes, pods, selected, select });
});

// start watches pods and the list's kind, and lists the rest now and then.
function start() {
  if (!watching) {
    watching = new AbortController();
    const { signal } = watching;
    follow(byName.get('pods'), signal, (state) => { pods = state; redraw(); }).catch(report);
    tend(signal);
  }
  if (!listing) {
    listing = new AbortController();
    list = { columns: [], rows: new Map() };
    follow(byName.get(kind), listing.signal, (state) => { list = state; redraw(); }).catch(report);
  }
}

function report(err) { problem(err.message); }

async function tend(signal) {
  while (!signal.aborted) {
    try {
      const served = ownerKinds.map((name) => byName.get(name)).filter(Boolean);
      owners = await Promise.all(served.map(async (r) => [r, await listMetadata(r, signal)]));
      nodes = await listMetadata(byName.get('nodes'), signal);
      redraw();
    } catch (err) {
      if (signal.aborted) return;
      problem(err.message);
    }
    await new Promise((resolve) => { setTimeout(resolve, upkeep); });
  }
}

function drawList() {
  const wanted = panel.filter.value.trim().toLowerCase();
  const resource = byName.get(kind);
  const columns = list.columns.map((c, i) => [c, i]).filter(([c]) => (c.priority === 0 || c.name === 'Node') && c.name !== 'Age');
  const found = [];
  for (const row of list.rows.values()) {
    const { namespace = '', name } = row.object.metadata;
    if (!wanted || `${namespace}/${name} ${row.cells.join(' ')}`.toLowerCase().includes(wanted)) found.push([namespace, name, row]);
  }
  found.sort((a, b) => (a[0] === b[0] ? compare(a[1], b[1]) : compare(a[0], b[0])));
  const rows = found.slice(0, mostRows).map(([namespace, name, row]) => {
    const object = objectName(resource, namespace, name);
    return el('tr', { 'aria-selected': object === selected ? 'true' : undefined },
      resource.namespaced && el('td', { class: 'quiet' }, namespace),
      columns.map(([c, i]) => el('td', {}, i === 0
        ? el('a', { href: `#objects/${object}`, 'data-key': object }, name)
        : String(row.cells[i] ?? ''))));
  });
  replace(panel.table,
    el('p', { class: 'quiet' }, t('count', { n: found.length }), found.length > mostRows && ` · ${t('notShownRows', { n: found.length - mostRows })}`),
    el('table', {},
      el('thead', {}, el('tr', {}, resource.namespaced && el('th', { scope: 'col' }, 'Namespace'), columns.map(([c]) => el('th', { scope: 'col' }, c.name)))),
      el('tbody', {}, rows)));
}

function compare(a, b) { return a < b ? -1 : a > b ? 1 : 0; }
