// The Pipeline view: writes as they flow, and the steps of one object.

import { t } from './text.js';
import { el, problem, replace, throttled } from './dom.js';
import { getJSON, namedByUser } from './api.js';
import { onSpans } from './spans.js';
import { drawFlow } from './flow.js';
import { drawSteps } from './waterfall.js';

let panel; // what was built, undefined before
let followed = '';
let limit = 3; // pods of which the steps are shown
let visible = false;
let drawn = ''; // what the steps show, as JSON: a redraw would lose a selection
let asked = 0; // request for steps, to ignore late answers

const refresh = throttled(500, () => {
  if (!visible || !panel) return;
  if (!panel.hold.checked) drawFlow(panel.flow, { noise: panel.noise.checked, filter: panel.filter.value, followed, follow });
  loadSteps();
});
onSpans(refresh);
new ResizeObserver(refresh).observe(document.body);

export async function show(root, object) {
  visible = true;
  if (!panel) build(root);
  if (object && object !== followed) {
    followed = object;
    limit = 3;
    replace(panel.steps, el('p', { class: 'quiet' }, t('loading')));
  }
  if (object) panel.named.value = object;
  refresh();
}

export function hide() { visible = false; }
export function reset() {
  panel = undefined;
  drawn = '';
}

function follow(object) { location.hash = `pipeline/${object}`; }

function build(root) {
  panel = {
    flow: el('div', { class: 'flow' }),
    steps: el('div', { class: 'steps' }),
    hold: el('input', { type: 'checkbox', onchange: refresh }),
    noise: el('input', { type: 'checkbox', onchange: refresh }),
    filter: el('input', { type: 'search', oninput: refresh }),
    named: el('input', { type: 'text', size: 44, spellcheck: 'false', value: followed }),
  };
  const ask = async (event) => {
    event.preventDefault();
    const text = panel.named.value.trim();
    try {
      const object = await namedByUser(text);
      follow(object ?? text);
    } catch (err) { problem(err.message); }
  };
  root.append(
    el('h2', {}, t('flowTitle')),
    el('div', { class: 'bar' },
      el('label', {}, panel.hold, t('hold')),
      el('label', {}, panel.noise, t('showNoise')),
      el('label', {}, t('filter'), panel.filter)),
    panel.flow,
    el('p', { class: 'quiet' }, t('flowHelp')),
    el('form', { class: 'bar', onsubmit: ask },
      el('label', {}, t('followWhat'), panel.named),
      el('button', { type: 'submit' }, t('follow'))),
    panel.steps);
  if (!followed) panel.steps.append(el('p', {}, t('stepsHelp')));
}

async function loadSteps() {
  if (!followed) return;
  const mine = ++asked;
  const { steps } = await getJSON(`/ui/steps?object=${encodeURIComponent(followed)}`);
  if (mine !== asked || !panel) return;
  const now = JSON.stringify([followed, limit, steps]);
  if (now === drawn) return;
  drawn = now;
  drawSteps(panel.steps, followed, steps, limit, () => { limit += 20; loadSteps(); });
}
