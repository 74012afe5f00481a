// One object: its YAML now, and what changed between two of its revisions.

import { t } from './text.js';
import { el, replace } from './dom.js';
import { getJSON, objectAt, objectPath, parseObject, Refused } from './api.js';
import { revisionsOf } from './spans.js';
import { toLines } from './yaml.js';
import { diff, hunks } from './diff.js';

const colours = new Map(); // by field manager
const colourCount = 5;

// showObject builds the part below the lists. With to it compares at once.
export async function showObject(container, object, byName, { to }) {
  if (!object) {
    replace(container, el('p', {}, t('chooseObject')));
    return;
  }
  const { traceName, namespace, name } = parseObject(object);
  const resource = byName.get(traceName);
  if (!resource || !name) {
    replace(container, el('p', {}, t('noSteps', { object })));
    return;
  }
  const yaml = el('pre', { tabindex: 0, class: 'yaml', 'aria-label': t('yaml') });
  const result = el('pre', { tabindex: 0, class: 'yaml', 'aria-label': t('diff'), 'aria-live': 'polite' });
  const managed = el('input', { type: 'checkbox', onchange: () => { load(); if (result.hasChildNodes()) compare(); } });
  const revisions = revisionsOf(object);
  const [before, after] = ends(revisions, to);
  const options = el('datalist', { id: 'revisions' }, revisions.map((r) => el('option', { value: r })));
  const from = el('input', { type: 'number', min: 1, list: 'revisions', value: before, required: true });
  const until = el('input', { type: 'number', min: 1, list: 'revisions', value: after, required: true });

  replace(container,
    el('h2', {}, t('details', { object })),
    el('p', { class: 'bar' },
      el('a', { href: `#pipeline/${object}` }, t('seeSteps')),
      traceName === 'pods' && el('a', { href: `#scheduler/${object}` }, t('seeScheduling')),
      el('label', {}, managed, t('managed'))),
    el('div', { class: 'columns' },
      el('div', {}, el('h3', {}, t('yaml')), yaml),
      el('div', {}, el('h3', {}, t('diff')),
        el('form', { class: 'bar', onsubmit: (event) => { event.preventDefault(); compare(); } },
          el('label', {}, t('from'), from), el('label', {}, t('to'), until), options,
          el('button', { type: 'submit' }, t('compare'))),
        revisions.length < 2 && el('p', { class: 'quiet' }, t('noRevisions')),
        result)));
  const comparing = revisions.length > 1 || to ? compare() : undefined;
  await Promise.all([load(), comparing]);

  async function load() {
    try {
      yaml.replaceChildren(...toLines(await getJSON(objectPath(resource, namespace, name)), managed.checked).map((line) => drawLine(['', line])));
    } catch (err) {
      yaml.textContent = err instanceof Refused && err.code === 404 ? t('deleted') : err.message;
    }
  }

  async function compare() {
    try {
      const [a, b] = await Promise.all([from.value, until.value].map((r) => objectAt(resource, namespace, name, r)));
      const missing = [!a && from.value, !b && until.value].filter(Boolean).map((rev) => el('p', {}, t('gone', { rev })));
      const lines = hunks(diff(toLines(a, managed.checked), toLines(b, managed.checked)));
      if (lines.every((line) => line === null)) lines.splice(0);
      result.replaceChildren(...missing, ...(lines.length === 0 ? [t('noDifference')] : lines.map(drawLine)));
    } catch (err) { result.textContent = err.message; }
  }
}

// ends are the two revisions to begin with: the last two, or to and the one before.
function ends(revisions, to) {
  if (!to) return [revisions[revisions.length - 2] ?? '', revisions[revisions.length - 1] ?? ''];
  return [revisions.filter((r) => r < to).pop() ?? to - 1, to];
}

function drawLine(line) {
  if (line === null) return el('span', { class: 'line quiet' }, '⋯\n');
  const [mark, { text, managers }] = line;
  return el(mark === '+' ? 'ins' : mark === '-' ? 'del' : 'span', { class: 'line' }, mark ? `${mark} ${text}` : text,
    managers.map((manager) => el('span', { class: `manager manager-${colourOf(manager)}`, title: t('setBy', { manager }) }, manager)), '\n');
}

// colourOf gives a manager one of the colours for as long as the page is open.
function colourOf(manager) {
  if (!colours.has(manager)) colours.set(manager, colours.size % colourCount);
  return colours.get(manager);
}
