/** A diff as rows to draw: stretches without changes folded, long lines cut, two columns or one. */
import type { DiffLine, DiffPart } from '../backend';

/** Unchanged lines shown around a change. */
const CONTEXT = 3;
/** Characters of one line that are drawn; a line of megabytes must not stop the window. */
export const LONGEST_LINE = 2_000;

export type Row =
  | { kind: 'line'; line: DiffLine; cut: number }
  | { kind: 'pair'; left: DiffLine | null; right: DiffLine | null; cut: number }
  | { kind: 'fold'; id: number; lines: number };

/** At most so many characters of a text, and never half of a surrogate pair. */
export function beginning(text: string, room: number): string {
  let end = Math.min(room, text.length);
  const last = text.charCodeAt(end - 1);
  if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
  return text.slice(0, end);
}

/** A line with at most {@link LONGEST_LINE} characters, and how many were left out. */
export function cut(line: DiffLine): { line: DiffLine; cut: number } {
  const length = line.parts.reduce((sum, part) => sum + part.text.length, 0);
  if (length <= LONGEST_LINE) return { line, cut: 0 };
  let room = LONGEST_LINE;
  const parts: DiffPart[] = [];
  for (const part of line.parts) {
    if (room <= 0) break;
    parts.push({ ...part, text: beginning(part.text, room) });
    room -= part.text.length;
  }
  return { line: { ...line, parts }, cut: length - LONGEST_LINE };
}

/** Rows of a diff. `open` holds the folds that were opened, by the index of their first line. */
export function rows(lines: DiffLine[], layout: 'unified' | 'split', open: Set<number>): Row[] {
  const shown: Row[] = [];
  const near = nearChanges(lines);
  let index = 0;
  while (index < lines.length) {
    const line = lines[index]!;
    if (!near[index]) {
      let end = index;
      while (end < lines.length && !near[end]) end += 1;
      if (open.has(index)) {
        for (; index < end; index += 1) shown.push(same(lines[index]!, layout));
      } else {
        shown.push({ kind: 'fold', id: index, lines: end - index });
        index = end;
      }
    } else if (line.change === 'same') {
      shown.push(same(line, layout));
      index += 1;
    } else {
      let end = index;
      while (end < lines.length && lines[end]!.change !== 'same') end += 1;
      shown.push(...changed(lines.slice(index, end), layout));
      index = end;
    }
  }
  return shown;
}

/** Per line, whether it changed or stands within {@link CONTEXT} lines of a change. */
function nearChanges(lines: DiffLine[]): boolean[] {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, index) => {
    if (line.change === 'same') return;
    const end = Math.min(lines.length - 1, index + CONTEXT);
    for (let at = Math.max(0, index - CONTEXT); at <= end; at += 1) near[at] = true;
  });
  return near;
}

function same(line: DiffLine, layout: 'unified' | 'split'): Row {
  const short = cut(line);
  if (layout === 'unified') return { kind: 'line', ...short };
  return { kind: 'pair', left: short.line, right: short.line, cut: short.cut };
}

function changed(block: DiffLine[], layout: 'unified' | 'split'): Row[] {
  if (layout === 'unified') return block.map((line) => ({ kind: 'line', ...cut(line) }));
  const removed = block.filter((line) => line.change === 'removed').map(cut);
  const added = block.filter((line) => line.change === 'added').map(cut);
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => {
    const left = removed[index];
    const right = added[index];
    return {
      kind: 'pair',
      left: left?.line ?? null,
      right: right?.line ?? null,
      cut: Math.max(left?.cut ?? 0, right?.cut ?? 0),
    };
  });
}

/** The text of a line. */
export function text(line: DiffLine): string {
  return line.parts.map((part) => part.text).join('');
}

/** Where each stretch of changes begins, as indexes of rows. */
export function changes(shown: Row[]): number[] {
  const isChange = (row: Row | undefined): boolean =>
    row?.kind === 'line'
      ? row.line.change !== 'same'
      : row?.kind === 'pair' && row.left?.change !== 'same';
  const starts: number[] = [];
  shown.forEach((row, index) => {
    if (isChange(row) && !isChange(shown[index - 1])) starts.push(index);
  });
  return starts;
}
