// Faults: break a link of the cluster, and see it heal.

import { t } from './text.js';
import { el, problem, replace } from './dom.js';
import { getJSON, pause, Refused, request } from './api.js';

const path = '/debug/kubesim/faults';

// What each kind of fault asks for.
const kinds = {
  pause: ['target'], crash: ['target'], stop: ['target'],
  freeze: ['from', 'resource'], delay: ['by', 'from', 'resource'], drop: ['from', 'resource', 'rate'], cut: ['from', 'resource'],
  answer: ['code', 'from', 'verb', 'resource', 'rate'], slow: ['by', 'from', 'verb', 'resource'],
};
const texts = {
  pause: 'faultPause', crash: 'faultCrash', stop: 'faultStop', freeze: 'faultFreeze', delay: 'faultDelay', drop: 'faultDrop', cut: 'faultCut',
  answer: 'faultAnswer', slow: 'faultSlow', target: 'faultTarget', from: 'faultFrom', resource: 'resource', verb: 'verb', rate: 'faultRate',
  code: 'faultCode', by: 'faultBy', for: 'faultFor',
};
const defaults = { target: 'scheduler', from: '', resource: '', verb: '', rate: '1', code: '409', by: '5s', for: '1m' };

// buildFaults makes the form and the list, which is kept up to date until the signal.
export function buildFaults(signal) {
  const inputs = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, el('input', { type: 'text', value, size: name === 'target' || name === 'from' ? 22 : 10 })]));
  const labels = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, el('label', {}, t(texts[name]), input)]));
  const kind = el('select', { onchange: () => choose() }, Object.keys(kinds).map((k) => el('option', { value: k }, t(texts[k]))));
  const choose = () => {
    for (const [name, label] of Object.entries(labels)) label.hidden = name !== 'for' && !kinds[kind.value].includes(name);
  };
  choose();
  const list = el('div', { class: 'faults', 'aria-live': 'polite' });
  const send = async (where, options) => {
    try {
      await request(where, options);
      problem();
    } catch (err) { problem(err.message); }
    await refresh();
  };
  const refresh = async () => {
    try {
      draw(list, (await getJSON(path, { signal })).items ?? [], (id) => send(`${path}${id}`, { method: 'DELETE' }));
    } catch (err) {
      if (err instanceof Refused && err.code === 404) replace(list, el('p', { class: 'quiet' }, t('noFaults')));
    }
  };
  const submit = (event) => {
    event.preventDefault();
    const fault = { kind: kind.value, for: inputs.for.value };
    for (const name of kinds[kind.value]) {
      const value = inputs[name].value.trim();
      if (value) fault[name] = name === 'code' || name === 'rate' ? Number(value) : value;
    }
    send(path, { method: 'POST', type: 'application/json', body: JSON.stringify(fault) });
  };
  follow();
  return el('div', {}, el('p', { class: 'quiet' }, t('faultsHelp')),
    el('form', { class: 'bar', onsubmit: submit }, el('label', {}, t('faultKind'), kind), Object.values(labels), el('button', { type: 'submit' }, t('breakIt'))), list);

  async function follow() {
    while (!signal.aborted) {
      if (!document.hidden) await refresh();
      await pause(1000, signal);
    }
  }
}

function draw(list, faults, clear) {
  if (faults.length === 0) {
    replace(list, el('p', { class: 'quiet' }, t('nothing')));
    return;
  }
  const head = ['faultKind', 'faultWhat', 'faultUntil', 'faultHits', 'command'];
  replace(list, el('table', {},
    el('thead', {}, el('tr', {}, head.map((name) => el('th', { scope: 'col' }, t(name))))),
    el('tbody', {}, faults.map((f) => el('tr', {},
      el('th', { scope: 'row' }, t(texts[f.kind] ?? f.kind)),
      el('td', {}, what(f)),
      el('td', { class: 'number' }, f.until.slice(11, 19)),
      el('td', { class: 'number' }, String(f.hits)),
      el('td', {}, el('button', { type: 'button', 'data-key': `fault${f.id}`, onclick: () => clear(`/${f.id}`) }, t('clear'))))))),
  el('p', { class: 'bar' }, el('button', { type: 'button', 'data-key': 'faults', onclick: () => clear('') }, t('clearAll'))));
}

function what(f) {
  const parts = ['target', 'code', 'by', 'from', 'verb', 'resource', 'namespace', 'name', 'after'].filter((name) => f[name]).map((name) => (name === 'target' ? f[name] : `${name} ${f[name]}`));
  if (f.rate && f.rate < 1) parts.push(`rate ${f.rate}`);
  return parts.join(', ') || t('faultEverybody');
}
