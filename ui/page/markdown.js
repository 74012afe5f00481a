// The Markdown of lessons as elements: headings, paragraphs, lists, tables, code.

import { el } from './dom.js';

const inlineMark = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\([^)]*\)/g;

// inline returns the text with its code and emphasis. A link is only its words,
// since it leads to files beside the text.
function inline(text) {
  const parts = [];
  let end = 0;
  for (const m of text.matchAll(inlineMark)) {
    parts.push(text.slice(end, m.index));
    if (m[1] !== undefined) parts.push(el('code', {}, m[1]));
    else if (m[2] !== undefined) parts.push(el('strong', {}, inline(m[2])));
    else if (m[3] !== undefined) parts.push(el('em', {}, inline(m[3])));
    else parts.push(m[4]);
    end = m.index + m[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

const item = /^(?:[-*]|\d+\.) /;

// markdown returns the elements of a text.
export function markdown(text) {
  return text.split(/(```[^\n]*\n[\s\S]*?```)/).flatMap((part) => {
    const fence = /^```[^\n]*\n([\s\S]*?)```$/.exec(part);
    if (fence) return el('pre', {}, fence[1]);
    return part.split(/\n\s*\n/).filter((block) => block.trim()).map((block) => element(block.trim().split('\n')));
  });
}

function element(lines) {
  if (lines[0].startsWith('|')) return table(lines);
  if (item.test(lines[0])) {
    const items = [];
    for (const line of lines) {
      if (item.test(line)) items.push(line.replace(item, ''));
      else items[items.length - 1] += ` ${line.trim()}`;
    }
    return el(/^\d/.test(lines[0]) ? 'ol' : 'ul', {}, items.map((text) => el('li', {}, inline(text))));
  }
  return el('p', {}, inline(joined(lines)));
}

// joined makes one line: with a space, but none between two Chinese characters.
function joined(lines) {
  return lines.map((line) => line.trim()).reduce((text, line) => (/[\u3000-\u9fff\uff00-\uffef]$/.test(text) && /^[\u3000-\u9fff\uff00-\uffef]/.test(line) ? text + line : `${text} ${line}`));
}

function table(lines) {
  const [head, ...rows] = lines.filter((line) => !/^\|[\s|:-]+\|$/.test(line)).map((line) => line.replace(/^\||\|$/g, '').split('|'));
  return el('table', {}, el('thead', {}, el('tr', {}, head.map((cell) => el('th', { scope: 'col' }, inline(cell.trim()))))),
    el('tbody', {}, rows.map((row) => el('tr', {}, row.map((cell) => el('td', {}, inline(cell.trim())))))));
}
