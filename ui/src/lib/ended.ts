/** What a night is said to have come to. */
import type { NightRow, NightShown, StageRow, TargetReport } from '../backend';
import type { Strings } from './strings/en';
import { verdict } from './verdict';

/** How many of its questions wait for an answer. */
export function openQuestions(night: Pick<NightShown, 'stages'>): number {
  return night.stages.reduce((sum, stage) => sum + (stage.calls['waiting'] ?? 0), 0);
}

/** What a night is called: by its number, or by what else it was. */
export function nameOfNight(night: Pick<NightRow, 'id' | 'kind' | 'number'>, t: Strings): string {
  return night.kind === 'run' ? t.night.number(night.number, night.id) : t.trial.number(t.trial.kind[night.kind], night.id);
}

/** How it ended, in a word or two. */
export function outcomeOf({ kind, outcome }: Pick<NightRow, 'kind' | 'outcome'>, t: Strings): string {
  const ofTest = kind === 'revalidation' && outcome !== null ? t.trial.outcome[outcome] : undefined;
  return ofTest ?? t.outcome[outcome ?? 'running'];
}

/** How a night ended, in a sentence: ours where there is one, else the engine's. */
export function endedInWords(night: NightShown, t: Strings): string {
  const outcome = night.outcome;
  if (outcome === null) return night.reason || t.outcome.running;
  if (outcome === 'waiting_for_answers' && openQuestions(night) > 0) return t.night.questions(openQuestions(night));
  const decisions = night.report?.decisions;
  if (decisions) return decisions.every(([, decision]) => decision.accepted) ? t.trial.better : t.trial.notBetter;
  const problem = night.report?.problem;
  if (problem && t.problem[problem.code]) return t.problem[problem.code]!;
  const tried = (night.report?.targets ?? []).reduce((sum, target) => sum + target.rejected.length, 0);
  return t.night.endedAs[outcome]?.(tried) ?? (night.reason || t.outcome[outcome]);
}

/** The verdict on one document, also where nothing was compared. */
export function verdictOf(target: TargetReport, words: Strings['verdict']): string {
  if (target.unreadable) return words.unreadable;
  if (target.decision === null && target.applied.length + target.rejected.length === 0) {
    return target.unmatched.length > 0 ? words.notApplied : words.nothingFailed;
  }
  return verdict(target.decision, words).sentence;
}

/**
 * When a stage of questions was over: it has no end of its own, and what comes after it begins at once. Nothing
 * while something of it is left to do.
 */
export function overAt(stage: StageRow, night: Pick<NightShown, 'stages' | 'ended_at'>): string | null {
  if (stage.done_at !== null) return stage.done_at;
  if (!stage.done) return null;
  const next = night.stages
    .filter(({ position }) => position > stage.position)
    .toSorted((a, b) => a.position - b.position)[0];
  return next?.planned_at ?? night.ended_at;
}
