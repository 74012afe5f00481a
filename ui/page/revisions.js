// The Revisions view: the log of writes as an axis, the cluster as it was at any
// revision of it, and the watches as cursors.

import { t } from './text.js';
import { el, replace, throttled } from './dom.js';
import { shortName, tableAt, resourceOf } from './api.js';
import { cause, client, didKey, isWrite, onSpans, spans } from './spans.js';
import { drawNodes } from './nodemap.js';
import { followCursors, redraw } from './cursors.js';

const shownKinds = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch', 'replicasets.apps', 'services'];
const mostRows = 50;

let panel;
let visible = false;
let writes = []; // by ascending revision, each once
let asked = 0; // to ignore late answers
let following; // ends the reading of the cursors

onSpans(throttled(500, () => { if (visible && panel) extend(); }));

const load = throttled(120, () => { if (visible && panel) draw(); });

export async function show(root) {
  visible = true;
  if (!panel) {
    panel = {
      axis: el('input', { type: 'range', min: 0, max: 0, value: 0, class: 'axis', 'aria-label': t('revision'), oninput: () => { tell(); load(); redraw(); } }),
      write: el('p', { class: 'now', 'aria-live': 'polite' }),
      nodes: el('div', { class: 'nodes' }),
      lists: el('div', {}),
      cursors: el('div', {}),
    };
    root.append(el('p', { class: 'quiet' }, t('revisionsHelp')), el('div', { class: 'axis-ground' }, panel.axis), panel.write, el('h2', {}, t('nodeMap')), panel.nodes, panel.lists, panel.cursors);
  }
  extend();
  if (!following) {
    following = new AbortController();
    panel.cursors.replaceChildren();
    followCursors(panel.cursors, following.signal, (compacted) => {
      shade(compacted);
      return { first: writes[0]?.wrote ?? 0, chosen: chosen()?.wrote };
    });
  }
}

export function hide() {
  visible = false;
  following?.abort();
  following = undefined;
}

export function reset() {
  panel = undefined;
  writes = [];
}

// extend takes in new writes. The handle stays where it is, unless it was at the end.
function extend() {
  const atEnd = Number(panel.axis.value) === writes.length - 1 || writes.length === 0;
  const held = chosen()?.wrote;
  const byRevision = new Map();
  for (const s of spans.list) if (isWrite(s) && !byRevision.has(s.wrote)) byRevision.set(s.wrote, s);
  writes = [...byRevision.values()].sort((a, b) => a.wrote - b.wrote);
  if (writes.length === 0) return;
  panel.axis.max = writes.length - 1;
  panel.axis.value = atEnd ? writes.length - 1 : Math.max(0, writes.findIndex((s) => s.wrote >= held));
  tell();
  if (chosen().wrote !== held || !panel.nodes.hasChildNodes()) load();
}

// shade marks the part of the axis that is compacted.
function shade(compacted) {
  const forgotten = writes.filter((s) => s.wrote < compacted).length;
  panel?.axis.parentElement.style.setProperty('--compacted', `${writes.length ? (100 * forgotten) / writes.length : 0}%`);
}

function chosen() { return writes[Number(panel.axis.value)]; }

function tell() {
  const s = chosen();
  if (!s) return;
  const label = t('writeLabel', { rev: s.wrote, who: cause(s)?.component ?? client(s.userAgent), did: t(didKey(s)), object: shortName(s.object) });
  panel.axis.setAttribute('aria-valuetext', label);
  replace(panel.write, `${label} `, el('a', { href: `#objects/${s.object}?to=${s.wrote}`, class: 'quiet', 'data-key': 'diff' }, t('cmdDiff')));
}

async function draw() {
  const s = chosen();
  if (!s) return;
  const mine = ++asked;
  try {
    const at = async (name) => {
      const resource = await resourceOf(name);
      return resource && { resource, ...await tableAt(resource, s.wrote) };
    };
    const [nodes, pods, ...lists] = await Promise.all(['nodes', 'pods', ...shownKinds].map(at));
    if (mine !== asked || !panel) return;
    drawNodes(panel.nodes, { nodes: [...nodes.rows.values()].map((row) => row.object), pods, selected: s.object });
    replace(panel.lists, el('div', { class: 'columns' }, lists.filter((list) => list?.rows.size > 0).map(drawList)));
  } catch (err) {
    if (mine !== asked || !panel) return;
    panel.nodes.replaceChildren();
    panel.lists.replaceChildren(el('p', {}, err.code === 410 ? t('compacted', { rev: s.wrote }) : err.message));
  }
}

function drawList({ resource, columns, rows }) {
  const shown = columns.map((c, i) => [c, i]).filter(([c]) => c.priority === 0 && c.name !== 'Age');
  const all = [...rows.values()];
  return el('div', { class: 'scroll' }, el('h2', {}, resource.kind), el('table', {},
    el('thead', {}, el('tr', {}, shown.map(([c]) => el('th', { scope: 'col' }, c.name)))),
    el('tbody', {}, all.slice(0, mostRows).map((row) => el('tr', {}, shown.map(([, i]) => el('td', {}, String(row.cells[i] ?? ''))))))),
    all.length > mostRows && el('p', { class: 'quiet' }, t('more', { n: all.length - mostRows })));
}
