// The editor: manifests in YAML, checked by dry runs on the server.

import { t } from './text.js';
import { el, replace, throttled } from './dom.js';
import { collectionPath, forgetResources, objectName, objectPath, request, resources } from './api.js';

const example = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: hello
spec:
  replicas: 3
  selector:
    matchLabels:
      app: hello
  template:
    metadata:
      labels:
        app: hello
    spec:
      containers:
      - name: web
        image: nginx
`;

export function buildEditor() {
  const results = el('ul', { class: 'results', 'aria-live': 'polite' });
  const check = throttled(600, () => run(true));
  const text = el('textarea', { rows: 20, spellcheck: 'false', autocapitalize: 'off', 'aria-describedby': 'editor-help', oninput: check, value: example });
  let running = 0;

  async function run(dry, method = 'apply') {
    const mine = ++running;
    const lines = [];
    for (const [i, document] of text.value.split(/^---.*$/m).filter((d) => d.trim()).entries()) lines.push(await send(document, i + 1, { dry, method }));
    if (mine === running) replace(results, lines.map(([ok, line]) => el('li', { class: ok ? 'ok' : 'bad' }, line)));
  }
  const button = (key, action) => el('button', { type: 'button', onclick: action }, t(key));
  return el('div', { class: 'editor' },
    el('p', { id: 'editor-help', class: 'quiet' }, t('editorHelp')),
    el('label', {}, t('manifest'), text),
    el('div', { class: 'bar' }, button('check', () => run(true)), button('create', () => run(false, 'create')), button('apply', () => run(false)),
      button('example', () => { text.value = example; run(true); })),
    results);
}

// send returns whether the server took the document, and a line that says so.
async function send(document, number, { dry, method }) {
  const { apiVersion, kind, namespace, name } = identify(document);
  if (!apiVersion || !kind) return [false, t('noKind', { n: number })];
  let object = kind;
  try {
    const resource = await find(apiVersion, kind);
    if (!resource) return [false, t('unknownKind', { kind, version: apiVersion })];
    const where = resource.namespaced ? namespace || 'default' : '';
    object = objectName(resource, where, name ?? '');
    const query = new URLSearchParams({ fieldValidation: 'Strict', fieldManager: 'kubesim-page', ...(dry && { dryRun: 'All' }) });
    const create = method === 'create' || !name;
    const path = create ? collectionPath(resource, where) : objectPath(resource, where, name);
    await request(`${path}?${query}`, { method: create ? 'POST' : 'PATCH', type: create ? 'application/yaml' : 'application/apply-patch+yaml', body: document });
    return [true, t(dry ? 'valid' : create ? 'createdIt' : 'appliedIt', { object })];
  } catch (err) {
    return [false, t('invalid', { object, message: err.message })];
  }
}

async function find(apiVersion, kind) {
  const search = async () => (await resources()).find((r) => r.apiVersion === apiVersion && r.kind === kind);
  const found = await search();
  if (found) return found;
  forgetResources(); // a CustomResourceDefinition may be new
  return search();
}

// identify reads what the path of the request needs. All else in the document is
// for the server to understand.
function identify(document) {
  if (document.trim().startsWith('{')) {
    try {
      const { apiVersion, kind, metadata = {} } = JSON.parse(document);
      return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
    } catch { return {}; }
  }
  const top = (key) => scalar(new RegExp(`^${key}:(.*)$`, 'm').exec(document)?.[1]);
  const metadata = /^metadata:[^\S\n]*\n((?:[^\S\n]+.*\n?|[^\S\n]*#.*\n?|\n)*)/m.exec(document)?.[1] ?? '';
  const indent = /^([^\S\n]+)[^\s#]/m.exec(metadata)?.[1] ?? '  ';
  const inner = (key) => scalar(new RegExp(`^${indent}${key}:(.*)$`, 'm').exec(metadata)?.[1]);
  return { apiVersion: top('apiVersion'), kind: top('kind'), namespace: inner('namespace'), name: inner('name') };
}

function scalar(text) {
  return text?.replace(/\s#.*$/, '').trim().replace(/^(["'])(.*)\1$/, '$2') || undefined;
}
