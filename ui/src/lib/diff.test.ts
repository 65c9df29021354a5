import { describe, expect, it } from 'vitest';

import type { DiffLine } from '../backend';
import { diff } from '../backend/memory/diff';
import { changes, cut, LONGEST_LINE, rows, text, type Row } from './diff';

const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');
const kinds = (shown: Row[]): string =>
  shown.map((row) => (row.kind === 'fold' ? `[${row.lines}]` : row.kind === 'pair' ? '|' : row.line.change[0])).join('');

describe('rows of a diff', () => {
  const before = numbered(20);
  const lines = diff(before, before.replace('line 10\n', 'line ten\n'));

  it('folds what is far from a change', () => {
    // Three lines stay on both sides of the one that was replaced.
    expect(kinds(rows(lines, 'unified', new Set()))).toBe('[6]sssrasss[7]');
  });

  it('opens a fold by the place of its first line', () => {
    expect(kinds(rows(lines, 'unified', new Set([0])))).toBe('sssssssssrasss[7]');
  });

  it('puts what was replaced beside what replaced it', () => {
    const shown = rows(lines, 'split', new Set());
    expect(kinds(shown)).toBe('[6]|||||||[7]');
    const pair = shown[4];
    expect(pair?.kind === 'pair' && [pair.left && text(pair.left), pair.right && text(pair.right)]).toEqual([
      'line 10',
      'line ten',
    ]);
  });

  it('leaves a side empty where nothing was replaced', () => {
    const added = rows(diff('a\n', 'a\nb\n'), 'split', new Set());
    expect(added.map((row) => row.kind === 'pair' && [row.left && text(row.left), row.right && text(row.right)])).toEqual([
      ['a', 'a'],
      [null, 'b'],
    ]);
  });

  it('knows where changes begin', () => {
    const twice = diff('a\nb\nc\nd\ne\n', 'A\nb\nc\nd\nE\n');
    expect(changes(rows(twice, 'unified', new Set()))).toEqual([0, 5]);
    expect(changes(rows(twice, 'split', new Set()))).toEqual([0, 4]);
    expect(changes(rows(diff('a\n', 'a\n'), 'unified', new Set()))).toEqual([]);
  });
});

describe('a long line', () => {
  const line = (...parts: string[]): DiffLine => ({
    change: 'added',
    before: null,
    after: 1,
    parts: parts.map((part, at) => ({ text: part, changed: at % 2 === 1 })),
  });

  it('is cut, and what is missing is counted', () => {
    const short = cut(line('a'.repeat(1_500), 'b'.repeat(1_500), 'c'));
    expect(short.line.parts.map((part) => [part.text.length, part.changed])).toEqual([
      [1_500, false],
      [500, true],
    ]);
    expect(short.cut).toBe(3_001 - LONGEST_LINE);
  });

  it('is not cut within a character', () => {
    const short = cut(line('a'.repeat(LONGEST_LINE - 1) + '🙂🙂'));
    expect(text(short.line)).toBe('a'.repeat(LONGEST_LINE - 1));
  });

  it('of usual length stays as it is', () => {
    const usual = line('a', 'b');
    expect(cut(usual)).toEqual({ line: usual, cut: 0 });
  });
});
