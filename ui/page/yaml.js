// An object as YAML lines, keys in the API's order, each with its field managers.

const plain = /^[A-Za-z_./][A-Za-z0-9_./ ()%@=+-]*$/;
const reserved = /^(true|false|null|yes|no|on|off|y|n|~|\.inf|\.nan)$/i;

function scalar(value) {
  if (typeof value !== 'string') return JSON.stringify(value);
  return plain.test(value) && !reserved.test(value) && !value.endsWith(' ') ? value : JSON.stringify(value);
}

function isEmpty(value) {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

// owners are pairs of a manager and its fieldsV1 for a value. An empty set owns
// the value as a whole, so also what is in it.
function ownersOf(owners, find) {
  return owners.map(([manager, set]) => [manager, Object.keys(set).length === 0 ? set : find(set)]).filter(([, set]) => set);
}

function ofKey(owners, key) { return ownersOf(owners, (set) => set[`f:${key}`]); }

// ofItem finds an item of a list by its keys or, in a set, by its value.
function ofItem(owners, item) {
  return ownersOf(owners, (set) => {
    for (const [name, below] of Object.entries(set)) {
      const [kind, value] = [name.slice(0, 2), name.slice(2)];
      if (kind === 'v:' && value === JSON.stringify(item)) return below;
      if (kind === 'k:' && Object.entries(JSON.parse(value)).every(([k, v]) => item?.[k] === v)) return below;
    }
    return undefined;
  });
}

function write(value, indent, lines, owners) {
  const put = (text, by) => lines.push({ text, managers: [...new Set(by.map(([manager]) => manager))] });
  if (Array.isArray(value)) {
    for (const item of value) {
      const by = ofItem(owners, item);
      if (isEmpty(item)) put(`${indent}- ${scalar(item)}`, by);
      else {
        const start = lines.length;
        write(item, `${indent}  `, lines, by);
        lines[start].text = `${indent}- ${lines[start].text.slice(indent.length + 2)}`;
      }
    }
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    const name = `${indent}${scalar(key)}:`;
    const by = ofKey(owners, key);
    if (!isEmpty(item)) {
      put(name, []);
      write(item, Array.isArray(item) ? indent : `${indent}  `, lines, by);
    } else if (typeof item === 'string' && item.includes('\n')) {
      for (const text of block(name, item, indent)) put(text, by);
    } else put(`${name} ${scalar(item)}`, by);
  }
}

function block(name, text, indent) {
  if (/^\s|[\r\t]|\n\n$/.test(text)) return [`${name} ${JSON.stringify(text)}`];
  const kept = text.endsWith('\n');
  const lines = (kept ? text.slice(0, -1) : text).split('\n');
  return [`${name} ${kept ? '|' : '|-'}`, ...lines.map((line) => (line ? `${indent}  ${line}` : ''))];
}

// toLines leaves managedFields out unless they are asked for.
export function toLines(object, managed = false) {
  if (!object) return [];
  const shown = structuredClone(object);
  const owners = (shown.metadata?.managedFields ?? []).map((entry) => [entry.manager, entry.fieldsV1 ?? {}]);
  if (!managed && shown.metadata) delete shown.metadata.managedFields;
  const lines = [];
  write(shown, '', lines, owners.filter(([, set]) => Object.keys(set).length > 0));
  return lines;
}
