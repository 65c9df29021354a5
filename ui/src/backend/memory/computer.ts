/** An invented computer: its agents and their sessions, and what is kept on it. */
import type { Diagnosis, Discovered, Preview, PurgePlan, Status } from '../interface';
import { ago, PROJECTS } from './proposals';

/** What is said of an agent whose format has changed. */
const DRIFTED: NonNullable<Preview['sources'][0]['warning']> = {
  sessions: 3,
  message: 'In the newest 3 sessions of Codex no word of a person was found; its format has probably changed. It has records that are not known: response_item/whisper (0.199.0).',
  guidance: 'Look for a newer SkillOpt; until then its new sessions are not learned from.',
};

export const SOURCES: Preview['sources'] = [
  {
    agent: 'claude',
    title: 'Claude Code',
    present: true,
    looked: [
      { folder: '/home/ana/.claude/projects', present: true, files: 231 },
      { folder: '/home/ana/work/.claude/projects', present: true, files: 18 },
    ],
    sessions: 48,
    newest: ago(14),
    skipped: [
      { agent: 'claude', reason: 'subagent_file', unit: 'file', sentence: 'A sub-agent wrote this file; nobody typed in it.', count: 37 },
      { agent: 'claude', reason: 'other_project', unit: 'session', sentence: 'This session belongs to another project.', count: 164 },
      { agent: 'claude', reason: 'bookkeeping', unit: 'record', sentence: "Bookkeeping of the agent's program.", count: 9120 },
    ],
    unknown_records: [{ type: 'forecast', version: '2.1.9', count: 3 }],
    retention: { policy: 'deletes', days: 30, setting: null },
    warning: null,
  },
  {
    agent: 'codex',
    title: 'Codex',
    present: true,
    looked: [
      { folder: '/home/ana/.codex/sessions', present: true, files: 37 },
      { folder: '/home/ana/.codex/archived_sessions', present: false, files: 0 },
    ],
    sessions: 0,
    newest: ago(76),
    skipped: [{ agent: 'codex', reason: 'other_project', unit: 'session', sentence: 'This session belongs to another project.', count: 37 }],
    unknown_records: [{ type: 'response_item/whisper', version: '0.199.0', count: 12 }],
    retention: { policy: 'keeps' },
    warning: DRIFTED,
  },
  {
    agent: 'pi',
    title: 'Pi',
    present: true,
    looked: [{ folder: '/home/ana/.pi/agent/sessions', present: true, files: 0 }],
    sessions: 0,
    newest: null,
    skipped: [],
    unknown_records: [],
    retention: { policy: 'keeps' },
    warning: null,
  },
  {
    agent: 'cursor',
    title: 'Cursor',
    present: false,
    looked: [
      { folder: '/home/ana/.cursor/projects', present: false, files: 0 },
      { folder: '/home/ana/.config/Cursor/User/globalStorage/state.vscdb', present: false, files: 0 },
    ],
    sessions: 0,
    newest: null,
    skipped: [],
    unknown_records: [],
    retention: { policy: 'unknown' },
    warning: null,
  },
];

/** What a night would do. */
export function preview(project: string): Preview {
  return {
    project,
    n_sessions: 6,
    n_tasks: 18,
    tasks: [],
    waiting: 12,
    beyond_limit: 0,
    not_replayable: { 'needs files': 23, 'needs tools': 11 },
    skipped: [],
    sources: SOURCES,
    suggestions: [],
    forecast: { mining_calls: 6, gate_calls: 24, calls: 80, tokens_low: 90_000, tokens_high: 210_000, cost_micros_high: 520_000 },
    budget_problem: null,
    simulated: false,
    targets: ['claude:skill', 'claude:memory'],
    handed_off: false,
    notes: [],
  };
}

/** What is found on it; `knows` says which folders are registered, `drifted` whether the format of an agent has changed. */
export function found(none: boolean, drifted: boolean, knows: (root: string) => boolean): Discovered {
  const agent = (name: 'claude' | 'codex' | 'cursor', title: string, sessions: number, days: number | null): Discovered['agents'][0] => ({
    agent: name,
    title,
    present: sessions > 0,
    looked: [{ folder: `/home/ana/.${name}`, present: sessions > 0, files: sessions }],
    sessions,
    newest: sessions > 0 ? ago(14) : null,
    skipped: [],
    unknown_records: [],
    retention: days === null ? { policy: 'unknown' } : { policy: 'deletes', days, setting: 'cleanupPeriodDays' },
    warning: null,
  });
  const codex = agent('codex', 'Codex', none ? 0 : 37, null);
  if (drifted) {
    codex.warning = DRIFTED;
    codex.retention = { policy: 'keeps_none', setting: '/home/ana/.codex/settings.json' };
  }
  return {
    days: 90,
    agents: [agent('claude', 'Claude Code', none ? 0 : 212, 30), codex, agent('cursor', 'Cursor', 0, null)],
    projects: none
      ? []
      : [
          { root: PROJECTS.shop.root, sessions: 148, newest: ago(14), agents: ['claude', 'codex'], registered: knows(PROJECTS.shop.root) },
          { root: PROJECTS.notes.root, sessions: 61, newest: ago(39), agents: ['claude'], registered: knows(PROJECTS.notes.root) },
          { root: PROJECTS.infra.root, sessions: 32, newest: ago(76), agents: ['codex'], registered: knows(PROJECTS.infra.root) },
          { root: '/home/ana/code/dotfiles', sessions: 8, newest: ago(24 * 19), agents: ['claude'], registered: false },
        ],
  };
}

