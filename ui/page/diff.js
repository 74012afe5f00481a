// The shortest edit between two lists of lines, by their longest common subsequence.

// diff returns [mark, line]: mark is ' ', '-' or '+'. Lines are equal by their text.
export function diff(before, after) {
  let head = 0;
  while (head < before.length && head < after.length && before[head].text === after[head].text) head++;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before[before.length - 1 - tail].text === after[after.length - 1 - tail].text) tail++;
  const a = before.slice(head, before.length - tail);
  const b = after.slice(head, after.length - tail);
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width); // of what follows i and j
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i].text === b[j].text ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const out = before.slice(0, head).map((line) => [' ', line]);
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i].text === b[j].text) { out.push([' ', a[i++]]); j++; }
    else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) out.push(['-', a[i++]]);
    else out.push(['+', b[j++]]);
  }
  return out.concat(before.slice(before.length - tail).map((line) => [' ', line]));
}

const context = 3;

// hunks leaves out what is far from a change; null stands for what is left out.
export function hunks(lines) {
  const near = new Set();
  for (const [i, [mark]] of lines.entries()) {
    if (mark !== ' ') for (let k = i - context; k <= i + context; k++) near.add(k);
  }
  const out = [];
  for (const [i, line] of lines.entries()) {
    if (near.has(i)) out.push(line);
    else if (out[out.length - 1] !== null) out.push(null);
  }
  return out;
}
