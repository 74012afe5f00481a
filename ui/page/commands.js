// Commands that do or observe exactly one step, to be copied to a shell.

import { t } from './text.js';
import { el } from './dom.js';
import { collectionPath, exactPath, objectPath, parseObject, resourceOf } from './api.js';

// quote makes one word of a POSIX shell.
function quote(text) { return `'${text.replaceAll("'", `'\\''`)}'`; }

const bare = 'del(.metadata.uid, .metadata.resourceVersion, .metadata.creationTimestamp, .metadata.generation, .metadata.managedFields, .status)';

export async function commandList(step) {
  const { traceName, namespace, name } = parseObject(step.object);
  const resource = await resourceOf(traceName);
  if (!resource) return el('p', {}, step.object);
  const server = location.origin;
  const collection = collectionPath(resource, namespace);
  const self = objectPath(resource, namespace, name);
  const exact = exactPath(resource, namespace, name, step.revision);
  const event = `${collection}?${new URLSearchParams({ watch: '1', resourceVersion: step.revision - 1, fieldSelector: `metadata.name=${name}` })}`;
  const commands = [];
  const deed = doing(step, { server, collection, self, exact, head: `{apiVersion: "${resource.apiVersion}", kind: "${resource.kind}"}` });
  if (deed) commands.push(['cmdDo', deed]);
  commands.push(
    ['cmdEvent', `curl -sN -m 1 ${quote(server + event)} | head -n 1`],
    ['cmdState', `kubectl -s ${server} get --raw ${quote(exact)}`]);
  const list = el('ul', { class: 'command-list' }, commands.map(([key, command]) => el('li', {},
    el('span', { class: 'what' }, t(key)), el('code', {}, command), copyButton(command))));
  if (step.verb !== 'create') list.append(el('li', {}, el('a', { href: `#objects/${step.object}?to=${step.revision}` }, t('cmdDiff'))));
  return list;
}

// doing repeats the request. What the client sent isn't recorded, but the object
// at that revision is kept, and says the same.
function doing(step, { server, collection, self, exact, head }) {
  const take = `curl -s ${quote(server + exact)} | jq`;
  const send = (method, path) => `curl -X ${method} -H 'Content-Type: application/json' -d @- ${quote(server + path)}`;
  switch (step.subresource) {
    case 'binding':
      return `${take} '{apiVersion: "v1", kind: "Binding", metadata: {name: .items[0].metadata.name}, target: {kind: "Node", name: .items[0].spec.nodeName}}' | ${send('POST', `${self}/binding`)}`;
    case 'status':
      return `${take} '${head} + .items[0] | del(.metadata.resourceVersion)' | ${send('PUT', `${self}/status`)}`;
    case undefined: case '': break;
    default: return '';
  }
  switch (step.verb) {
    case 'create': return `${take} '${head} + .items[0] | ${bare}' | ${send('POST', collection)}`;
    case 'update': case 'patch': return `${take} '${head} + .items[0] | del(.metadata.resourceVersion)' | ${send('PUT', self)}`;
    case 'delete': return `curl -X DELETE ${quote(server + self)}`;
  }
  return '';
}

export function copyButton(text) {
  const button = el('button', { type: 'button', class: 'small', onclick: async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = t('copied');
    setTimeout(() => { button.textContent = t('copy'); }, 1500);
  } }, t('copy'));
  return button;
}
