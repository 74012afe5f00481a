// The frame: tabs, language, and what the address says.

import { language, switchLanguage, t } from './text.js';
import { problem } from './dom.js';
import { poll } from './spans.js';
import * as pipeline from './pipeline.js';
import * as objects from './objects.js';
import * as revisions from './revisions.js';
import * as scheduler from './scheduler.js';
import * as controls from './controls.js';
import * as lessons from './lessons.js';

const views = { pipeline, objects, revisions, scheduler, controls, lessons };
let shown; // name of the view

// The address is #view or #view/object.
function address() {
  const [, name, object] = /^#?([a-z]*)\/?(.*)$/.exec(location.hash) ?? [];
  return { name: views[name] ? name : 'pipeline', object: decodeURIComponent(object ?? '') };
}

function show() {
  const { name, object } = address();
  if (shown !== name) {
    if (shown) views[shown].hide?.();
    shown = name;
    for (const tab of document.querySelectorAll('[role=tab]')) {
      const selected = tab.id === `tab-${name}`;
      tab.setAttribute('aria-selected', selected);
      tab.tabIndex = selected ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = !selected;
    }
  }
  views[name].show(document.getElementById(`panel-${name}`), object).catch((err) => problem(err.message));
}

function label() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll('[data-text]')) element.textContent = t(element.dataset.text);
  for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', t(element.dataset.label));
  const other = document.getElementById('language');
  other.textContent = t('otherLanguage');
  other.lang = language === 'en' ? 'zh' : 'en';
}

const tabs = document.getElementById('tabs');
tabs.addEventListener('click', (event) => {
  const tab = event.target.closest('[role=tab]');
  if (tab) location.hash = tab.id.replace('tab-', '');
});
tabs.addEventListener('keydown', (event) => {
  const names = Object.keys(views);
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  let to;
  if (move) to = (names.indexOf(shown) + move + names.length) % names.length;
  else if (event.key === 'Home') to = 0;
  else if (event.key === 'End') to = names.length - 1;
  else return;
  event.preventDefault();
  location.hash = names[to];
  document.getElementById(`tab-${names[to]}`).focus();
});
document.getElementById('language').addEventListener('click', () => {
  switchLanguage();
  label();
  for (const [name, view] of Object.entries(views)) {
    view.hide?.();
    view.reset();
    document.getElementById(`panel-${name}`).replaceChildren();
  }
  shown = undefined;
  show();
});
window.addEventListener('hashchange', show);
window.addEventListener('unhandledrejection', (event) => problem(event.reason?.message ?? String(event.reason)));

label();
show();
poll();
controls.followClock(document.getElementById('clock'));
