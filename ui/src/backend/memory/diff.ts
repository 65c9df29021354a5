/** Line diffs of invented documents, in the shape the engine gives. Small documents only. */
import type { DiffLine, DiffPart } from '../generated';

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Lengths of the longest common runs of lines, from each pair of places to the ends. */
function common(a: string[], b: string[]): number[][] {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i]![j] =
        a[i] === b[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  return table;
}

/** Both lines with the words between their common beginning and end marked. */
function marked(before: string, after: string): [DiffPart[], DiffPart[]] {
  const [a, b] = [before.split(/(\s+)/), after.split(/(\s+)/)];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const parts = (words: string[]): DiffPart[] =>
    [
      { text: words.slice(0, start).join(''), changed: false },
      { text: words.slice(start, words.length - end).join(''), changed: true },
      { text: words.slice(words.length - end).join(''), changed: false },
    ].filter((part) => part.text !== '');
  return [parts(a), parts(b)];
}

export function diff(before: string, after: string): DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const table = common(a, b);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      const text = a[i]!;
      lines.push({ change: 'same', before: (i += 1), after: (j += 1), parts: text ? [{ text, changed: false }] : [] });
      continue;
    }
    const [from, to] = [i, j];
    while (i < a.length && (j >= b.length || (a[i] !== b[j] && table[i + 1]![j]! >= table[i]![j + 1]!))) i += 1;
    while (j < b.length && (i >= a.length || (a[i] !== b[j] && table[i]![j + 1]! >= table[i + 1]![j]!))) j += 1;
    const [removed, added] = [a.slice(from, i), b.slice(to, j)];
    const pairs = Math.min(removed.length, added.length);
    const plain = (text: string): DiffPart[] => (text ? [{ text, changed: false }] : []);
    removed.forEach((text, at) => {
      const parts = at < pairs ? marked(text, added[at]!)[0] : plain(text);
      lines.push({ change: 'removed', before: from + at + 1, after: null, parts });
    });
    added.forEach((text, at) => {
      const parts = at < pairs ? marked(removed[at]!, text)[1] : plain(text);
      lines.push({ change: 'added', before: null, after: to + at + 1, parts });
    });
  }
  return lines;
}
