/** Which lines of a diff belong to which rule. */
import type { DiffLine, Rule } from '../backend';
import { text } from './diff';

/** The text of a line or a rule without what makes it an item of a list. */
function bare(line: string): string {
  return line.replace(/^\s*[-*]\s+/, '').trim();
}

/** For a line that was added or removed, the number of the rule that did it; `undefined` for others. */
export function ruleOfLine(rules: Rule[]): (line: DiffLine) => number | undefined {
  const added = new Map<string, number>();
  const removed = new Map<string, number>();
  for (const rule of rules) {
    for (const line of rule.content.split('\n')) if (bare(line)) added.set(bare(line), rule.number);
    if (rule.op !== 'add') {
      for (const line of rule.anchor.split('\n')) if (bare(line)) removed.set(bare(line), rule.number);
    }
  }
  return (line) => {
    switch (line.change) {
      case 'same':
        return undefined;
      case 'added':
        return added.get(bare(text(line)));
      case 'removed':
        return removed.get(bare(text(line)));
    }
  };
}
