/** Stages of a night in plain words, as the command line says them. */
import { AGENTS, type Agent, type StageRow } from '../backend';
import type { Strings } from './strings/en';

/** What a stage does, for a person. Its name in the store is for example `claude/baseline/judge`. */
export function stageInWords(name: string, words: Strings['stage']): string {
  const agent = (Object.keys(AGENTS) as Agent[]).find((one) => name.startsWith(`${one}/`));
  const rest = agent === undefined ? name : name.slice(agent.length + 1);
  const pass = rest.replace(/\/judge$/, '');
  const does = words.does[pass] ?? pass.replace(/[/_]/g, ' ');
  const said = pass === rest ? does : words.grading(does);
  return agent === undefined ? said : words.of(said, AGENTS[agent]);
}

/** How many calls of a stage are behind it, however they came out. */
export const doneOf = (calls: StageRow['calls']): number =>
  (calls['fresh'] ?? 0) + (calls['reused'] ?? 0) + (calls['failed'] ?? 0);

/** How many calls it has, those that are left to do included. */
export const plannedOf = (calls: StageRow['calls']): number => Object.values(calls).reduce((sum: number, some) => sum + (some ?? 0), 0);
