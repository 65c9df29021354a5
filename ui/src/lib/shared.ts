/** What several texts have in common, so that each can be shown by what is its own. */

export interface Parts {
  /** Lines that all of them begin with. */
  before: string;
  /** What this one has alone. */
  own: string;
  /** Lines that all of them end with. */
  after: string;
}

/** Fewer lines than this are no reason to put them away. */
const WORTH_IT = 3;

/** Each text by its parts; one alone, or several without anything in common, are all their own. */
export function parts(texts: string[]): Parts[] {
  const lines = texts.map((text) => text.split('\n'));
  const shortest = Math.min(...lines.map((of) => of.length));
  const same = (at: (of: string[]) => string | undefined): boolean => new Set(lines.map(at)).size === 1;
  let before = 0;
  let after = 0;
  if (texts.length > 1) {
    while (before < shortest && same((of) => of[before])) before += 1;
    while (after < shortest - before && same((of) => of[of.length - 1 - after])) after += 1;
  }
  // Texts that are the same altogether have nothing of their own to be shown by.
  if (before + after >= shortest && lines.some((of) => of.length === before + after)) before = after = 0;
  if (before < WORTH_IT) before = 0;
  if (after < WORTH_IT) after = 0;
  return lines.map((of) => ({
    before: of.slice(0, before).join('\n'),
    own: of.slice(before, of.length - after).join('\n'),
    after: of.slice(of.length - after).join('\n'),
  }));
}

/** The same among those of one kind, in the order they came. */
export function partsByKind<T extends { kind: string; prompt: string }>(all: T[]): (T & { parts: Parts })[] {
  const kinds = new Map<string, Parts[]>();
  for (const kind of new Set(all.map((one) => one.kind))) {
    kinds.set(kind, parts(all.filter((one) => one.kind === kind).map(({ prompt }) => prompt)));
  }
  return all.map((one) => {
    const own = kinds.get(one.kind)?.shift();
    return { ...one, parts: own ?? { before: '', own: one.prompt, after: '' } };
  });
}
