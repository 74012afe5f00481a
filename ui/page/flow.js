// The swim lanes. Columns are writes in the order of their revisions, not of time:
// most happens within a few milliseconds.

import { t } from './text.js';
import { el, replace, svg } from './dom.js';
import { parseObject, shortName } from './api.js';
import { cause, client, didKey, isWrite, spans } from './spans.js';

const laneHeight = 26;
const labelWidth = 210;
const columnWidth = 22;
const mostKubelets = 8;
const mostComponents = 14;

const noise = new Set(['leases.coordination.k8s.io', 'events', 'events.events.k8s.io']);

let chosen = 0; // revision that has the focus

// drawFlow shows the last writes that fit the width.
export function drawFlow(container, { noise: withNoise, filter, followed, follow }) {
  const room = Math.max(8, Math.floor((container.clientWidth - labelWidth - 20) / columnWidth));
  const { writes, hidden } = lastWrites(room, withNoise, filter);
  if (writes.length === 0) {
    replace(container, el('p', {}, t('noWrites')));
    return;
  }
  const lanes = lanesOf(writes);
  const x = (i) => labelWidth + 16 + i * columnWidth;
  const y = (lane) => 22 + lanes.indexOf(lane) * laneHeight;
  const columnOf = new Map(writes.map((w, i) => [w.revision, i]));
  if (!columnOf.has(chosen)) chosen = writes[writes.length - 1].revision;

  const height = 22 + lanes.length * laneHeight + 26;
  const width = labelWidth + 16 + room * columnWidth;
  const drawing = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': t('flowTitle') });
  for (const lane of lanes) {
    drawing.append(
      svg('line', { x1: labelWidth, x2: width, y1: y(lane), y2: y(lane), class: lane.kind === 'api' ? 'lane axis' : 'lane' }),
      svg('text', { x: labelWidth - 8, y: y(lane) + 4, class: 'lane-label', 'text-anchor': 'end' }, fit(lane.label)));
  }
  const api = lanes.find((lane) => lane.kind === 'api');
  for (const [i, w] of writes.entries()) drawing.append(column(w, i));
  for (const [i, w] of writes.entries()) {
    const from = columnOf.get(w.woke);
    if (from !== undefined && w.lane !== api) {
      drawing.append(svg('path', { class: 'woke', d: `M${x(from)} ${y(api)} L${x(i)} ${y(w.lane)}` }));
    }
  }
  drawing.addEventListener('keydown', move);
  replace(container, drawing, hidden > 0 && el('p', { class: 'quiet' }, t('notShownWrites', { n: hidden })));

  function column(w, i) {
    const { traceName, namespace, name } = parseObject(w.object);
    const label = t('writeLabel', { rev: w.revision, who: w.who, did: t(w.did), object: `${traceName}/${namespace ? namespace + '/' : ''}${name}` });
    const g = svg('g', {
      class: w.object === followed ? 'write followed' : 'write', role: 'button', tabindex: w.revision === chosen ? 0 : -1,
      'aria-label': label, 'data-key': `w${w.revision}`, 'data-column': i,
      onclick: () => { chosen = w.revision; follow(w.object); },
      onkeydown: (event) => {
        if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); follow(w.object); }
      },
      onfocus: () => { chosen = w.revision; },
    },
      svg('title', {}, `${label}${w.why ? `\n${w.why}` : ''}`),
      svg('rect', { class: 'hit', x: x(i) - columnWidth / 2, y: 8, width: columnWidth, height: lanes.length * laneHeight }),
      svg('line', { class: 'wrote', x1: x(i), x2: x(i), y1: y(w.lane), y2: y(api) }),
      svg('circle', { class: `dot kind-${kindClass(traceName)}`, cx: x(i), cy: y(w.lane), r: 7.5 }),
      svg('text', { class: 'initial', x: x(i), y: y(w.lane) + 3.5, 'text-anchor': 'middle', 'aria-hidden': 'true' }, traceName[0].toUpperCase()),
      svg('circle', { class: 'mark', cx: x(i), cy: y(api), r: 3 }));
    // Every second revision has room for its number.
    if (i % 2 === (writes.length - 1) % 2) g.append(svg('text', { class: 'tick', x: x(i), y: height - 10, 'text-anchor': 'middle' }, String(w.revision)));
    return g;
  }
}

// kindClass gives colours to the kinds on the way to a running pod.
function kindClass(traceName) {
  return { pods: 'pod', 'deployments.apps': 'deployment', 'replicasets.apps': 'replicaset', nodes: 'node' }[traceName] ?? 'other';
}

function move(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const from = event.target.closest('[data-column]');
  if (!step || !from) return;
  event.preventDefault();
  event.currentTarget.querySelector(`[data-column="${Number(from.dataset.column) + step}"]`)?.focus();
}

function fit(label) {
  const short = label.replace(/-controller$/, '');
  return short.length > 30 ? `${short.slice(0, 29)}…` : short;
}

function lastWrites(room, withNoise, filter) {
  const wanted = filter.trim().toLowerCase();
  const seen = new Set();
  const writes = [];
  let hidden = 0;
  const sorted = spans.list.filter(isWrite).sort((a, b) => b.wrote - a.wrote || (a.start < b.start ? 1 : -1));
  for (const s of sorted) {
    if (seen.has(s.wrote)) continue;
    seen.add(s.wrote);
    if (!withNoise && noise.has(s.object.split('/')[0])) continue;
    const by = cause(s);
    const who = by?.component ?? client(s.userAgent);
    if (wanted && !`${who} ${s.object} ${s.wrote}`.toLowerCase().includes(wanted)) continue;
    if (writes.length === room) { hidden++; continue; }
    writes.push({
      revision: s.wrote, object: s.object, short: shortName(s.object), did: didKey(s), who, why: by?.decision ?? '', woke: by?.woke ?? 0,
      // The parts of this process tell their component; a name of theirs as the
      // User-Agent of a request on its own is a part too.
      component: by?.component ?? (s.authenticatedBy === 'being part of this process' && s.userAgent !== 'kubesim' ? s.userAgent : ''),
    });
  }
  return { writes: writes.reverse(), hidden };
}

// lanesOf puts each write on a lane: clients, the API server, the scheduler,
// controllers, kubelets.
function lanesOf(writes) {
  const api = { kind: 'api', label: t('apiServer'), order: 1 };
  const lanes = new Map([['api', api]]);
  const lane = (key, kind, label, order) => {
    if (!lanes.has(key)) lanes.set(key, { kind, label, order });
    return lanes.get(key);
  };
  let kubelets = 0;
  let components = 0;
  for (const w of [...writes].reverse()) {
    const c = w.component;
    if (c === 'apiserver') w.lane = api;
    else if (!c) w.lane = lane('client', 'client', t('clients'), 0);
    else if (lanes.has(c)) w.lane = lanes.get(c);
    else if (c.startsWith('kubelet')) {
      w.lane = kubelets++ < mostKubelets ? lane(c, 'kubelet', c, 5) : lane('kubelets', 'kubelet', t('otherKubelets'), 6);
    } else if (c === 'scheduler') w.lane = lane(c, 'scheduler', c, 4);
    else w.lane = components++ < mostComponents ? lane(c, 'controller', c, 2) : lane('components', 'controller', t('otherComponents'), 3);
  }
  return [...lanes.values()].sort((a, b) => a.order - b.order || a.label.localeCompare(b.label, 'en', { numeric: true }));
}
