/** Invented proposals with their evidence. */
import type { Decision, Delta, DiffPart, NightReport, ProposalShown, Rule, ShownDocument, Spend } from '../generated';
import { diff } from './diff';

const HOUR = 3_600_000;
export const ago = (hours: number): string => new Date(Date.now() - hours * HOUR).toISOString();

export const PROJECTS = {
  shop: { id: 'p-7f3a91c2', name: 'webshop', root: '/home/ana/code/webshop', first_seen: ago(24 * 40) },
  notes: { id: 'p-1b88e0d4', name: 'release-notes', root: '/home/ana/code/release-notes', first_seen: ago(24 * 21) },
  infra: { id: 'p-c40d72aa', name: 'infra', root: '/home/ana/work/infra', first_seen: ago(24 * 9) },
};

export const SPEND: Spend = { calls: 74, tokens: 182_340, cached_tokens: 61_200, cost_micros: 412_600, unknown: 0, open: 0, request_thousandths: 0 };
export const NO_SPEND: Spend = { calls: 0, tokens: 0, cached_tokens: 0, cost_micros: 0, unknown: 0, open: 0, request_thousandths: 0 };

export function delta(task: string, before: number | null, after: number | null): Delta {
  const status = before === null || after === null || after < before ? 'regressed' : after > before ? 'improved' : 'unchanged';
  return { task, tags: [], before, after, status };
}

export function decision(deltas: Delta[]): Decision {
  const mean = (side: 'before' | 'after'): number =>
    deltas.reduce((sum, row) => sum + (row[side] ?? 0), 0) / Math.max(1, deltas.length);
  const [before, after] = [mean('before'), mean('after')];
  const better = after > before;
  return {
    accepted: better,
    action: better ? 'accept_new_best' : 'reject',
    verdict: { kind: better ? 'better' : after === before ? 'tie' : 'worse' },
    before,
    after,
    wins: deltas.filter((row) => row.status === 'improved').length,
    losses: deltas.filter((row) => row.status === 'regressed').length,
    ties: deltas.filter((row) => row.status === 'unchanged').length,
    unscored: 0,
    blocked_by_regression: false,
    leaked: false,
    deltas,
  };
}

export function rule(number: number, content: string, rationale: string, quotes: string[], more: Partial<Rule> = {}): Rule {
  return {
    number,
    rejected: false,
    quotes,
    adopted: false,
    op: 'add',
    content,
    anchor: '',
    rationale,
    tasks: [`task-${number}`],
    turns: quotes.map((_, index) => ({ session: `5d2f81aa-0${number}`, turn: `msg-${number}${index + 1}` })),
    ...more,
  };
}

type Made = Pick<ShownDocument, 'path' | 'text_before' | 'text_after' | 'rules'> & Partial<ShownDocument>;

export function document(made: Made, deltas: Delta[], requests: Record<string, string>): ShownDocument {
  const verdict = decision(deltas);
  return {
    target: 'claude:skill',
    agent: 'claude',
    kind: 'skill',
    state: 'pending',
    reason: '',
    sentence: `Better on ${verdict.wins} of ${deltas.length} held-out tasks, worse on none.`,
    before: verdict.before,
    after: verdict.after,
    decision: verdict,
    requests,
    replies: {},
    flags: [],
    warnings: [],
    unchanged: true,
    under_version_control: made.kind === 'memory',
    diff: diff(made.text_before, made.text_after),
    ...made,
  };
}

export function proposal(
  id: string,
  night: number,
  project: { id: string; root: string },
  hours: number,
  documents: ShownDocument[],
  more: Partial<ProposalShown> = {},
): ProposalShown {
  return {
    id,
    night,
    project: project.id,
    state: 'pending',
    created_at: ago(hours),
    dir: `/home/ana/.local/share/skillopt/staging/${id}`,
    nonce: '9e0c',
    roots: [project.root, '/home/ana/.claude'],
    viewed_at: null,
    decided_at: null,
    reason: '',
    documents,
    simulated: false,
    instead: false,
    ...more,
  };
}