/** What is to be known before data is deleted. */
export const NOTES: PurgePlan['notes'] = [
  { code: 'copies_go', about: '', message: 'Earlier copies of the database go as well; they hold the same.' },
  { code: 'log_goes', about: '', message: 'The log of the app and of its nights goes as well; it holds words of every project.' },
  { code: 'adopted_stay', about: '3', message: '3 adopted documents cannot be rolled back afterwards; they stay as they are.' },
  { code: 'settings_stay', about: '/home/ana/.config/skillopt', message: 'Your settings in /home/ana/.config/skillopt and the keys in the keyring stay, and an empty database.' },
];

/** What the check of this computer finds. */
export const DIAGNOSIS: Diagnosis = {
  healthy: true,
  tonight: 'read 6 sessions and replay 9 tasks, with at most 84 model calls.',
  nights: [{ project: null, expected: { night: 'replays', sessions: 6, tasks: 9, calls: 84 } }],
  findings: [
    { subject: 'database', projects: [], health: 'good', code: 'database_sound', message: 'The database is sound.', guidance: '', detail: null },
    { subject: 'settings', projects: [], health: 'good', code: 'settings_readable', message: 'The settings can be read.', guidance: '', detail: null },
    {
      subject: 'last night',
      projects: ['infra'],
      health: 'warning',
      code: 'last_night_stopped',
      message: 'It did not get through: Codex allows no more for now.',
      guidance: '`skillopt backend test` asks now whether the models answer; `skillopt night show` says more of the night.',
      detail: { outcome: 'deferred' },
    },
    ...SOURCES.map((source): Diagnosis['findings'][0] => ({
      subject: `sessions of ${source.title}`,
      projects: [],
      health: source.present && source.sessions === 0 ? 'warning' : 'good',
      code: source.warning ? 'sessions_strange' : !source.present ? 'sessions_absent' : source.sessions > 0 ? 'sessions_found' : 'sessions_none',
      message: `${source.sessions} sessions of this project below ${source.looked[0]?.folder} (reads.${source.agent}_home).`,
      guidance: 'Left out: 37 sessions (This session belongs to another project).',
      detail: { ...source },
    })),
    { subject: 'documents', projects: [], health: 'good', code: 'documents_found', message: '2 documents can be improved.', guidance: '', detail: [{}, {}] },
    {
      subject: 'local model servers',
      projects: [],
      health: 'good',
      code: 'servers_found',
      message: 'Ollama answers at http://127.0.0.1:11434/v1 with the model qwen3:8b.',
      guidance: '',
      detail: [{ name: 'Ollama', endpoint: 'http://127.0.0.1:11434/v1', models: ['qwen3:8b'] }],
    },
    { subject: 'models', projects: [], health: 'good', code: 'models_usable', message: 'The backends can be used.', guidance: '', detail: null },
  ],
};

/** A report for whoever helps. */
export const REPORT = {
  text: 'SkillOpt report\n===============\n\nVersions and folders\n--------------------\nSkillOpt 0.1.0\nlinux on x86_64\ndata in ~/.local/share/skillopt\n\nThe end of the log\n------------------\nAuthorization: Bearer [REDACTED]\n',
  redacted: 1,
};

/** How a project stands. */
export const STATUS: Status = {
  night: 42,
  nights: 19,
  state_path: '/home/ana/.local/share/skillopt/skillopt.db',
  project: '',
  history_tail: [],
  latest_staging: null,
  slow_memory_chars: 0,
  staged_skills: [],
  adopted_skills: [],
  has_managed_proposal: true,
  proposal: '20261129-031702',
  stale: false,
  running: null,
  unfinished: null,
  scheduled: null,
  upcoming: [],
  waits: [],
  unknown: [],
  last: null,
  suggestions: null,
  suggestions_of: null,
  missing: null,
};
