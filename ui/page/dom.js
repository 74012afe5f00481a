// Elements are only made here. Data gets in as text and attributes, never as markup.

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

// replace exchanges what is in an element, and keeps the focus on what has the
// same data-key as before.
export function replace(parent, ...children) {
  const active = document.activeElement;
  const key = active && parent.contains(active) ? active.getAttribute('data-key') : null;
  parent.replaceChildren(...children.flat().filter(Boolean));
  if (key !== null) parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

// throttled calls f at most once in so many milliseconds, the last time always.
export function throttled(ms, f) {
  let timer = 0;
  return () => {
    if (!timer) timer = setTimeout(() => { timer = 0; f(); }, ms);
  };
}

export function problem(text) {
  const bar = document.getElementById('problem');
  bar.textContent = text ?? '';
  bar.hidden = !text;
}