const SKILL_BEFORE = `---
name: deploy-skill
description: Deploys the shop to staging and production. Use it when a release is asked for.
---

# Deploying the shop

Ask which environment is meant when the request does not say.

## Steps

1. Run the checks of the package that changed.
2. Build the image and note its digest.
3. Deploy to staging, then wait for the health page.

<!-- skillopt:learned -->
- Answer with the digest of the image, not with its tag.
- Say how long the deployment took in minutes.
<!-- /skillopt:learned -->

## What never to do

Never deploy on a Friday afternoon without asking.
Never touch the database by hand.
`;
const SKILL_AFTER = SKILL_BEFORE.replace(
  '- Say how long the deployment took in minutes.\n',
  `- Say how long the deployment took in minutes and seconds.
- Name the migration that would run before deploying, and stop when it drops a column.
- End with the command that rolls this very release back.
`,
);

const NOTES_BEFORE = `# CLAUDE.md

This repository makes the release notes of the shop.

## Style

- British spelling.
- Short sentences; no marketing.
`;
const NOTES_AFTER = `${NOTES_BEFORE}
<!-- skillopt:learned -->
- Group the entries as Added, Changed and Fixed, in this order.
- Link every entry to its pull request.
<!-- /skillopt:learned -->
`;

const DEPLOY_REQUESTS: Record<string, string> = {
  't-a1': 'Deploy the checkout package to staging and tell me when it is healthy.',
  't-a2': 'Roll out version 4.12 of the catalogue to production. What will the migration do?',
  't-a3': 'Release the search service; it changed only its configuration.',
  't-a4': 'Write the deployment report for yesterday evening.',
  't-a5': 'Deploy the payment package. There is a migration that drops the column legacy_token.',
  't-a6': 'Which release is live on staging now?',
};

