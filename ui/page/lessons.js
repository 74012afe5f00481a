// The Lessons view: a text, its commands run on a cluster of the lesson's own.

import { language, t } from './text.js';
import { el, problem, replace } from './dom.js';
import { getJSON, Refused, request } from './api.js';
import { markdown } from './markdown.js';

const path = '/debug/kubesim/lessons';

let all; // promise of the lessons in the page's language
let panel;
let shown = 0; // number of the lesson

export async function show(root, number) {
  panel ??= root;
  all ??= getJSON(`${path}?lang=${language}`).then((list) => list.items);
  let lessons;
  try {
    lessons = await all;
  } catch (err) {
    all = undefined;
    if (!(err instanceof Refused && err.code === 404)) throw err;
    panel.replaceChildren(el('p', { class: 'quiet' }, t('noLessons')));
    return;
  }
  const lesson = lessons.find((l) => String(l.number) === number);
  if (shown && shown === lesson?.number) return; // as far as it was gone through
  shown = lesson?.number ?? 0;
  const next = lessons[lessons.indexOf(lesson) + 1];
  replace(panel, el('div', { class: 'course' },
    el('nav', { 'aria-label': t('lessons') }, el('ol', {}, lessons.map((l) => el('li', { value: l.number },
      el('a', { href: `#lessons/${l.number}`, 'data-key': `lesson${l.number}`, title: l.idea, 'aria-current': l === lesson }, l.title))))),
    lesson ? new Course(lesson, next).root : el('p', { class: 'quiet' }, t('chooseLesson'))));
}

export function reset() {
  all = panel = undefined;
  shown = 0;
}

// Course is the lesson that is gone through.
class Course {
  constructor(lesson, next) {
    this.lesson = lesson;
    this.next = next;
    this.started = el('div', { 'aria-live': 'polite' });
    this.steps = el('div');
    this.begin = el('button', { type: 'button', onclick: () => this.start() }, t('begin'));
    this.root = el('article', {}, el('h2', {}, `${lesson.number} · ${lesson.title}`), markdown(lesson.intro), el('p', {}, this.begin), this.started, this.steps);
  }

  post(what) {
    return request(`${path}/${this.lesson.number}/${what}`, { method: 'POST' }).then((response) => response.json());
  }

  async start() {
    this.begin.disabled = true;
    this.steps.replaceChildren();
    this.started.replaceChildren(t('starting'));
    try {
      const { url } = await this.post('start');
      problem();
      this.started.replaceChildren(el('a', { href: `${url}/ui/?lang=${language}`, target: '_blank', rel: 'noopener' }, t('lessonPage')));
      this.begin.textContent = t('beginAgain');
      this.showStep(0);
    } catch (err) {
      this.started.replaceChildren();
      problem(err.message);
    }
    this.begin.disabled = false;
  }

  // showStep adds a step below those before, with what leads to the one after it.
  showStep(k) {
    const step = this.lesson.steps[k];
    if (!step) {
      this.steps.append(el('p', {}, t('lessonDone'), ' ', this.next && el('a', { href: `#lessons/${this.next.number}` }, `${t('nextLesson')}: ${this.next.title}`)));
      return;
    }
    const heading = el('h3', { tabindex: -1 }, t('stepOf', { k: k + 1, n: this.lesson.steps.length, title: step.title }));
    const after = el('div', { 'aria-live': 'polite' });
    const parts = [heading, markdown(step.text)];
    const ahead = () => el('p', {}, el('button', { type: 'button', onclick: (event) => { event.target.remove(); this.showStep(k + 1); } }, t('goOn')));
    if (step.choices) {
      parts.push(el('fieldset', {}, el('legend', {}, t('prediction')), step.choices.map(({ letter, text }) => el('label', {},
        el('input', { type: 'radio', name: `step${k}`, value: letter }), ` ${letter}) `, markdown(text).flatMap((p) => [...p.childNodes])))));
    }
    if (step.script) {
      const run = el('button', { type: 'button', onclick: () => this.run(k, run, after, ahead) }, t('run'));
      parts.push(el('pre', { class: 'script', tabindex: 0 }, step.script), el('p', {}, run));
    } else after.append(ahead());
    this.steps.append(el('section', {}, parts.flat(), after));
    if (k > 0) heading.focus();
  }

  async run(k, button, after, ahead) {
    const step = this.lesson.steps[k];
    button.disabled = true;
    after.replaceChildren(t('running'));
    try {
      const result = await this.post(`steps/${k + 1}/run`);
      problem();
      const guess = this.steps.querySelector(`input[name=step${k}]:checked`)?.value;
      after.replaceChildren(el('pre', { class: 'output', 'aria-label': t('output'), tabindex: 0 }, result.output));
      if (result.missing?.length) after.append(el('p', { class: 'bad' }, t('unexpected', { missing: result.missing.join(', ') })));
      if (result.answer) after.append(verdict(guess, result.answer));
      after.append(...markdown(step.after ?? ''), ahead());
    } catch (err) {
      after.replaceChildren();
      button.disabled = false; // to be run again
      problem(err.message);
    }
  }
}

function verdict(guess, answer) {
  if (!guess) return el('p', {}, t('theAnswer', { answer }));
  return guess === answer ? el('p', { class: 'ok' }, t('rightAnswer', { answer })) : el('p', { class: 'bad' }, t('wrongAnswer', { guess, answer }));
}
