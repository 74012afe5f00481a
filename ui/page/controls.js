// The Controls view: the clock, faults, and an editor whose text the server checks.

import { t } from './text.js';
import { el, problem } from './dom.js';
import { getJSON, pause, Refused } from './api.js';
import { buildEditor } from './editor.js';
import { buildFaults } from './faults.js';

const path = '/debug/kubesim/clock';

let panel;
let bar; // in the page's header
let missing = false;
let following; // ends the reading of faults
let asked = 0; // requests, to ignore the answers that others have overtaken

export async function show(root) {
  if (!panel) build(root);
  await refresh();
}

export function reset() {
  panel = undefined;
  following?.abort();
}

// followClock keeps the header's clock, which each view has in sight.
export async function followClock(element) {
  bar = element;
  while (!missing) {
    if (!document.hidden) await refresh();
    await pause(1000);
  }
}

async function refresh(command) {
  if (missing) return;
  const mine = ++asked;
  try {
    const state = await getJSON(path, command && { method: 'POST', type: 'application/json', body: JSON.stringify(command) });
    if (mine === asked || command) {
      if (command) asked++;
      draw(state);
    }
    if (command) problem();
  } catch (err) {
    if (err instanceof Refused && err.code === 404) {
      missing = true;
      if (panel) panel.clock.replaceChildren(t('noClock'));
    } else if (command) problem(err.message);
  }
}

function draw(state) {
  const now = state.now.slice(0, 19).replace('T', ' ');
  const rate = state.rate === 0 ? t('paused') : t('rate', { rate: state.rate });
  bar.textContent = `${now} ${rate}`;
  if (!panel) return;
  panel.now.textContent = `${now} UTC · ${rate}`;
  panel.state.textContent = t('clockState', { timers: state.timers, next: state.next ? state.next.slice(11, 23).replace('Z', '') : '–' });
  panel.pause.disabled = state.rate === 0;
  panel.resume.disabled = state.rate !== 0;
}

function build(root) {
  const button = (key, command) => el('button', { type: 'button', onclick: () => refresh(command) }, t(key));
  const rate = el('input', { type: 'number', min: 0.01, max: 10000, step: 'any', value: 10, required: true });
  const by = el('input', { type: 'text', value: '5m', size: 8, required: true });
  panel = {
    now: el('p', { class: 'now' }), state: el('p', { class: 'quiet' }),
    pause: button('pause', { do: 'pause' }), resume: button('resume', { do: 'resume' }),
  };
  const advance = (event) => {
    event.preventDefault();
    const nanoseconds = duration(by.value);
    if (nanoseconds > 0) refresh({ do: 'advance', for: nanoseconds });
    else problem(t('badDuration', { text: by.value }));
  };
  panel.clock = el('div', {}, panel.now, panel.state,
    el('div', { class: 'bar' }, panel.pause, panel.resume, button('step', { do: 'step' })),
    el('form', { class: 'bar', onsubmit: (event) => { event.preventDefault(); refresh({ do: 'speed', rate: Number(rate.value) }); } },
      el('label', {}, t('speed'), rate), el('button', { type: 'submit' }, t('setSpeed'))),
    el('form', { class: 'bar', onsubmit: advance },
      el('label', {}, t('advanceBy'), by), el('button', { type: 'submit' }, t('advance'))));
  if (missing) panel.clock.replaceChildren(t('noClock'));
  following = new AbortController();
  root.append(el('h2', {}, t('clock')), panel.clock, el('h2', {}, t('faults')), buildFaults(following.signal), el('h2', {}, t('editor')), buildEditor());
}

// duration reads Go's form of hours, minutes, seconds: nanoseconds, 0 if it is none.
function duration(text) {
  if (!/^(\d+(\.\d+)?(ms|h|m|s))+$/.test(text.trim())) return 0;
  const units = { h: 3600e9, m: 60e9, s: 1e9, ms: 1e6 };
  let sum = 0;
  for (const [, number, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|h|m|s)/g)) sum += Number(number) * units[unit];
  return Math.round(sum);
}
