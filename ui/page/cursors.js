// The watches as cursors in the log of writes: how far each client has been told,
// what is compacted away, and which watches broke off.

import { t } from './text.js';
import { el, replace, svg } from './dom.js';
import { getJSON, pause } from './api.js';

const path = '/debug/kubesim/watches';
const interval = 1000;
const mostOpen = 40;
const mostEnded = 10;
const trackWidth = 320;

let draw = () => {}; // what is there, anew
let state = { revision: 0, compacted: 0, watches: [], ended: [] };

// followCursors keeps the container up to date until the signal. axis hears to where
// the log is compacted, and answers the first revision that it shows and the chosen one.
export async function followCursors(container, signal, axis) {
  const summary = el('p', { 'aria-live': 'polite' });
  const open = el('div', { class: 'scroll' });
  const ended = el('div', { class: 'scroll' });
  const filter = el('input', { type: 'search', oninput: () => draw() });
  container.append(el('h2', {}, t('cursors')), el('p', { class: 'quiet' }, t('cursorsHelp')), summary,
    el('div', { class: 'bar' }, el('label', {}, t('filter'), filter)), open, el('h2', {}, t('endedWatches')), ended);
  draw = () => {
    replace(summary, t(state.compacted > 0 ? 'logEnds' : 'logWhole', { head: state.revision, compacted: state.compacted }));
    drawOpen(open, filter.value.trim().toLowerCase(), axis(state.compacted));
    drawEnded(ended);
  };
  while (!signal.aborted) {
    if (!document.hidden) {
      try {
        state = await getJSON(path, { signal });
        draw();
      } catch { /* the poll of spans tells that the server is away */ }
    }
    await pause(interval, signal);
  }
}

// redraw is for a change of the axis.
export function redraw() { draw(); }

function drawOpen(container, wanted, { first, chosen }) {
  const found = state.watches.filter((w) => `${who(w)} ${w.resource} ${w.namespace ?? ''}`.toLowerCase().includes(wanted));
  found.sort((a, b) => b.behind - a.behind || b.seen - a.seen || a.id - b.id);
  const low = Math.min(first || state.revision, ...found.map((w) => (w.behind > 0 ? w.seen : state.revision)));
  const x = (revision) => 4 + (Math.max(0, revision - low) / Math.max(1, state.revision - low)) * (trackWidth - 12);
  replace(container,
    el('table', { class: 'cursors' },
      head(['client', 'watches', 'told', 'behind', 'place']),
      el('tbody', {}, found.slice(0, mostOpen).map((w) => el('tr', { class: w.behind > 0 ? 'behind' : undefined },
        el('th', { scope: 'row' }, who(w)),
        el('td', {}, what(w)),
        el('td', { class: 'number' }, String(w.seen)),
        el('td', { class: 'number' }, w.behind > 0 ? t('events', { n: w.behind }) : '0'),
        el('td', {}, track(w, x, low, chosen)))))),
    found.length > mostOpen && el('p', { class: 'quiet' }, t('notShownRows', { n: found.length - mostOpen })));
}

// track draws the log from the first revision to the last. A watch without events to
// come stands at the end, whatever the revision of its last event.
function track(w, x, low, chosen) {
  const at = x(w.behind > 0 ? w.seen : state.revision);
  return svg('svg', { width: trackWidth, height: 16, class: 'track', 'aria-hidden': 'true' },
    svg('line', { class: 'lane', x1: x(low), x2: x(state.revision), y1: 8, y2: 8 }),
    state.compacted > low && svg('rect', { class: 'compacted', x: x(low), y: 3, width: x(state.compacted) - x(low), height: 10 }),
    chosen && svg('line', { class: 'chosen', x1: x(chosen), x2: x(chosen), y1: 1, y2: 15 }),
    w.behind > 0 && svg('line', { class: 'lag', x1: at, x2: x(state.revision), y1: 8, y2: 8 }),
    svg('path', { class: 'cursor', d: `M${at} 2 l5 6 l-5 6 l-5 -6 z` }));
}

function drawEnded(container) {
  const last = state.ended.slice(-mostEnded).reverse();
  replace(container, last.length === 0 ? el('p', { class: 'quiet' }, t('nothing')) : el('table', {},
    head(['time', 'client', 'watches', 'told', 'why', 'afterwards'], { time: 'endedAt' }),
    el('tbody', {}, last.map((w) => el('tr', {},
      el('td', { class: 'number' }, w.ended.slice(11, 23).replace('Z', '')),
      el('th', { scope: 'row' }, who(w)),
      el('td', {}, what(w)),
      el('td', { class: 'number' }, String(w.seen)),
      el('td', {}, w.why ?? ''),
      el('td', {}, afterwards(w)))))));
}

// afterwards tells how the same client went on: where it was, or by a new list.
function afterwards(w) {
  const next = [...state.watches, ...state.ended].filter((o) => o.id > w.id && sameQuestion(o, w)).sort((a, b) => a.id - b.id)[0];
  if (!next) return t('didNotComeBack');
  return t(next.from > w.seen && w.behind > 0 || next.from > w.seen && /410|expired/i.test(w.why ?? '') ? 'listedAgain' : 'wentOn', { rev: next.from });
}

function sameQuestion(a, b) {
  return ['user', 'userAgent', 'resource', 'namespace', 'selector'].every((key) => a[key] === b[key]);
}

function head(names, texts = {}) {
  return el('thead', {}, el('tr', {}, names.map((name) => el('th', { scope: 'col' }, t(texts[name] ?? name)))));
}

function who(w) {
  const account = /^system:serviceaccount:[^:]*:(.*)$/.exec(w.user)?.[1];
  return account ?? (w.userAgent === 'Mozilla' ? t('browser') : w.userAgent.split(/[/ ]/)[0] || w.user);
}

function what(w) {
  return `${w.resource}${w.namespace ? ` ${t('inNamespace', { namespace: w.namespace })}` : ''}${w.selector ? ` ${w.selector}` : ''}`;
}