export function usual(): ProposalShown[] {
  const deploy = document(
    {
      path: '/home/ana/code/webshop/.claude/skills/deploy-skill/SKILL.md',
      text_before: SKILL_BEFORE,
      text_after: SKILL_AFTER,
      rules: [
        rule(
          1,
          'Say how long the deployment took in minutes and seconds.',
          'Two replies rounded to whole minutes although seconds were asked for.',
          ['No, with seconds please: three minutes is not three minutes fifty.'],
          { op: 'replace', anchor: 'Say how long the deployment took in minutes.' },
        ),
        rule(
          2,
          'Name the migration that would run before deploying, and stop when it drops a column.',
          'In four of six training tasks the migration was only named after the deployment.',
          ['You have to tell me about the migration before you deploy, not afterwards.', 'Stop when a column would be dropped. Always.'],
        ),
        rule(3, 'End with the command that rolls this very release back.', 'The user asked for it after every deployment.', [
          'And how do I roll this back?',
        ]),
      ],
      replies: {
        't-a1': {
          before: { text: 'Deployed checkout to staging. It is healthy.\nDigest: sha256:71c0…e2', why: 'Missing: the duration; the command that rolls back.' },
          after: {
            text: 'No migration would run.\n\nDeployed checkout to staging in 2 min 41 s; the health page is green.\nDigest: sha256:71c0…e2\n\nTo roll back: `shop deploy checkout --env staging --digest sha256:0b9d…17`',
            why: 'Every check holds.',
          },
        },
        't-a5': {
          before: { text: 'Deployed payment to staging in 3 minutes. The migration 0042 ran.', why: 'It did not stop before a column was dropped.' },
          after: {
            text: 'I stopped: migration 0042 drops the column legacy_token. Shall I go on?',
            why: 'Every check holds.',
          },
        },
        't-a6': {
          before: { text: 'Release 4.11.3 is live on staging (sha256:0b9d…17).', why: 'Every check holds.' },
          after: { text: 'Release 4.11.3 is live on staging (sha256:0b9d…17).', why: 'Every check holds.' },
        },
      },
    },
    [delta('t-a1', 0.33, 1), delta('t-a2', 0.5, 0.75), delta('t-a3', 0.33, 0.67), delta('t-a4', 0.25, 0.58), delta('t-a5', 0.11, 0.5), delta('t-a6', 1, 1)],
    DEPLOY_REQUESTS,
  );
  const notes = document(
    {
      target: 'claude:memory',
      kind: 'memory',
      path: '/home/ana/code/release-notes/CLAUDE.md',
      text_before: NOTES_BEFORE,
      text_after: NOTES_AFTER,
      rules: [
        rule(1, 'Group the entries as Added, Changed and Fixed, in this order.', 'The order was corrected in three sessions.', ['Added first, then changed, then fixed.']),
        rule(2, 'Link every entry to its pull request.', 'Asked for in two sessions.', []),
      ],
    },
    [delta('t-b1', 0.5, 0.67), delta('t-b2', 0.5, 0.5), delta('t-b3', 0.5, 0.84)],
    {
      't-b1': 'Write the notes of release 4.12 from these pull requests.',
      't-b2': 'Shorten the notes of 4.11 to five lines.',
      't-b3': 'What changed for shop owners since 4.10?',
    },
  );
  const flagged = document(
    {
      agent: 'codex',
      target: 'codex:memory',
      kind: 'memory',
      path: '/home/ana/work/infra/AGENTS.md',
      text_before: '# AGENTS.md\n\nTerraform for everything; no clicking.\n',
      text_after:
        '# AGENTS.md\n\nTerraform for everything; no clicking.\n\n<!-- skillopt:learned -->\n- Run `terraform plan -out=plan.bin` first and show its summary.\n- Look up module versions at https://registry.terraform.example/modules.\n<!-- /skillopt:learned -->\n',
      rules: [
        rule(1, 'Run `terraform plan -out=plan.bin` first and show its summary.', 'Asked for in every session.', ['Plan first. Show me the summary.']),
        rule(2, 'Look up module versions at https://registry.terraform.example/modules.', 'The user named the address twice.', ['Versions are on our registry.']),
      ],
      flags: [
        { kind: 'command', line: 1, excerpt: 'terraform plan -out=plan.bin', sentence: 'It names a command to be run.' },
        { kind: 'url', line: 2, excerpt: 'https://registry.terraform.example/modules', sentence: 'It names an address.' },
      ],
    },
    [delta('t-c1', 0.4, 0.8), delta('t-c2', 0.6, 0.9), delta('t-c3', 0.5, 0.5)],
    { 't-c1': 'Add a bucket for the build cache.', 't-c2': 'Upgrade the network module.', 't-c3': 'Explain why the plan wants to replace the database.' },
  );
  const old = document(
    {
      path: '/home/ana/code/webshop/.claude/skills/review-skill/SKILL.md',
      text_before: '# Reviewing\n\nRead the whole change first.\n',
      text_after: '# Reviewing\n\nRead the whole change first.\n- Name the file and the line of every finding.\n',
      rules: [rule(1, 'Name the file and the line of every finding.', 'Corrected twice.', ['Which line?'], { adopted: true })],
      state: 'adopted',
    },
    [delta('t-d1', 0.3, 0.9), delta('t-d2', 0.6, 0.8), delta('t-d3', 0.5, 0.7)],
    { 't-d1': 'Review this change.', 't-d2': 'Review the change of the cart.', 't-d3': 'Is this safe to merge?' },
  );
  return [
    proposal('20261129-031702', 42, PROJECTS.shop, 4.2, [deploy]),
    proposal('20261129-032544', 43, PROJECTS.notes, 4, [notes], { viewed_at: ago(1) }),
    proposal('20261128-031655', 39, PROJECTS.infra, 28, [flagged]),
    proposal('20261121-031801', 30, PROJECTS.shop, 24 * 8, [old], { state: 'adopted', viewed_at: ago(24 * 8), decided_at: ago(24 * 7.9) }),
    proposal('20261119-031640', 27, PROJECTS.notes, 24 * 10, [{ ...notes, state: 'rejected', reason: 'We link issues, not pull requests.' }], {
      state: 'rejected',
      viewed_at: ago(24 * 10),
      decided_at: ago(24 * 9.9),
      reason: 'We link issues, not pull requests.',
    }),
  ];
}

