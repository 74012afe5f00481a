// The steps of an object as a table with bars.

import { t } from './text.js';
import { el, replace, svg } from './dom.js';
import { shortName } from './api.js';
import { client, didKey } from './spans.js';
import { commandList } from './commands.js';

const barWidth = 150;
const mostSteps = 300;

let open = 0; // revision whose commands are shown

// drawSteps shows all steps of the first pods, so many, and counts the others.
export function drawSteps(container, root, steps, pods, more) {
  if (steps.length === 0) {
    replace(container, el('p', {}, t('noSteps', { object: root })));
    return;
  }
  const { shown, hiddenPods, hiddenSteps } = fold(steps, pods);
  const end = Math.max(...shown.map((s) => s.at), 0.001);
  const heads = ['time', 'waited', 'revision', 'who', 'did', 'wokenBy', 'why', 'command'];
  const body = el('tbody');
  for (const step of shown) {
    body.append(row(step));
    if (step.revision === open) body.append(commandRow(step));
  }
  replace(container,
    el('h2', {}, t('stepsOf', { object: root })),
    el('div', { class: 'scroll' },
      el('table', { class: 'waterfall' },
        el('thead', {}, el('tr', {}, heads.map((h) => el('th', { scope: 'col' }, t(h))))), body)),
    steps[0].woke > 0 && el('p', { class: 'quiet' }, t('forgotten')),
    hiddenSteps > 0 && el('p', { class: 'bar' }, t('notShownSteps', { steps: hiddenSteps, pods: hiddenPods }),
      el('button', { type: 'button', 'data-key': 'more', onclick: more }, t('showMore'))));

  function row(step) {
    const toggle = () => {
      open = open === step.revision ? 0 : step.revision;
      drawSteps(container, root, steps, pods, more);
    };
    return el('tr', { class: step.object === root ? 'root' : undefined },
      el('td', { class: 'number' }, duration(step.at)),
      el('td', {}, bar(step.from, step.at)),
      el('td', { class: 'number' }, String(step.revision)),
      el('td', {}, client(step.who)),
      el('td', {}, `${t(didKey(step))} `, el('a', { href: `#pipeline/${step.object}`, 'data-key': `o${step.revision}` }, shortName(step.object))),
      el('td', {}, woken(step)),
      el('td', { class: 'why' }, step.why ?? ''),
      el('td', {}, el('button', {
        type: 'button', class: 'small', 'aria-expanded': String(step.revision === open), 'aria-label': t('commandsFor', { rev: step.revision }),
        'data-key': `c${step.revision}`, onclick: toggle,
      }, '>_')));
  }

  function commandRow(step) {
    const cell = el('td', { colspan: heads.length }, t('loading'));
    commandList(step).then((list) => cell.replaceChildren(list), (err) => { cell.textContent = err.message; });
    return el('tr', { class: 'commands' }, cell);
  }

  // bar reaches from the write that woke the writer to its own.
  function bar(from, to) {
    const scale = (ms) => (Math.max(0, ms) / end) * barWidth;
    return svg('svg', { width: barWidth, height: 12, class: 'bar-chart', 'aria-hidden': 'true' },
      svg('rect', { class: 'ground', x: 0, y: 5, width: barWidth, height: 2 }),
      svg('rect', { class: 'span', x: scale(from), y: 1, width: Math.max(2, scale(to) - scale(from)), height: 10, rx: 2 }));
  }
}

function woken(step) {
  if (!step.woke) return el('span', { class: 'quiet' }, t('ownWill'));
  const what = step.wokeBy ? step.wokeBy.split(/[./]/)[0] : '';
  return what && step.wokeBy !== step.object ? t('revisionOf', { rev: step.woke, object: what }) : String(step.woke);
}

export function duration(ms) {
  return ms < 10000 ? `+${ms.toFixed(1)} ms` : `+${(ms / 1000).toFixed(1)} s`;
}

function fold(steps, most) {
  const pods = new Map();
  const shown = [];
  let hiddenSteps = 0;
  for (const step of steps) {
    let keep = true;
    if (step.object.startsWith('pods/')) {
      if (!pods.has(step.object)) pods.set(step.object, pods.size < most);
      keep = pods.get(step.object);
    }
    if (keep && shown.length < mostSteps) shown.push(step);
    else hiddenSteps++;
  }
  return { shown, hiddenSteps, hiddenPods: [...pods.values()].filter((kept) => !kept).length };
}
