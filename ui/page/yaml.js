// An object as YAML lines, keys in the API's order.

const plain = /^[A-Za-z_./][A-Za-z0-9_./ ()%@=+-]*$/;
const reserved = /^(true|false|null|yes|no|on|off|y|n|~|\.inf|\.nan)$/i;

function scalar(value) {
  if (typeof value !== 'string') return JSON.stringify(value);
  return plain.test(value) && !reserved.test(value) && !value.endsWith(' ') ? value : JSON.stringify(value);
}

function isEmpty(value) {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

function write(value, indent, lines) {
  if (Array.isArray(value)) {
    for (const item of value) {
      if (isEmpty(item)) lines.push(`${indent}- ${scalar(item)}`);
      else {
        const start = lines.length;
        write(item, `${indent}  `, lines);
        lines[start] = `${indent}- ${lines[start].slice(indent.length + 2)}`;
      }
    }
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    const name = `${indent}${scalar(key)}:`;
    if (isEmpty(item)) {
      if (typeof item === 'string' && item.includes('\n')) block(name, item, indent, lines);
      else lines.push(`${name} ${scalar(item)}`);
    } else {
      lines.push(name);
      write(item, Array.isArray(item) ? indent : `${indent}  `, lines);
    }
  }
}

function block(name, text, indent, lines) {
  if (/^\s|[\r\t]|\n\n$/.test(text)) {
    lines.push(`${name} ${JSON.stringify(text)}`);
    return;
  }
  const kept = text.endsWith('\n');
  lines.push(`${name} ${kept ? '|' : '|-'}`);
  for (const line of (kept ? text.slice(0, -1) : text).split('\n')) lines.push(line ? `${indent}  ${line}` : '');
}

// toLines leaves managedFields out unless they are asked for.
export function toLines(object, managed = false) {
  if (!object) return [];
  const shown = structuredClone(object);
  if (!managed && shown.metadata) delete shown.metadata.managedFields;
  const lines = [];
  write(shown, '', lines);
  return lines;
}
