// The Scheduler view: nodes and plugins of one decision.

import { t } from './text.js';
import { el, replace, throttled } from './dom.js';
import { onSpans, spans } from './spans.js';

const mostPods = 300;

let panel;
let visible = false;
let wanted = ''; // object

const refresh = throttled(500, () => { if (visible && panel) draw(); });
onSpans(refresh);

export async function show(root, object) {
  visible = true;
  wanted = object;
  if (!panel) {
    panel = {
      pods: el('select', { onchange: () => { location.hash = `scheduler/${panel.pods.value}`; } }),
      attempts: el('select', { onchange: () => draw() }),
      table: el('div', {}),
    };
    root.append(el('div', { class: 'bar' }, el('label', {}, t('pod'), panel.pods), el('label', {}, t('attempt'), panel.attempts)), panel.table);
  }
  draw();
}

export function hide() { visible = false; }
export function reset() { panel = undefined; }

function draw() {
  const decisions = spans.list.filter((s) => s.name === 'schedule' && s.nodes?.length);
  const pods = [...new Set(decisions.map((s) => s.object).reverse())].slice(0, mostPods);
  if (wanted && !pods.includes(wanted)) pods.unshift(wanted);
  const current = wanted || pods[0] || '';
  choose(panel.pods, pods.map((p) => [p, p.replace(/^pods\//, '')]), current);
  const attempts = decisions.filter((s) => s.object === current);
  const ids = attempts.map((s) => s.spanID);
  const chosen = ids.includes(panel.attempts.value) ? panel.attempts.value : ids[ids.length - 1] ?? '';
  choose(panel.attempts, attempts.map((s) => [s.spanID, `${clock(s.end)} ${s.decision ?? s.error ?? ''}`]), chosen);
  const span = attempts.find((s) => s.spanID === chosen);
  if (!span) {
    replace(panel.table, el('p', {}, t('noDecision')));
    return;
  }
  const plugins = [...new Set(span.nodes.flatMap((n) => (n.scores ?? []).map((s) => s.plugin)))];
  replace(panel.table,
    el('p', {}, t('decisionAt', { time: clock(span.end), decision: span.decision ?? span.error ?? '' })),
    el('div', { class: 'scroll' }, el('table', { class: 'scores' },
      el('thead', {}, el('tr', {}, [t('node'), t('verdict'), t('score'), ...plugins].map((h) => el('th', { scope: 'col' }, h)))),
      el('tbody', {}, span.nodes.map((n) => row(n, plugins))))),
    el('p', { class: 'quiet' }, t('scoreHelp')));
}

function row(n, plugins) {
  const scores = new Map((n.scores ?? []).map((s) => [s.plugin, s]));
  const verdict = n.chosen ? t('chosen') : n.rejected ? t('rejectedBy', { plugin: n.rejected, reasons: (n.reasons ?? []).join(', ') }) : t('fits');
  const victims = n.victims?.length ? `; ${t('preempts', { pods: n.victims.join(', ') })}` : '';
  return el('tr', { class: n.chosen ? 'chosen' : n.rejected ? 'rejected' : undefined },
    el('th', { scope: 'row' }, el('a', { href: `#objects/nodes/${n.node}`, 'data-key': n.node }, n.node)),
    el('td', {}, verdict + victims),
    el('td', { class: 'number' }, n.rejected || !n.scores ? '' : String(n.score ?? 0)),
    plugins.map((p) => {
      const s = scores.get(p);
      return el('td', { class: 'number' }, s ? `${s.raw} → ${s.normalized} × ${s.weight}` : '');
    }));
}

// choose changes a select only when it must, so that an open one stays.
function choose(select, options, value) {
  const key = JSON.stringify(options);
  if (select.dataset.options !== key) {
    select.dataset.options = key;
    select.replaceChildren(...options.map(([v, label]) => el('option', { value: v }, label)));
  }
  select.value = value;
}

function clock(time) { return time.slice(11, 23).replace('Z', ''); }
