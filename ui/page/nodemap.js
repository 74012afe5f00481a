// The node map: pods as dots in a box per node. Each colour has its word beside
// the count, so that nothing is told by colour alone.

import { t } from './text.js';
import { el, replace } from './dom.js';

const mostDots = 60;
const mostNodes = 60;

// podStatus reads a row of the pods' Table.
export function podStatus(pods, row) {
  const cell = (name) => row.cells[pods.columns.findIndex((c) => c.name === name)] ?? '';
  const status = String(cell('Status'));
  const [ready, all] = String(cell('Ready')).split('/');
  const node = String(cell('Node')).replace('<none>', '');
  return { status, node, className: statusClass(status, ready === all) };
}

function statusClass(status, ready) {
  if (status === 'Running') return ready ? 'ok' : 'starting';
  if (status === 'Completed' || status === 'Succeeded') return 'done';
  if (['Pending', 'ContainerCreating', 'Terminating', 'PodInitializing', 'SchedulingGated'].includes(status) || status.startsWith('Init:')) return 'starting';
  return 'bad';
}

export function drawNodes(container, { nodes, pods, selected }) {
  const boxes = new Map(nodes.map((n) => [n.metadata.name, []]));
  for (const row of pods.rows.values()) {
    const status = podStatus(pods, row);
    if (!boxes.has(status.node)) boxes.set(status.node, []);
    boxes.get(status.node).push({ ...status, meta: row.object.metadata });
  }
  const sorted = [...boxes].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
  const drawn = sorted.slice(0, mostNodes).map(([name, list]) => box(name, list, selected));
  if (sorted.length > mostNodes) drawn.push(el('p', { class: 'quiet' }, t('more', { n: sorted.length - mostNodes })));
  replace(container, drawn);
}

function box(name, list, selected) {
  const counts = new Map();
  for (const p of list) {
    const key = `${p.className} ${p.status}`;
    counts.set(key, { ...p, n: (counts.get(key)?.n ?? 0) + 1 });
  }
  const dots = list.sort((a, b) => (a.meta.name < b.meta.name ? -1 : 1)).slice(0, mostDots).map((p) => {
    const object = `pods/${p.meta.namespace}/${p.meta.name}`;
    return el('a', {
      href: `#objects/${object}`, class: `pod ${p.className}`, title: `${p.meta.name}: ${p.status}`, 'aria-label': `${p.meta.name}: ${p.status}`,
      'data-key': `n${object}`, 'aria-current': object === selected ? 'true' : undefined,
    });
  });
  return el('section', { class: 'node', 'aria-label': name || t('noNode') },
    el('h3', {}, name ? el('a', { href: `#objects/nodes/${name}`, 'data-key': `nodes/${name}` }, name) : t('noNode'),
      el('span', { class: 'quiet' }, ` ${t('podsOn', { n: list.length })}`)),
    el('div', { class: 'dots' }, dots),
    list.length > mostDots && el('p', { class: 'quiet' }, t('more', { n: list.length - mostDots })),
    el('p', { class: 'legend' }, [...counts.values()].map((c) => el('span', {}, el('span', { class: `pod ${c.className}`, 'aria-hidden': 'true' }), ` ${c.status} ${c.n}`))));
}
