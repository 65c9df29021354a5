/** A verdict in plain words, from its numbers. */
import type { Decision } from '../backend';
import type { Strings } from './strings/en';

export interface VerdictWords {
  sentence: string;
  tone: 'good' | 'unsure' | 'bad';
}

export function verdict(decision: Decision | null, words: Strings['verdict']): VerdictWords {
  if (!decision) return { sentence: words.untested, tone: 'unsure' };
  if (decision.action === 'greedy_applied' || decision.action === 'greedy_noop') {
    return { sentence: words.gateOff, tone: 'unsure' };
  }
  const tasks = decision.wins + decision.losses + decision.ties + decision.unscored;
  switch (decision.verdict.kind) {
    case 'better':
      return { sentence: words.better(decision.wins, tasks, decision.losses), tone: 'good' };
    case 'tie':
      return { sentence: words.tie(tasks), tone: 'bad' };
    case 'worse':
      return { sentence: words.worse(decision.losses, tasks), tone: 'bad' };
    case 'indeterminate':
      return { sentence: words.unknown, tone: 'unsure' };
  }
}
