// The owner tree, by ownerReferences: from workloads down to pods.

import { t } from './text.js';
import { el, replace } from './dom.js';
import { objectName } from './api.js';
import { podStatus } from './nodemap.js';

const mostChildren = 20;
const mostRoots = 60;

export function drawTree(container, { owners, pods, podResource, selected }) {
  const all = new Map(); // by uid
  for (const [resource, items] of owners) {
    for (const item of items) all.set(item.metadata.uid, { kind: resource.kind, object: objectName(resource, item.metadata.namespace, item.metadata.name), meta: item.metadata, children: [] });
  }
  for (const row of pods.rows.values()) {
    const meta = row.object.metadata;
    all.set(meta.uid, { kind: 'Pod', object: objectName(podResource, meta.namespace, meta.name), meta, status: podStatus(pods, row).status, children: [] });
  }
  const roots = [];
  for (const node of all.values()) {
    const owner = node.meta.ownerReferences?.map((ref) => all.get(ref.uid)).find(Boolean);
    (owner ? owner.children : roots).push(node);
  }
  const shown = roots.filter((r) => r.children.length > 0 || r.kind !== 'ReplicaSet').sort(byObject);
  if (shown.length === 0) {
    replace(container, el('p', { class: 'quiet' }, t('nothing')));
    return;
  }
  replace(container, branch(shown, mostRoots, selected));
}

function byObject(a, b) { return a.object < b.object ? -1 : 1; }

function branch(nodes, most, selected) {
  const items = nodes.slice(0, most).map((n) => el('li', {},
    el('span', { class: 'kind' }, n.kind), ' ',
    el('a', { href: `#objects/${n.object}`, 'data-key': n.object, 'aria-current': n.object === selected ? 'true' : undefined }, n.meta.name),
    n.status && el('span', { class: 'quiet' }, ` ${n.status}`),
    n.children.length > 0 && branch(n.children.sort(byObject), mostChildren, selected)));
  if (nodes.length > most) items.push(el('li', { class: 'quiet' }, t('more', { n: nodes.length - most })));
  return el('ul', { class: 'tree' }, items);
}
