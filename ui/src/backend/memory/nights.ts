/** Nights that nobody ran. */
import type { NightRow, NightShown, ProposalShown, TargetReport } from '../interface';
import { problem } from './problem';
import { ago, decision, delta, NO_SPEND, PROJECTS, SPEND, targetsOf } from './proposals';
import { ofTest, trials } from './trials';

/** The night that runs in the data `running`. */
export const RUNNING = 44;

/** Why the night of the infrastructure was put off, and why in the data `unagreed`. */
export const PUT_OFF = 'Codex allows no more for now.';
export const UNAGREED = 'claude is asked at night without anybody there, which needs your agreement.';

/** The nights of all projects, the newest first. */
export function nights(): NightRow[] {
  const night = (id: number, project: { id: string }, hours: number, outcome: NightRow['outcome'], reason: string, score: number | null, minutes = 6): NightRow => ({
    id,
    project: project.id,
    number: id,
    kind: 'run',
    state: outcome === 'waiting_for_answers' || outcome === 'deferred' ? 'stopped' : 'ended',
    outcome,
    reason,
    started_at: ago(hours + minutes / 60),
    ended_at: ago(hours),
    until: outcome === 'deferred' ? ago(-3) : null,
    score,
  });
  const shop = [0.42, 0.48, 0.48, 0.55, 0.5, 0.58, 0.58].map((score, index) =>
    night(35 - index * 2, PROJECTS.shop, 28 + index * 24, index % 3 === 1 ? 'not_improved' : 'proposed', 'No edit helped; 2 were tried and are remembered.', 1 - score),
  );
  return [
    night(43, PROJECTS.notes, 3.9, 'waiting_for_answers', '3 questions wait for an answer.', 0.67),
    night(42, PROJECTS.shop, 4, 'proposed', 'Better on 5 of 6 held-out tasks; review it.', 0.75),
    night(41, PROJECTS.infra, 28, 'deferred', PUT_OFF, 0.73),
    night(40, PROJECTS.notes, 28, 'nothing_to_do', '4 new sessions, none with a task that can be judged.', null, 1),
    ...trials(),
    ...shop,
    night(26, PROJECTS.notes, 24 * 10, 'proposed', 'Better on 2 of 3 held-out tasks; review it.', 0.5),
    night(22, PROJECTS.infra, 24 * 7, 'proposed', 'Better on 2 of 3 held-out tasks; review it.', 0.5),
  ];
}

/** A night that runs now. */
export function running(): NightRow {
  return {
    id: RUNNING,
    project: PROJECTS.shop.id,
    number: RUNNING,
    kind: 'run',
    state: 'running',
    outcome: null,
    reason: '',
    started_at: ago(0.08),
    ended_at: null,
    until: null,
    score: null,
  };
}

