// The spans that the server recorded, polled while the page is seen.

import { getJSON, pause } from './api.js';
import { problem } from './dom.js';
import { t } from './text.js';

const most = 8192; // as many as the server keeps
const interval = 1000;

export const spans = { list: [], byID: new Map(), total: 0 };
const listeners = new Set();

export function onSpans(listener) { listeners.add(listener); }

export async function poll() {
  let next = 0;
  let failed = false;
  for (;;) {
    if (!document.hidden) {
      try {
        const answer = await getJSON(`/debug/kubesim/spans?since=${next}`);
        if (answer.next < next) { // another server answers now
          clear();
          next = 0;
          continue;
        }
        next = answer.next;
        if (failed) problem();
        failed = false;
        if (answer.spans?.length) take(answer.spans);
      } catch (err) {
        failed = true;
        problem(t('unreachable', { message: err.message }));
      }
    }
    await pause(interval);
  }
}

function clear() {
  spans.list = [];
  spans.byID.clear();
}

function take(ended) {
  spans.list.push(...ended);
  for (const s of ended) spans.byID.set(s.spanID, s);
  for (const s of spans.list.splice(0, Math.max(0, spans.list.length - most))) spans.byID.delete(s.spanID);
  for (const listener of listeners) listener();
}

const reads = new Set(['get', 'list', 'watch']);

// isWrite tells the spans of requests that changed something.
export function isWrite(s) {
  return Boolean(s.verb) && s.wrote > 0 && s.code < 300 && !reads.has(s.verb);
}

// cause is the span that a request was made in: a reconcile, for one.
export function cause(s) { return spans.byID.get(s.parentID); }

// client names the program that sent a request by its User-Agent.
export function client(userAgent = '') { return userAgent === 'Mozilla' ? t('browser') : userAgent; }

// didKey names the text of what a request did.
export function didKey(s) {
  switch (s.subresource) {
    case 'binding': return 'didBind';
    case 'eviction': return 'didEvict';
    case 'status': return 'didStatus';
    case 'scale': return 'didScale';
  }
  switch (s.verb) {
    case 'create': return 'didCreate';
    case 'patch': return 'didPatch';
    case 'delete': case 'deletecollection': return 'didDelete';
  }
  return 'didUpdate';
}

// writesOf are the remembered revisions of an object, ascending.
export function revisionsOf(object) {
  const found = new Set();
  for (const s of spans.list) if (isWrite(s) && s.object === object) found.add(s.wrote);
  return [...found].sort((a, b) => a - b);
}
