/** Invented tests of chosen rules and dry runs. */
import type { NightRow, NightShown, ProposalShown, TestedBackend } from '../generated';
import { ago, decision, delta, PROJECTS } from './proposals';

/** The test that runs in the data `testing` and `tested-elsewhere`. */
export const UNDERWAY = 45;

const row = (id: number, kind: NightRow['kind'], hours: number, outcome: NightRow['outcome']): NightRow => ({
  id,
  project: PROJECTS.shop.id,
  number: null,
  kind,
  state: outcome === null ? 'running' : 'ended',
  outcome,
  reason: '',
  started_at: ago(hours + 0.05),
  ended_at: outcome === null ? null : ago(hours),
  until: null,
  score: null,
});

/** A test that no rule was better in, and a dry run. */
export const trials = (): NightRow[] => [row(38, 'revalidation', 27, 'not_improved'), row(37, 'dry_run', 27.5, 'nothing_to_do')];

export const underway = (): NightRow => row(UNDERWAY, 'revalidation', 0, null);

/** What a test of chosen rules came to, and what that rests on. */
export function ofTest(proposals: ProposalShown[]): Pick<NightShown, 'evidence'> & { decisions: NonNullable<NonNullable<NightShown['report']>['decisions']> } {
  const made = proposals[0]?.documents[0];
  const deltas = (made?.decision?.deltas ?? []).map((one) => delta(one.task, one.before, one.before));
  return {
    decisions: [['claude', decision(deltas)]],
    evidence: made ? [{ target: 'claude', requests: made.requests, replies: made.replies }] : [],
  };
}

/** One model of a backend that was asked a tiny question. */
export function answered(asked_model: string, sides: string[], more: Partial<TestedBackend>): TestedBackend {
  return {
    backend: '',
    sides,
    asked_model,
    address: '',
    trial: { reply: 'ready', model: asked_model, took_ms: 1_840, free: false, cost_micros: 210, input_tokens: 31, cached_tokens: 0, output_tokens: 1, request_thousandths: 0 },
    problem: null,
    ...more,
  };
}