/** All of one night. */
export function shownNight(row: NightRow, proposals: ProposalShown[], events: boolean, agreed = true): NightShown {
  if (row.kind === 'revalidation') return trial(row, proposals);
  const ended = row.state === 'ended';
  const made = ended ? proposals.find((shown) => shown.night === row.id) : undefined;
  const paid = row.outcome !== 'nothing_to_do';
  const stages: [string, number][] = paid ? [['mine/ask', 6], ['claude/baseline', 12], ['claude/train', 24], ['claude/reflect/skill', 1], ['claude/trial/skill', 12], ['claude/test', 18]] : [];
  // One that waits has come to its second stage, one that runs to its fifth.
  const at = ended ? stages.length : row.state === 'running' ? 4 : 1;
  if (!ended) stages.length = at + 1;
  const calls = (position: number, all: number): Record<string, number> => {
    if (position === at) return row.state === 'running' ? { fresh: all - 5, planned: 5 } : { fresh: all - 3, waiting: 3 };
    return position === 0 ? { fresh: all - 2, reused: 2 } : position === 2 ? { fresh: all - 1, failed: 1 } : { fresh: all };
  };
  const start = new Date(row.started_at).getTime();
  return {
    ...row,
    report: row.state === 'running' ? null : {
      night_id: row.id,
      problem:
        row.outcome === 'deferred' && !agreed
          ? problem('terms_not_accepted', UNAGREED, 'Agree once with `skillopt backend accept claude`.')
          : null,
      reason: row.reason,
      outcome: row.outcome ?? 'failed',
      n_sessions: paid ? 6 : 4,
      n_tasks: paid ? 18 : 0,
      slices: paid ? [8, 6, 4] : [0, 0, 0],
      skipped: [
        { agent: 'claude', reason: 'before_since', unit: 'session', sentence: 'Older than 72 hours.', count: 31 },
        { agent: 'claude', reason: 'bookkeeping', unit: 'record', sentence: "Bookkeeping of the agent's program.", count: 9120 },
        { agent: 'claude', reason: 'own_call', unit: 'session', sentence: 'Made by a night itself.', count: 12 },
      ],
      not_replayable: { 'needs files': 23, 'needs tools': 11, 'no criterion': 9 },
      models: { target: 'claude-haiku-4-5', optimizer: 'claude-sonnet-4-5', judge: 'claude-sonnet-4-5' },
      forecast: { mining_calls: 6, gate_calls: 24, calls: 80, tokens_low: 90_000, tokens_high: 210_000, cost_micros_high: 520_000 },
      targets: made ? targetsOf(made) : row.outcome === 'not_improved' ? [inVain(proposals)] : [],
      suggestions: [{ words: 'Always answer with a table when there are more than three numbers.', times: 2, turns: [] }],
      missing: [],
      notes: ['In the stage claude/train 2 prompts were cut by 3120 bytes together, to fit the model.'],
      proposal: made?.id ?? null,
    },
    stages: stages.map(([name, all], position) => ({
      name,
      position,
      state: position < at ? 'done' : 'planned',
      output: null,
      planned_at: new Date(start + position * 52_000).toISOString(),
      // A stage of questions has no end of its own.
      done_at: null,
      calls: calls(position, all),
      done: position < at,
      spend: { ...SPEND, calls: all, tokens: all * 2_460, cost_micros: all * 5_570 },
    })),
    // The project of the release notes is answered by a plan that counts requests.
    spend: paid ? { ...SPEND, request_thousandths: row.project === PROJECTS.notes.id ? 2_000 : 0 } : NO_SPEND,
    evidence: (made ?? (row.outcome === 'not_improved' ? proposals[0] : undefined))?.documents.map(({ target, requests, replies }) => ({ target, requests, replies })) ?? [],
    events: events
      ? [...stages.keys()].map((seq) => ({ seq: seq + 1, at: row.started_at, kind: seq % 2 ? 'gate/trial' : 'models/answered_by', body: { asked: 'haiku', answered_by: 'claude-haiku-4-5', cut: null } }))
      : [],
  };
}

/** A test of chosen rules. */
function trial(row: NightRow, proposals: ProposalShown[]): NightShown {
  const { decisions, evidence } = ofTest(proposals);
  const ended = row.outcome !== null && row.outcome !== 'interrupted';
  const calls: Record<string, number> = ended ? { fresh: 12 } : { fresh: 7, planned: 5 };
  const spend = { ...SPEND, calls: 12, tokens: 29_520, cost_micros: 66_840 };
  const stage = { name: 'claude/chosen', position: 0, output: null, planned_at: row.started_at, done_at: null };
  return {
    ...row,
    report: ended ? { decisions } : null,
    stages: [{ ...stage, state: ended ? 'done' : 'planned', calls, done: ended, spend }],
    evidence: ended ? evidence : [],
    spend,
    events: [],
  };
}

/** Edits that no task was better with. */
function inVain(proposals: ProposalShown[]): TargetReport {
  const [target] = targetsOf(proposals[0]!);
  const rules = target!.applied;
  const deltas = target!.decision!.deltas.map((row) => delta(row.task, row.before, row.before));
  return {
    ...target!,
    decision: decision(deltas),
    applied: [],
    rejected: rules.slice(0, 2),
    unmatched: rules.slice(2).map((edit) => [edit, 'duplicate']),
  };
}
