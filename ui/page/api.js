// Requests to the API, as any client makes them.

const tableType = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const metadataType = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

// Refused is an answer that is not a success, with the Status's message.
export class Refused extends Error {
  constructor(code, message, status) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export async function request(path, { method = 'GET', accept = 'application/json', type, body, signal } = {}) {
  const headers = { Accept: accept };
  if (type) headers['Content-Type'] = type;
  const response = await fetch(path, { method, headers, body, signal });
  if (!response.ok) {
    const text = await response.text();
    let status;
    try { status = JSON.parse(text); } catch { /* plain text */ }
    throw new Refused(response.status, (status?.message ?? text).trim() || response.statusText, status);
  }
  return response;
}

export async function getJSON(path, options) {
  return (await request(path, options)).json();
}

let known; // promise of the resources

// resources are all that can be listed, by aggregated discovery.
export function resources() {
  known ??= discover().catch((err) => { known = undefined; throw err; });
  return known;
}

export function forgetResources() { known = undefined; }

async function discover() {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const [core, groups] = await Promise.all([getJSON('/api', { accept }), getJSON('/apis', { accept })]);
  const found = [];
  for (const item of [...core.items, ...groups.items]) {
    const group = item.metadata.name ?? '';
    for (const [i, { version, resources: served }] of item.versions.entries()) {
      for (const r of served ?? []) {
        found.push({
          group, version, preferred: i === 0,
          apiVersion: group ? `${group}/${version}` : version,
          base: group ? `/apis/${group}/${version}` : `/api/${version}`,
          plural: r.resource, singular: r.singularResource ?? '', short: r.shortNames ?? [], kind: r.responseKind?.kind ?? '',
          namespaced: r.scope === 'Namespaced', verbs: r.verbs ?? [],
          traceName: group ? `${r.resource}.${group}` : r.resource,
        });
      }
    }
  }
  return found;
}

// resourceOf finds the resource that spans call so: deployments.apps.
export async function resourceOf(traceName) {
  return (await resources()).find((r) => r.preferred && r.traceName === traceName);
}

// parseObject takes a name of a span apart: resource[.group]/[namespace/]name.
export function parseObject(object) {
  const parts = object.split('/');
  return { traceName: parts[0], namespace: parts.length > 2 ? parts[1] : '', name: parts.length > 1 ? parts[parts.length - 1] : '' };
}

// shortName leaves out group and namespace.
export function shortName(object) {
  const { traceName, name } = parseObject(object);
  return `${traceName.split('.')[0]}/${name}`;
}

export function objectName(resource, namespace, name) {
  return [resource.traceName, ...(namespace ? [namespace] : []), name].join('/');
}

// namedByUser understands deploy/web, deployment default/web, pods/default/web.
export async function namedByUser(text) {
  const [kind, ...rest] = text.trim().split(/[/\s]+/);
  const word = (kind ?? '').toLowerCase();
  const all = (await resources()).filter((r) => r.preferred);
  const resource = all.find((r) => [r.plural, r.singular, r.kind.toLowerCase(), r.traceName, ...r.short].includes(word));
  if (!resource || rest.length === 0) return undefined;
  const name = rest[rest.length - 1];
  const namespace = resource.namespaced ? (rest.length > 1 ? rest[0] : 'default') : '';
  return objectName(resource, namespace, name);
}

export function collectionPath(resource, namespace) {
  return resource.base + (resource.namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '') + `/${resource.plural}`;
}

export function objectPath(resource, namespace, name) {
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
}

// exactPath lists the one object as it was at a revision.
export function exactPath(resource, namespace, name, revision) {
  const query = new URLSearchParams({ fieldSelector: `metadata.name=${name}`, resourceVersion: revision, resourceVersionMatch: 'Exact' });
  return `${collectionPath(resource, namespace)}?${query}`;
}

export async function objectAt(resource, namespace, name, revision) {
  const list = await getJSON(exactPath(resource, namespace, name, revision));
  const item = list.items[0];
  return item && { apiVersion: resource.apiVersion, kind: resource.kind, ...item };
}

// tableAt is a kind's Table as it was at a revision, as follow gives it.
export async function tableAt(resource, revision) {
  const list = await getJSON(`${collectionPath(resource)}?resourceVersion=${revision}&resourceVersionMatch=Exact`, { accept: tableType });
  return { columns: list.columnDefinitions, rows: new Map((list.rows ?? []).map((row) => [row.object.metadata.uid, row])) };
}

export async function listMetadata(resource, signal) {
  return (await getJSON(collectionPath(resource), { accept: metadataType, signal })).items;
}

// follow keeps a Map of Table rows by uid up to date until the signal, and calls
// changed after each event. After a broken watch it lists again.
export async function follow(resource, signal, changed) {
  const state = { columns: [], rows: new Map() };
  while (!signal.aborted) {
    try {
      const list = await getJSON(collectionPath(resource), { accept: tableType, signal });
      state.columns = list.columnDefinitions;
      state.rows = new Map((list.rows ?? []).map((row) => [row.object.metadata.uid, row]));
      changed(state);
      await watch(resource, list.metadata.resourceVersion, signal, (type, table) => {
        for (const row of table.rows ?? []) {
          if (type === 'DELETED') state.rows.delete(row.object.metadata.uid);
          else state.rows.set(row.object.metadata.uid, row);
        }
        changed(state);
      });
    } catch (err) {
      if (signal.aborted) return;
      if (err instanceof Refused && err.code !== 410 && err.code < 500 && err.code !== 429) throw err;
    }
    await pause(1000, signal);
  }
}

export function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

// watch returns when the stream ends or tells an error, such as 410.
async function watch(resource, revision, signal, each) {
  const query = new URLSearchParams({ watch: '1', resourceVersion: revision, allowWatchBookmarks: 'false' });
  const response = await request(`${collectionPath(resource)}?${query}`, { accept: tableType, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const event = JSON.parse(line);
      if (event.type === 'ERROR') return;
      if (event.type !== 'BOOKMARK') each(event.type, event.object);
    }
  }
}