/** One proposal for a skill and a memory file. */
export function twoDocuments(): ProposalShown[] {
  const documents = usual().slice(0, 2).flatMap((shown) => shown.documents);
  documents.flatMap((made) => made.rules).forEach((rule, index) => (rule.number = index + 1));
  return [proposal('20261130-030114', 42, PROJECTS.shop, 4, documents)];
}

/** One proposal whose file somebody has changed since. */
export function stale(): ProposalShown[] {
  const [shown] = usual();
  for (const made of shown!.documents) made.unchanged = false;
  return [shown!];
}

/** The text of a line of {@link many} with other words for the stranger, and a mark on them. */
function marked(text: string, who: string): DiffPart[] {
  const [start = '', end = ''] = text.split('a stranger');
  return [start, who, end].map((part, index) => ({ text: part, changed: index === 1 }));
}

/** Five hundred proposals, the first of them with a diff of five thousand lines. */
export function many(): ProposalShown[] {
  const [first] = usual();
  if (!first?.documents[0]) return [];
  const before = Array.from({ length: 5_000 }, (_, index) => `- Rule ${index + 1}: say what was done, and why it was done, in one sentence that a stranger understands.`);
  const long: ShownDocument = {
    ...first.documents[0],
    path: '/home/ana/code/webshop/.claude/skills/long-skill/SKILL.md',
    text_before: before.join('\n'),
    text_after: before.join('\n'),
    diff: before.flatMap((text, index): ShownDocument['diff'] => {
      const number = index + 1;
      if (number % 2 === 0) return [{ change: 'same', before: number, after: number, parts: [{ text, changed: false }] }];
      return [
        { change: 'removed', before: number, after: null, parts: marked(text, 'a stranger') },
        { change: 'added', before: null, after: number, parts: marked(text, 'somebody who was not there') },
      ];
    }).slice(0, 5_000),
  };
  return Array.from({ length: 500 }, (_, index) => ({
    ...first,
    id: index === 0 ? 'long' : `many-${String(index).padStart(3, '0')}`,
    created_at: ago(4 + index * 12),
    documents: index === 0 ? [long] : first.documents,
  }));
}

/** Texts somebody wrote to do harm: markup, control characters, a line of two megabytes. */
export function hostile(): ProposalShown[] {
  const nasty = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</' + 'script><b>bold</b>';
  const controls = 'a\u0000b\u001b[31mred\u001b[0m\u202eesrever\u202c';
  const long = 'word '.repeat(420_000);
  const made = document(
    {
      path: `/home/ana/${nasty}/SKILL.md`,
      text_before: '',
      text_after: `- ${nasty}\n- ${controls}\n- ${long}\n`,
      rules: [rule(1, nasty, nasty, [nasty]), rule(2, controls, '', [controls]), rule(3, long, long, [long])],
      diff: [nasty, controls, long].map((text, index) => ({ change: 'added', before: null, after: index + 1, parts: [{ text: `- ${text}`, changed: false }] })),
      replies: { 't-1': { before: { text: nasty, why: nasty }, after: { text: long, why: '' } } },
      warnings: [nasty],
    },
    [delta('t-1', 0, 1), delta('t-2', 0, 1), delta('t-3', 0, 1)],
    { 't-1': nasty },
  );
  return [proposal('hostile', 42, PROJECTS.shop, 3, [made])];
}

/** What a night says of a proposal's documents. */
export function targetsOf(shown: ProposalShown): NightReport['targets'] {
  return shown.documents.map((made) => ({
    id: made.target,
    agent: made.agent,
    kind: made.kind,
    path: made.path,
    n_validation: made.decision?.deltas.length ?? 0,
    sentence: made.sentence,
    decision: made.decision,
    applied: made.rules,
    rejected: [],
    unmatched: [],
    unreadable: false,
    flags: made.flags,
    not_staged: null,
  }));
}
