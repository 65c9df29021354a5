// Written by `cargo xtask docs` from the lists of commands and calls in crates/app. Do not edit.

/** Every command with what goes in and what comes out. */
export interface Commands {
  /** Run a night, or go on with the one that was stopped. */
  "sleep run": { input: RunInput; output: RunOutput };
  /** Show what a night would do, at no cost. */
  "sleep dry-run": { input: DryRunInput; output: Preview };
  /** Show where a project stands. */
  "sleep status": { input: Which; output: Status };
  /** List what a night would read. */
  "sleep harvest": { input: HarvestInput; output: Harvested };
  /** Let the system run the night every day. */
  "sleep schedule": { input: ScheduleInput; output: Scheduled };
  /** Take a project off the schedule. */
  "sleep unschedule": { input: UnscheduleInput; output: Scheduled };
  /** Show what runs, what comes next, and what waits. */
  "status": { input: Nothing; output: SupervisorState };
  /** Let no night begin by itself for a while. */
  "pause": { input: PauseInput; output: PauseOutput };
  /** End the pause. */
  "resume": { input: Nothing; output: PauseOutput };
  /** List the registered projects. */
  "project list": { input: Nothing; output: Array<ProjectRow> };
  /** Register a project. */
  "project add": { input: Which; output: ProjectRow };
  /** Find agents on this computer, and the folders they were used in. */
  "project find": { input: Nothing; output: Discovered };
  /** Take a project off the list; its history stays. */
  "project remove": { input: Which; output: ProjectRow };
  /** Say where a project's folder is now. */
  "project move": { input: MoveInput; output: ProjectRow };
  /** List proposals. */
  "proposal list": { input: ProposalListInput; output: Array<ProposalRow> };
  /** Show a proposal with its evidence. */
  "proposal show": { input: ProposalShowInput; output: ProposalShown };
  /** Adopt a proposal or some of its rules. */
  "proposal adopt": { input: AdoptInput; output: AdoptOutput };
  /** Say no, with a reason. */
  "proposal reject": { input: RejectInput; output: Rejected };
  /** Take a no back: the proposal waits again. */
  "proposal reopen": { input: ReopenInput; output: Reopened };
  /** Take an adoption back, byte for byte. */
  "rollback": { input: RollbackInput; output: RolledBack };
  /** List nights. */
  "night list": { input: NightListInput; output: Array<NightRow> };
  /** Show a night: stages, spend, tasks, events. */
  "night show": { input: NightShowInput; output: NightShown };
  /** End a running night, or one that waits. */
  "night cancel": { input: CancelInput; output: Cancelled };
  /** Stop a running night; the next run goes on with it. */
  "night pause": { input: CancelInput; output: NightPaused };
  /** Ask the app or the daemon to run a night in the background. */
  "night start": { input: Which; output: Requested };
  /** Save a night's replies, to go through it again without a network. */
  "night record": { input: RecordInput; output: Recorded };
  /** List the backends and what is missing for each. */
  "backend list": { input: BackendListInput; output: Array<BackendRow> };
  /** Ask a backend one tiny question. */
  "backend test": { input: BackendTestInput; output: BackendTested };
  /** Agree that nights ask providers by themselves. */
  "backend accept": { input: BackendAcceptInput; output: BackendsAccepted };
  /** Let a backend answer from now on, with its address and model. */
  "backend use": { input: BackendUseInput; output: BackendChosen };
  /** Find the model servers of this computer. */
  "backend servers": { input: BackendListInput; output: Array<LocalServer> };
  /** Say what was spent, by month and project. */
  "spend": { input: SpendInput; output: Spent };
  /** Say whether the keyring can be used, and which keys are in it. */
  "key list": { input: Nothing; output: KeysKept };
  /** Keep a key in the keyring. */
  "key set": { input: KeySetInput; output: KeysKept };
  /** Remove a key from the keyring. */
  "key remove": { input: KeyRemoveInput; output: KeysKept };
  /** Show the open hand-off questions. */
  "handoff": { input: Which; output: Questions };
  /** Answer an open hand-off question. */
  "handoff answer": { input: AnswerInput; output: Questions };
  /** Show every setting and where its value comes from. */
  "config show": { input: Which; output: Array<SettingRow> };
  /** Change a setting in the user's or the project's file. */
  "config set": { input: SetInput; output: SettingRow };
  /** Say what a setting does and which layer decided. */
  "config explain": { input: ExplainInput; output: Explanation };
  /** Show the words of every prompt, and how to use your own. */
  "config prompts": { input: Which; output: Prompts };
  /** Check that everything a night needs is there. */
  "doctor": { input: DoctorInput; output: Diagnosis };
  /** Show the end of the log. */
  "log": { input: LogInput; output: LogEnd };
  /** Show what helps others to help, without secrets. */
  "report show": { input: Nothing; output: Report };
  /** Write that report into a file. */
  "report export": { input: ReportExportInput; output: ReportExported };
  /** Run a whole night on sample sessions in a temporary home. */
  "demo": { input: DemoInput; output: Demonstration };
  /** Run an invented user through some nights. */
  "experiment": { input: ExperimentInput; output: Experiment };
  /** Take over configuration and state of the reference system. */
  "import": { input: ImportInput; output: Imported };
  /** Say how much space is used. */
  "data size": { input: Nothing; output: Size };
  /** Copy all data into a folder. */
  "data export": { input: ToInput; output: Done };
  /** Delete data. */
  "data purge": { input: PurgeInput; output: Purged };
  /** Move all data to another folder. */
  "data move": { input: ToInput; output: Done };
  /** Keep a copy of the database to go on from. */
  "data copy": { input: Nothing; output: Done };
  /** Put a damaged database aside and go on from a copy. */
  "data restore": { input: RestoreInput; output: Done };
  /** Delete what the last move left in its old place. */
  "data remove-old": { input: Nothing; output: Done };
}

/** Every call that only the desktop shell answers. */
export interface ShellCalls {
  /** Opens a window, or brings it to the front. */
  "open_window": { input: OpenWindow; output: null };
  /** Shows one of the app's own folders in the file manager. */
  "open_folder": { input: OpenFolder; output: null };
  /** Says whether the app starts with the session. */
  "autostart": { input: Autostart; output: boolean };
}

/** What agents are called. */
export const AGENTS: Record<Agent, string> = {
  claude: 'Claude Code',
  codex: 'Codex',
  copilot: 'GitHub Copilot CLI',
  vscode: 'Copilot Chat in VS Code',
  cursor: 'Cursor',
  pi: 'Pi',
  opencode: 'OpenCode',
  openclaw: 'OpenClaw',
  devin: 'Devin',
};

/**
 * What is adopted.
 */
export type AdoptInput = { 
/**
 * Id of the proposal; the newest that waits when empty.
 */
id?: string | null, 
/**
 * The project whose newest is meant.
 */
project?: string | null, 
/**
 * Ids of documents, or names of skills; all when empty.
 */
targets?: Array<string>, 
/**
 * Only documents of this kind.
 */
kind?: TargetKind | null, 
/**
 * Numbers of rules; all that were not rejected when empty.
 */
rules?: Array<number>, 
/**
 * Only show what would be written.
 */
plan_only?: boolean, 
/**
 * Flags were read and are accepted.
 */
confirm_flags?: boolean, 
/**
 * Test a chosen subset on the held-out tasks first, and adopt it only when it is better.
 */
validate?: boolean, };

/**
 * What was, or would be, written.
 */
export type AdoptOutput = { 
/**
 * Id of the proposal.
 */
proposal: string, 
/**
 * Folder of its bundle.
 */
staging_dir: string, 
/**
 * The documents, before and after.
 */
documents: Array<PlannedDocument>, 
/**
 * Things to know.
 */
notes: Array<string>, 
/**
 * A built-in simulation made and scored these rules, not a model.
 */
simulated: boolean, 
/**
 * Paths of the documents that agents read in all projects, not only in this one.
 */
read_everywhere: Array<string>, 
/**
 * The verdict on a subset that was tested.
 */
validated: Array<[Agent, Decision]> | null, 
/**
 * What was written; empty when only planned, or when the test did not show an improvement.
 */
receipts: Array<Receipt>, 
/**
 * Whether anything was written.
 */
adopted: boolean, 
/**
 * Nothing was written because the test did not show an improvement.
 */
refused: boolean, };

/**
 * A coding agent.
 */
export type Agent = "claude" | "codex" | "copilot" | "vscode" | "cursor" | "pi" | "opencode" | "openclaw" | "devin";

/**
 * An answer to an open question.
 */
export type AnswerInput = { 
/**
 * The project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Id of the question.
 */
id: string, 
/**
 * The answer, or else it is in `file`.
 */
answer?: string | null, 
/**
 * A file with the answer.
 */
file?: string | null, };

/**
 * Who wrote a turn.
 *
 * Only the turns of the person and the agent have words here. What tools returned and what programs
 * put in would be most of a session's bytes, and nothing is learned from it; it is counted
 * ([`Session::wrote`]) and let go.
 */
export type Author = "human" | "assistant" | "tool" | "system" | "generated";

/**
 * Whether the app starts with the session.
 */
export type Autostart = { 
/**
 * Changes it first, if given.
 */
on?: boolean | null, };

/**
 * What nights may ask from now on.
 */
export type BackendAcceptInput = { 
/**
 * The project whose settings hold; those of the folder the user is in when empty.
 */
project?: string | null, 
/**
 * The providers, as reports name them; those that a night would ask when empty.
 */
providers: Array<string>, };

/**
 * What was chosen.
 */
export type BackendChosen = { 
/**
 * Who answers now.
 */
backend: string, 
/**
 * The layer that decides it: when it is above the file, the choice in the file does not hold.
 */
layer: Layer, 
/**
 * What changed, the backend itself included.
 */
changed: Array<SettingChanged>, 
/**
 * The settings file.
 */
file: string, 
/**
 * Why it cannot answer yet; `None` when it can, as far as that is known without asking.
 */
problem: Problem | null, };

/**
 * What the shell tells its pages. Nothing is decided from it.
 */
export type BackendEvent = { "kind": "changed", 
/**
 * What it may be.
 */
what: Changed, } | { "kind": "files_over", 
/**
 * Whether they are.
 */
over: boolean, } | { "kind": "files_dropped", 
/**
 * Their paths, in the order of that program.
 */
files: Array<string>, };

/**
 * Which settings hold.
 */
export type BackendListInput = { 
/**
 * Those of this project; those of the folder the user is in when empty.
 */
project?: string | null, };

/**
 * One backend in the list.
 */
export type BackendRow = { 
/**
 * Its name in the settings.
 */
name: string, 
/**
 * What it is, one line.
 */
about: string, 
/**
 * What it does in a night: `target`, `optimizer`, `judge`; empty when nothing.
 */
sides: Array<string>, 
/**
 * The model that would be asked; empty when that is not known.
 */
model: string, 
/**
 * Its address or program; empty when that is not known.
 */
address: string, 
/**
 * Why it cannot be used as things are; `None` when it can, as far as that is known without asking. A
 * server on this computer that does not listen cannot, which may be over at any time.
 */
problem: Problem | null, 
/**
 * What has to be agreed to before nights ask it; `None` when nothing has, or when it cannot be used.
 */
terms: Terms | null, 
/**
 * Whether that was done.
 */
terms_accepted: boolean, 
/**
 * Whether it says how much of the plan is left, so that spends.reserve_percent can be kept.
 */
tells_allowance: boolean, 
/**
 * Settings that must be given before it can be used.
 */
needs: Array<string>, 
/**
 * What its key is usually called; empty for one that takes none or is signed in to elsewhere.
 */
key: string, };

/**
 * Which backend is tested.
 */
export type BackendTestInput = { 
/**
 * The project whose settings hold; that of the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Its name; those that a night would use when empty.
 */
backend?: string | null, };

/**
 * Every backend that was tested.
 */
export type BackendTested = { 
/**
 * Whether all of them work.
 */
works: boolean, 
/**
 * One for each.
 */
tested: Array<TestedBackend>, };

/**
 * The backend that answers from now on.
 */
export type BackendUseInput = { 
/**
 * Its name in the settings; when empty, the choice of this file is given up with all that belongs to it, and
 * that of the layers below holds.
 */
backend: string, 
/**
 * Its address; its own, or the one it has, when empty.
 */
endpoint?: string | null, 
/**
 * Its model; its own choice, or the one it has, when empty.
 */
model?: string | null, 
/**
 * What its key is called; never the key.
 */
api_key_env?: string | null, 
/**
 * For this project only.
 */
for_project?: boolean, 
/**
 * The project.
 */
project?: string | null, };

/**
 * What was agreed to.
 */
export type BackendsAccepted = { 
/**
 * Every provider that nights may ask by themselves.
 */
accepted: Array<string>, 
/**
 * What was added to them now; only the names of providers that were named.
 */
added: Array<Terms>, 
/**
 * The user's settings file.
 */
file: string, };

/**
 * Which night is stopped; the unfinished one of the project when empty.
 */
export type CancelInput = { 
/**
 * Its id.
 */
id?: number | null, 
/**
 * The project whose unfinished night is meant.
 */
project?: string | null, };

/**
 * What came of it.
 */
export type Cancelled = { 
/**
 * The night; `None` when only one that was asked for has been called off.
 */
id: number | null, 
/**
 * It was told to end and will do so at the next call; otherwise it has been ended.
 */
told: boolean, };

/**
 * How one task changed.
 */
export type Change = "improved" | "regressed" | "unchanged";

/**
 * What may have changed.
 */
export type Changed = "everything" | "store";

/**
 * The decision on one candidate.
 */
export type Decision = { 
/**
 * Whether the candidate is let in.
 */
accepted: boolean, 
/**
 * The reference's word for it.
 */
action: GateAction, 
/**
 * What the scores say.
 */
verdict: Verdict, 
/**
 * Mean score under the current document, over pairs scored on both sides; `None` without any.
 */
before: number | null, 
/**
 * Mean score under the candidate, over the same pairs.
 */
after: number | null, 
/**
 * Tasks that got better.
 */
wins: number, 
/**
 * Tasks that got worse.
 */
losses: number, 
/**
 * Tasks that stayed the same.
 */
ties: number, 
/**
 * Tasks without a score on one side.
 */
unscored: number, 
/**
 * A regression would have blocked although the mean is higher.
 */
blocked_by_regression: boolean, 
/**
 * Held-out and training tasks were not apart.
 */
leaked: boolean, 
/**
 * Every task.
 */
deltas: Array<Delta>, };

/**
 * One row of a trial's table.
 */
export type Delta = { 
/**
 * The task.
 */
task: string, 
/**
 * Its tags.
 */
tags: Array<string>, 
/**
 * Score under the current document.
 */
before: number | null, 
/**
 * Score under the candidate.
 */
after: number | null, 
/**
 * How it changed.
 */
status: Change, };

/**
 * What is asked of a demonstration.
 */
export type DemoInput = { 
/**
 * A new or empty folder for the sample project and its home; a temporary one when empty.
 */
folder?: string | null, };

/**
 * The night of the demonstration, and what it proposes.
 */
export type Demonstration = { 
/**
 * The home folder with the sample sessions.
 */
home: string, 
/**
 * The sample project.
 */
project: string, 
/**
 * The night.
 */
report: NightReport, 
/**
 * What it proposes.
 */
proposal: ProposalShown | null, 
/**
 * Lines for a shell of its own in which the sample is home; the commands below need them.
 */
setup: Array<string>, 
/**
 * Commands that go on from here.
 */
next: Array<string>, 
/**
 * The command that deletes the sample with everything in it.
 */
delete: string, };

/**
 * One template as it is shown to a user.
 */
export type Description = { 
/**
 * Its name in the overrides file.
 */
name: string, 
/**
 * Where in the night it is used.
 */
stage: string, 
/**
 * Which side sees it: `target`, `optimizer` or `both`.
 */
role: string, 
/**
 * What it is for.
 */
description: string, 
/**
 * Placeholders (`__NAME__`) an override must contain.
 */
required: Array<string>, 
/**
 * Placeholders an override may contain besides.
 */
optional: Array<string>, 
/**
 * Our words.
 */
default: string, 
/**
 * The user's words, if there are any.
 */
override: string | null, 
/**
 * The words that are used.
 */
effective: string, };

/**
 * All checks.
 */
export type Diagnosis = { 
/**
 * Whether a night would work.
 */
healthy: boolean, 
/**
 * Every check.
 */
findings: Array<Finding>, 
/**
 * What the next night would do, after the words "Tonight would".
 */
tonight: string, 
/**
 * The same, night by night.
 */
nights: Array<Tonight>, };

/**
 * One line of a diff.
 */
export type DiffLine = { 
/**
 * What became of it.
 */
change: LineChange, 
/**
 * Its number in the document before, from 1.
 */
before: number | null, 
/**
 * Its number in the document after, from 1.
 */
after: number | null, 
/**
 * The line in stretches; no stretch is empty.
 */
parts: Array<DiffPart>, };

/**
 * A stretch of a line.
 */
export type DiffPart = { 
/**
 * Its text, without the end of the line.
 */
text: string, 
/**
 * Whether it is what changed within the line.
 */
changed: boolean, };

/**
 * A session as one flat object, with the names and the order of §1.1 of the reference.
 */
export type Digest = { 
/**
 * Session id as the agent names it.
 */
session_id: string, 
/**
 * Absolute folder of the session; may be empty.
 */
project: string, 
/**
 * Git branch; may be empty.
 */
git_branch: string, 
/**
 * When the first turn was written: ISO 8601 in UTC, or empty.
 */
started_at: string, 
/**
 * When the last turn was written: ISO 8601 in UTC, or empty.
 */
ended_at: string, 
/**
 * The human turns, in order.
 */
user_prompts: Array<string>, 
/**
 * The last answers, at most five.
 */
assistant_finals: Array<string>, 
/**
 * Tools called, each once.
 */
tools_used: Array<string>, 
/**
 * Skills used, each once.
 */
skills_used: Array<string>, 
/**
 * Files written, each once.
 */
files_touched: Array<string>, 
/**
 * Feedback signals of all human turns, repeats kept.
 */
feedback_signals: Array<string>, 
/**
 * How many human turns there are.
 */
n_user_turns: number, 
/**
 * How many of them were answered.
 */
n_assistant_turns: number, 
/**
 * The transcript file.
 */
raw_path: string, };

/**
 * What was found.
 */
export type Discovered = { 
/**
 * Each agent that is known, with what was found of it.
 */
agents: Array<SourceStatus>, 
/**
 * Folders with sessions, those with most sessions first.
 */
projects: Array<FoundProject>, 
/**
 * How many days were looked back.
 */
days: number, };

/**
 * What is checked.
 */
export type DoctorInput = { 
/**
 * The project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Check as the scheduled run would find things: with the bare environment of cron.
 */
as_scheduled?: boolean, };

/**
 * What was, or would be, done.
 */
export type Done = { 
/**
 * Whether it was done.
 */
applied: boolean, 
/**
 * What, in one sentence.
 */
message: string, 
/**
 * The details.
 */
detail: JsonValue, };

/**
 * What is asked of a preview.
 */
export type DryRunInput = { 
/**
 * The project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Tasks given in a file.
 */
tasks_file?: string | null, 
/**
 * Look once more at what earlier nights have dealt with.
 */
again?: boolean, };

/**
 * One night that is or was due.
 */
export type Due = { 
/**
 * The local time of the rule. Nights are told apart by it.
 */
slot: string, 
/**
 * When it begins, the delay included.
 */
at: string, 
/**
 * When it must be over.
 */
finish_by: string | null, };

/**
 * One proposed change, with the evidence it came from.
 */
export type Edit = { 
/**
 * What to do.
 */
op: EditOp, 
/**
 * The rule to add, or the rule that replaces the anchored one. Empty for a delete.
 */
content: string, 
/**
 * The rule an edit refers to: its whole text, or a part that occurs in exactly one rule.
 */
anchor: string, 
/**
 * Why, in the optimizer's words.
 */
rationale: string, 
/**
 * The tasks whose failures led to this edit.
 */
tasks: Array<string>, 
/**
 * The human turns behind those tasks.
 */
turns: Array<SourceTurn>, };

/**
 * What an edit does to the list of learned rules.
 */
export type EditOp = "add" | "delete" | "replace";

/**
 * What the next night of a project would do.
 */
export type Expected = { "night": "fails", 
/**
 * What is wrong.
 */
code: string, 
/**
 * In one sentence.
 */
message: string, } | { "night": "stops", 
/**
 * What keeps it.
 */
code: string, 
/**
 * In one sentence.
 */
message: string, } | { "night": "nothing_new" } | { "night": "no_task", 
/**
 * How many sessions are new.
 */
sessions: number, } | { "night": "replays", 
/**
 * Of how many sessions.
 */
sessions: number, 
/**
 * How many.
 */
tasks: number, 
/**
 * With how many paid calls of models at most.
 */
calls: number, } | { "night": "no_project" };

/**
 * The result of an experiment, with the keys of the reference.
 */
export type Experiment = { 
/**
 * Name of the persona.
 */
persona: string, 
/**
 * Who answered.
 */
backend: string, 
/**
 * The model; empty for a simulation.
 */
model: string, 
/**
 * Number of tasks.
 */
n_tasks: number, 
/**
 * Nights that ran.
 */
nights_run: number, 
/**
 * Held-out score before.
 */
baseline_holdout: number, 
/**
 * Held-out score after.
 */
after_holdout: number, 
/**
 * The difference.
 */
lift: number, 
/**
 * Whether it is positive.
 */
improved: boolean, 
/**
 * Whether the gate kept an edit out that helps in training and harms elsewhere.
 */
gate_blocks_harmful: boolean, 
/**
 * Tokens of paid calls.
 */
tokens_used: number, 
/**
 * The end of the final skill.
 */
final_skill_excerpt: string, 
/**
 * Night by night.
 */
trace: Array<Step>, };

/**
 * What is asked of an experiment.
 */
export type ExperimentInput = { 
/**
 * `researcher` or `programmer`.
 */
persona: string, 
/**
 * At most so many nights.
 */
nights: number, 
/**
 * Only the first tasks; 0 for all.
 */
limit_tasks?: number, };

/**
 * A setting to explain.
 */
export type ExplainInput = { 
/**
 * Its name.
 */
key: string, 
/**
 * The project.
 */
project?: string | null, };

/**
 * What a setting is, what it does, and where its value comes from.
 */
export type Explanation = { 
/**
 * Its name.
 */
key: string, 
/**
 * What it does.
 */
text: string, 
/**
 * What a number counts; empty for anything else.
 */
unit: string, 
/**
 * What may be written, as a phrase.
 */
allowed: string, 
/**
 * The value that holds.
 */
value: JsonValue, 
/**
 * The default.
 */
default: JsonValue, 
/**
 * The layer that decided.
 */
layer: Layer, 
/**
 * Every layer that gave a value, lowest first. The last one decided, but for lists a repository
 * added to.
 */
given: Array<Given>, 
/**
 * Its environment variable.
 */
variable: string, 
/**
 * Its flag, with dashes.
 */
flag: string, };

/**
 * One check.
 */
export type Finding = { 
/**
 * What was checked.
 */
subject: string, 
/**
 * The projects it is about, where several were looked at and it does not hold for all of them.
 */
projects: Array<string>, 
/**
 * How it came out.
 */
health: Health, 
/**
 * Names what was found, for whoever says it in other words: `detail` has what they need. Of what went
 * wrong it is the code of the problem.
 */
code: string, 
/**
 * One sentence.
 */
message: string, 
/**
 * What to do; empty when nothing.
 */
guidance: string, 
/**
 * Details.
 */
detail: JsonValue, };

/**
 * The first line of the tray's menu, in parts that every language can put together.
 */
export type FirstLine = { "kind": "working", 
/**
 * Name of the project; of the first when several run.
 */
project: string, 
/**
 * How many run.
 */
nights: number, 
/**
 * Seconds until the last of them ends, at most and at the pace so far; empty while one of them has
 * no pace yet.
 */
seconds_left: number | null, } | { "kind": "trouble", 
/**
 * What is wrong, in a sentence.
 */
reason: string, } | { "kind": "attention", 
/**
 * Name of the project.
 */
project: string, 
/**
 * How many nights failed in a row; fewer than three when something else is wrong.
 */
failures: number, 
/**
 * What the last one said, or what is wrong, in a sentence.
 */
reason: string, } | { "kind": "paused", 
/**
 * Until when; for ever when empty.
 */
until: string | null, } | { "kind": "proposals", 
/**
 * How many.
 */
count: number, } | { "kind": "answers", 
/**
 * Name of the project; of the first when several wait.
 */
project: string, } | { "kind": "waiting", 
/**
 * Name of the project.
 */
project: string, 
/**
 * What for.
 */
reason: Why, } | { "kind": "next", 
/**
 * When.
 */
at: string, 
/**
 * How many projects have one within the following twelve hours.
 */
projects: number, } | { "kind": "nothing" };

/**
 * What a flag is about.
 */
export type FlagKind = "hidden_character" | "bidirectional" | "control_character" | "region_marker" | "hidden_markup" | "command" | "url" | "secret" | "permission_change" | "instruction";

/**
 * A folder of ours.
 */
export type Folder = "data" | "settings";

/**
 * How many calls a night makes, and how many of them the gate needs.
 */
export type Forecast = { 
/**
 * Calls that look for tasks in the sessions; they come before `calls`.
 */
mining_calls: number, 
/**
 * Calls the verdict depends on: validation under pinned and candidate documents.
 */
gate_calls: number, 
/**
 * All calls when every edit is tried.
 */
calls: number, 
/**
 * Tokens at least.
 */
tokens_low: number, 
/**
 * Tokens at most.
 */
tokens_high: number, 
/**
 * Millionths of the currency at most; `None` when a price is not known.
 */
cost_micros_high: number | null, };

/**
 * A folder in which agents were used.
 */
export type FoundProject = { 
/**
 * The repository the sessions were had in, or their folder.
 */
root: string, 
/**
 * How many sessions.
 */
sessions: number, 
/**
 * When the newest one ended.
 */
newest: string | null, 
/**
 * Whose.
 */
agents: Array<Agent>, 
/**
 * Whether it is a project already.
 */
registered: boolean, };

/**
 * What the gate did, in the reference's words (§6.2, §6.3).
 */
export type GateAction = "accept_new_best" | "reject" | "reject_unverified" | "greedy_applied" | "greedy_noop";

/**
 * One layer's value of a setting.
 */
export type Given = { 
/**
 * The layer.
 */
layer: Layer, 
/**
 * The exact place: file and line, variable or flag.
 */
place: string, 
/**
 * The value given there.
 */
value: JsonValue, };

/**
 * What is asked of a harvest.
 */
export type HarvestInput = { 
/**
 * The project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Ignore the look-back.
 */
all_time?: boolean, 
/**
 * Give the digests of the sessions rather than their tasks.
 */
digests?: boolean, 
/**
 * Write a tasks file for review.
 */
output?: string | null, };

/**
 * What a night would read.
 */
export type Harvested = { 
/**
 * The digests of §1.1, when asked for.
 */
digests: Array<Digest> | null, 
/**
 * The sessions, oldest first.
 */
sessions: Array<SessionRow>, 
/**
 * What was left out.
 */
skipped: Array<SkipCount>, 
/**
 * What was found of each agent.
 */
sources: Array<SourceStatus>, 
/**
 * Further lines: what in the settings is not used, and why.
 */
notes: Array<string>, 
/**
 * The file written.
 */
output: string | null, };

/**
 * How one check came out.
 */
export type Health = "good" | "warning" | "bad";

/**
 * What is taken over.
 */
export type ImportInput = { 
/**
 * The folder of the reference; `~/.skillopt-sleep` when empty.
 */
from?: string | null, 
/**
 * Do it; otherwise only show what would be taken over.
 */
apply?: boolean, };

/**
 * What was, or would be, taken over.
 */
export type Imported = { 
/**
 * Whether it was done.
 */
applied: boolean, 
/**
 * The folder.
 */
from: string, 
/**
 * Settings: reference name, our name, value.
 */
settings: JsonValue, 
/**
 * Settings that were not taken, and why.
 */
ignored: JsonValue, 
/**
 * Tasks of the archive, by project.
 */
tasks: Array<JsonValue>, 
/**
 * What could not be taken, in sentences.
 */
notes: Array<string>, };

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

/**
 * A key to remove.
 */
export type KeyRemoveInput = { 
/**
 * Its name.
 */
name: string, };

/**
 * A key to keep.
 */
export type KeySetInput = { 
/**
 * What `models.api_key_env` calls it.
 */
name: string, 
/**
 * The key.
 */
secret: Secret, };

/**
 * The state of the keyring, read without asking for a secret.
 */
export type KeyringState = "ready" | "locked" | "missing" | "denied";

/**
 * What the keyring holds.
 */
export type KeysKept = { 
/**
 * Whether it can be used now.
 */
state: KeyringState, 
/**
 * The names of the keys in it; empty while they cannot be read.
 */
names: Array<string>, };

/**
 * How a project's last night ended.
 */
export type Last = { 
/**
 * Its id; empty when it could not even begin.
 */
night: number | null, 
/**
 * How it ended.
 */
outcome: NightOutcome, 
/**
 * In a sentence.
 */
reason: string, 
/**
 * The code of the problem that only a person can end, when that is why it did not get through.
 */
needs: string | null, 
/**
 * It waits for answers, and this one is there and was not taken.
 */
refused_answer: RefusedAnswer | null, 
/**
 * When.
 */
ended_at: string | null, 
/**
 * The local time for which it was missed, when it was caught up later.
 */
caught_up_for: string | null, };

/**
 * Where a value comes from. Each layer is above the one before.
 */
export type Layer = "default" | "user" | "project" | "repository" | "environment" | "flag";

/**
 * What became of a line.
 */
export type LineChange = "same" | "removed" | "added";

/**
 * A model server that answers on this computer.
 */
export type LocalServer = { 
/**
 * What it seems to be: by what it says, else by its port.
 */
name: string, 
/**
 * What to set as `models.endpoint`.
 */
endpoint: string, 
/**
 * Its models, sorted; empty when none is loaded.
 */
models: Array<string>, };

/**
 * The end of the log.
 */
export type LogEnd = { 
/**
 * The file: what the app said, and what nights printed that the app, the daemon or cron started.
 */
file: string, 
/**
 * Its last lines, the newest last, without secrets; empty when nothing was printed yet.
 */
lines: Array<string>, };

/**
 * How much is shown.
 */
export type LogInput = { 
/**
 * At most so many lines, the newest; 0 for a hundred.
 */
lines?: number, };

/**
 * A night that never began: what it waited for did not come before its time was over.
 */
export type Missed = { 
/**
 * The local time of its rule.
 */
slot: string, 
/**
 * What it waited for last, in a sentence: "Missed: waiting for power."
 */
reason: string, };

/**
 * The models that really answered, by their own account; else those that were asked for.
 */
export type ModelsAnswered = { 
/**
 * Did the tasks.
 */
target: string, 
/**
 * Mined and proposed.
 */
optimizer: string, 
/**
 * Judged.
 */
judge: string, };

/**
 * What one project spent in one month on models that cost something.
 */
export type MonthRow = { 
/**
 * The month in which its nights began, in local time: `2026-11`.
 */
month: string, 
/**
 * Id of the project.
 */
project: string, 
/**
 * Its folder.
 */
root: string, 
/**
 * Nights that paid for something.
 */
nights: number, 
/**
 * Tries, whatever became of them.
 */
calls: number, 
/**
 * Tokens: as used, or as reserved where that is not known.
 */
tokens: number, 
/**
 * Of these, how many came from a cache of the provider.
 */
cached_tokens: number, 
/**
 * Millionths of the currency, in the same way.
 */
cost_micros: number, 
/**
 * Of these tries, how many have an unknown fate.
 */
unknown: number, 
/**
 * Of these tries, how many are under way.
 */
open: number, 
/**
 * Thousandths of requests that providers bill apart from tokens.
 */
request_thousandths: number, };

/**
 * A new place of a project.
 */
export type MoveInput = { 
/**
 * Id of the project, or the folder it was in.
 */
project: string, 
/**
 * The folder it is in now.
 */
to: string, };

/**
 * One event.
 */
export type NightEvent = { 
/**
 * Its place in the night, from 1.
 */
seq: number, 
/**
 * When it happened.
 */
at: string, 
/**
 * What happened, for example `gate/decision`.
 */
kind: string, 
/**
 * The rest, redacted by whoever appends it.
 */
body: JsonValue, };

/**
 * What kind of run it is.
 */
export type NightKind = "run" | "dry_run" | "experiment" | "revalidation";

/**
 * Which nights.
 */
export type NightListInput = { 
/**
 * Of one project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Of every project.
 */
everywhere?: boolean, 
/**
 * At most so many; 0 for twenty.
 */
limit?: number, };

/**
 * Why a night ended or stopped; the words of `--json` and of the README's exit codes.
 */
export type NightOutcome = "proposed" | "not_improved" | "inconclusive" | "nothing_to_do" | "waiting_for_answers" | "deferred" | "interrupted" | "failed";

/**
 * What came of it.
 */
export type NightPaused = { 
/**
 * The night.
 */
id: number, 
/**
 * It was told to stop and will do so at the next call; otherwise it was not at work.
 */
told: boolean, };

/**
 * The report of a night.
 */
export type NightReport = { 
/**
 * Its id in the store; `None` when it could not begin.
 */
night_id: number | null, 
/**
 * Its number within the project; `None` for nights that had nothing to do.
 */
night: number | null, 
/**
 * What the user has to agree to before the night may ask a model.
 */
terms: Array<Terms>, 
/**
 * Folder of the project.
 */
project: string, 
/**
 * When it began.
 */
started_at: string, 
/**
 * When it ended.
 */
ended_at: string, 
/**
 * Whether it went on with an earlier, stopped night.
 */
resumed: boolean, 
/**
 * How it ended.
 */
outcome: NightOutcome, 
/**
 * One sentence.
 */
reason: string, 
/**
 * What is wrong and what to do, when something is.
 */
problem: Problem | null, 
/**
 * When a deferred night goes on.
 */
until: string | null, 
/**
 * Who answered.
 */
target_backend: string, 
/**
 * Who mined and reflected.
 */
optimizer_backend: string, 
/**
 * Who judged.
 */
judge_backend: string, 
/**
 * The models that really answered, as far as is known.
 */
models: ModelsAnswered, 
/**
 * The answers come from a built-in simulation, not from a model.
 */
simulated: boolean, 
/**
 * Sessions with something new.
 */
n_sessions: number, 
/**
 * Tasks that took part.
 */
n_tasks: number, 
/**
 * Tasks by slice: train, validation, test.
 */
slices: [number, number, number], 
/**
 * New requests that have not recurred often enough yet.
 */
waiting: number, 
/**
 * Tasks beyond the limit; they come another night.
 */
beyond_limit: number, 
/**
 * Requests that cannot be replayed, by reason.
 */
not_replayable: { [key in string]: number }, 
/**
 * What the harvest left out.
 */
skipped: Array<SkipCount>, 
/**
 * One per document that could change.
 */
targets: Array<TargetReport>, 
/**
 * Train and validation were not apart somewhere.
 */
holdout_leaked: boolean, 
/**
 * The verdict on all documents of an agent together, per agent.
 */
overall: Array<[Agent, Decision]>, 
/**
 * Mean score on the test slice, pinned and final, per agent.
 */
test: Array<[Agent, number | null, number | null]>, 
/**
 * Rules in the user's own words that nothing has tested.
 */
suggestions: Array<Suggestion>, 
/**
 * What is still missing before something can be validated.
 */
missing: Array<string>, 
/**
 * What was expected to be asked.
 */
forecast: Forecast, 
/**
 * What was spent.
 */
spend: Spend, 
/**
 * Further lines.
 */
notes: Array<string>, 
/**
 * Id of the proposal, when something was staged.
 */
proposal: string | null, 
/**
 * Folder of its bundle.
 */
staging_dir: string, 
/**
 * Files changed by auto-adopt.
 */
adopted: Array<string>, 
/**
 * The user's tasks file.
 */
tasks_file: string | null, 
/**
 * Whether one held-out task that gets worse blocks a proposal; the reference reports it.
 */
gate_no_regression: boolean, 
/**
 * `false` when the gate was off.
 */
gated: boolean, };

/**
 * One night in a list.
 */
export type NightRow = { 
/**
 * The night, without its pins and report.
 */
id: number, 
/**
 * Id of the project.
 */
project: string, 
/**
 * Its number within the project.
 */
number: number | null, 
/**
 * What kind of run it was.
 */
kind: NightKind, 
/**
 * Where it stands.
 */
state: NightState, 
/**
 * How it ended or stopped.
 */
outcome: NightOutcome | null, 
/**
 * In a sentence.
 */
reason: string, 
/**
 * When it began.
 */
started_at: string, 
/**
 * When it ended or stopped.
 */
ended_at: string | null, 
/**
 * When a deferred one goes on.
 */
until: string | null, 
/**
 * Mean held-out score of the documents it left behind, over its agents; `None` when it compared none.
 */
score: number | null, };

/**
 * Which night; the newest of the project when empty.
 */
export type NightShowInput = { 
/**
 * Its id.
 */
id?: number | null, 
/**
 * The project whose newest is meant.
 */
project?: string | null, 
/**
 * Also its events.
 */
events?: boolean, };

/**
 * A night with its stages.
 */
export type NightShown = { 
/**
 * Its report, once it ended.
 */
report: Partial<NightReport & { decisions: Array<[Agent, Decision]> }> | null, 
/**
 * Its stages with the number of calls by state.
 */
stages: Array<StageRow>, 
/**
 * What the verdicts of its report rest on, whether or not anything came of them.
 */
evidence: Array<TargetEvidence>, 
/**
 * What it spent.
 */
spend: Spend, 
/**
 * Its events, when asked for.
 */
events: Array<NightEvent>, 
/**
 * The night, without its pins and report.
 */
id: number, 
/**
 * Id of the project.
 */
project: string, 
/**
 * Its number within the project.
 */
number: number | null, 
/**
 * What kind of run it was.
 */
kind: NightKind, 
/**
 * Where it stands.
 */
state: NightState, 
/**
 * How it ended or stopped.
 */
outcome: NightOutcome | null, 
/**
 * In a sentence.
 */
reason: string, 
/**
 * When it began.
 */
started_at: string, 
/**
 * When it ended or stopped.
 */
ended_at: string | null, 
/**
 * When a deferred one goes on.
 */
until: string | null, 
/**
 * Mean held-out score of the documents it left behind, over its agents; `None` when it compared none.
 */
score: number | null, };

/**
 * Where a night stands.
 */
export type NightState = "running" | "stopped" | "ended";

/**
 * The input of a command that takes none.
 */
export type Nothing = Record<symbol, never>;

/**
 * One of the app's own folders; the page says which, never where.
 */
export type OpenFolder = { 
/**
 * Which.
 */
folder: Folder, };

/**
 * A window, at what it is to show.
 */
export type OpenWindow = { 
/**
 * Which.
 */
window: WindowName, 
/**
 * Id of the project that `project` and `handoff` are about.
 */
project?: string | null, 
/**
 * Id of the proposal that `review` shows first.
 */
proposal?: string | null, 
/**
 * The night that `night` shows.
 */
night?: number | null, };

/**
 * Whether a task was lived through or made up.
 */
export type Origin = "real" | "dream";

/**
 * The state of the whole, in the word that chooses the tray's icon.
 */
export type Overall = "asleep" | "working" | "waiting_for_review" | "attention" | "paused";

/**
 * How long no night begins by itself.
 */
export type Pause = { "kind": "until", "until": string } | { "kind": "forever" };

/**
 * How long no night begins by itself.
 */
export type PauseInput = { 
/**
 * `1h`, `90m`, `tomorrow`, `forever`, a date, a date with a time; for ever when empty.
 */
until?: string | null, };

/**
 * The pause after a command.
 */
export type PauseOutput = { 
/**
 * The pause that holds now.
 */
pause: Pause | null, 
/**
 * Whether it was there before, for `resume`.
 */
was_paused: boolean, 
/**
 * What happened, in one sentence.
 */
message: string, };

/**
 * One document of a plan.
 */
export type PlannedDocument = { 
/**
 * Id of the target.
 */
target: string, 
/**
 * Skill or memory.
 */
kind: TargetKind, 
/**
 * Where the agent looks for it.
 */
path: string, 
/**
 * The file that would be written.
 */
real_path: string, 
/**
 * What is there now; empty when there is no file.
 */
before: string, 
/**
 * What would be there.
 */
after: string, 
/**
 * The rules it takes over.
 */
edits: Array<Edit>, 
/**
 * Only some of the proposal's rules: the gate has not seen this document.
 */
subset: boolean, 
/**
 * What the scan found in the chosen rules; needs a confirmation.
 */
flags: Array<{ kind: FlagKind, line: number, excerpt: string, sentence: string }>, 
/**
 * The file is marked as not to be written; it is replaced all the same, and stays marked.
 */
read_only: boolean, 
/**
 * The file is below the project's root and a repository's: the change is everyone's once it is
 * committed, and nothing is committed for the user.
 */
under_version_control: boolean, };

/**
 * What a night would do.
 */
export type Preview = { 
/**
 * Folder of the project.
 */
project: string, 
/**
 * Sessions with something new.
 */
n_sessions: number, 
/**
 * Tasks that would take part.
 */
n_tasks: number, 
/**
 * The tasks.
 */
tasks: Array<Task>, 
/**
 * New requests that have not recurred often enough yet.
 */
waiting: number, 
/**
 * Tasks beyond the limit.
 */
beyond_limit: number, 
/**
 * Requests that cannot be replayed, by reason.
 */
not_replayable: { [key in string]: number }, 
/**
 * What the harvest left out.
 */
skipped: Array<SkipCount>, 
/**
 * What was found of each agent, within the look-back; nothing when tasks were given.
 */
sources: Array<SourceStatus>, 
/**
 * Rules in the user's own words that nothing has tested.
 */
suggestions: Array<Suggestion>, 
/**
 * What it would ask.
 */
forecast: Forecast, 
/**
 * Why it would not even begin: a backend cannot be used, or the budget is too small for a verdict.
 */
budget_problem: Problem | null, 
/**
 * The answers would come from a built-in simulation.
 */
simulated: boolean, 
/**
 * Documents that could change.
 */
targets: Array<string>, 
/**
 * Whether a person answers: nothing is paid.
 */
handed_off: boolean, 
/**
 * Further lines.
 */
notes: Array<string>, };

/**
 * A public error: a stable code, one sentence, what to do next, and whether trying again helps.
 *
 * The code is part of the interface (`--json`, scripts, the window); the words are not.
 * Nobody matches on the words.
 */
export type Problem = { 
/**
 * Stable `snake_case` identifier, listed in `docs/errors.md`.
 */
code: string, 
/**
 * One full sentence saying what happened.
 */
message: string, 
/**
 * One sentence saying what to do next; empty only when nothing can be done.
 */
guidance: string, 
/**
 * Whether trying again can help.
 */
retry: Retry, };

/**
 * One project with where it stands.
 */
export type ProjectRow = { 
/**
 * Whether its folder is there.
 */
present: boolean, 
/**
 * When its last night ended or stopped.
 */
last_night: string | null, 
/**
 * How it ended.
 */
last_outcome: NightOutcome | null, 
/**
 * Proposals that wait.
 */
waiting: number, 
/**
 * What happened to its line in the crontab, when the project was removed or moved.
 */
notes: Array<string>, 
/**
 * 16 random lowercase hex characters.
 */
id: string, 
/**
 * Canonical absolute path of the folder.
 */
root: string, 
/**
 * Last component of the path when it was registered.
 */
name: string, 
/**
 * When it was registered.
 */
first_seen: string, };

/**
 * One project.
 */
export type ProjectState = { 
/**
 * Its id.
 */
id: string, 
/**
 * Its name.
 */
name: string, 
/**
 * Its folder.
 */
root: string, 
/**
 * Whether nights of it begin by themselves.
 */
nightly: boolean, 
/**
 * Its next night, or the one that is due now.
 */
next: Due | null, 
/**
 * Whether that one is due now.
 */
due: boolean, 
/**
 * Whether it is a missed one that is caught up.
 */
catching_up: boolean, 
/**
 * A night was asked for by hand and has not begun.
 */
requested: boolean, 
/**
 * Why it does not run although it is due or was asked for.
 */
waits: Array<Why>, 
/**
 * Conditions that could not be looked at and count as met.
 */
unknown: Array<UnknownCondition>, 
/**
 * The night at work.
 */
running: Running | null, 
/**
 * How the last night ended.
 */
last: Last | null, 
/**
 * The last night of its schedule that was left out, for a day.
 */
missed: Missed | null, 
/**
 * Proposals that wait for a decision.
 */
pending: number, 
/**
 * How many of them cannot be adopted any more: a file has changed since they were made.
 */
stale: number, 
/**
 * When cron begins its nights, as `HH:MM` or the five fields of its line; looked up only by a process that
 * finds that nobody else begins them.
 */
cron: string | null, 
/**
 * How many scheduled nights failed in a row, the last one included.
 */
failures: number, 
/**
 * What is wrong with its settings, which then give it no next night, or with its folder, in a sentence.
 */
problem: string | null, };

/**
 * The prompts of a night, and where words of the user's own are looked for.
 */
export type Prompts = { 
/**
 * The file: one JSON object of names and texts.
 */
file: string, 
/**
 * What was ignored in it.
 */
warnings: Array<string>, 
/**
 * Every prompt.
 */
prompts: Array<Description>, };

/**
 * Which proposals.
 */
export type ProposalListInput = { 
/**
 * Of one project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Also those that were decided.
 */
all?: boolean, 
/**
 * Of every project.
 */
everywhere?: boolean, };

/**
 * One proposal in a list.
 */
export type ProposalRow = { 
/**
 * Its documents.
 */
targets: Array<TargetRow>, 
/**
 * `20261129-031500`, with `-2`, `-3`, … when one exists already. UTC.
 */
id: string, 
/**
 * The night that made it.
 */
night: number, 
/**
 * Id of the project.
 */
project: string, 
/**
 * Where it stands.
 */
state: ProposalState, 
/**
 * When it was reserved.
 */
created_at: string, 
/**
 * Folder of its bundle.
 */
dir: string, 
/**
 * Random; an action from outside (a notification) must carry it.
 */
nonce: string, 
/**
 * Folders its documents must be in.
 */
roots: Array<string>, 
/**
 * When the user looked at it first.
 */
viewed_at: string | null, 
/**
 * When it was decided.
 */
decided_at: string | null, 
/**
 * Why it was rejected.
 */
reason: string, };

/**
 * Which proposal; the newest that waits when empty, or else the newest.
 */
export type ProposalShowInput = { 
/**
 * Its id.
 */
id?: string | null, 
/**
 * The project whose newest is meant.
 */
project?: string | null, };

/**
 * A proposal for review.
 */
export type ProposalShown = { 
/**
 * Its documents.
 */
documents: Array<ShownDocument>, 
/**
 * The scores come from a built-in simulation.
 */
simulated: boolean, 
/**
 * None was named and none waits: this is the newest one that was decided.
 */
instead: boolean, 
/**
 * `20261129-031500`, with `-2`, `-3`, … when one exists already. UTC.
 */
id: string, 
/**
 * The night that made it.
 */
night: number, 
/**
 * Id of the project.
 */
project: string, 
/**
 * Where it stands.
 */
state: ProposalState, 
/**
 * When it was reserved.
 */
created_at: string, 
/**
 * Folder of its bundle.
 */
dir: string, 
/**
 * Random; an action from outside (a notification) must carry it.
 */
nonce: string, 
/**
 * Folders its documents must be in.
 */
roots: Array<string>, 
/**
 * When the user looked at it first.
 */
viewed_at: string | null, 
/**
 * When it was decided.
 */
decided_at: string | null, 
/**
 * Why it was rejected.
 */
reason: string, };

/**
 * Where a proposal stands.
 */
export type ProposalState = "draft" | "pending" | "partly_adopted" | "adopted" | "rejected" | "superseded" | "rolled_back";

/**
 * What is to be deleted.
 */
export type Purge = { "project": string } | { "evidence": { 
/**
 * Only of this project, by id; transcripts are read again for all.
 */
project: string | null, 
/**
 * Only what was used last before.
 */
before: string | null, } } | "everything";

/**
 * What is deleted.
 */
export type PurgeInput = { 
/**
 * Everything of one project, or with `evidence` only that.
 */
project?: string | null, 
/**
 * Prompts, replies and digests, of every project when none is named; verdicts, proposals and backups stay.
 */
evidence?: boolean, 
/**
 * Everything.
 */
everything?: boolean, 
/**
 * Do it; otherwise only show what would be deleted.
 */
apply?: boolean, };

/**
 * Something to know before data is deleted.
 */
export type PurgeNote = { 
/**
 * Names what it says, for whoever says it in other words.
 */
code: string, 
/**
 * The folder or the number it is about; empty when there is none.
 */
about: string, 
/**
 * One sentence.
 */
message: string, };

/**
 * What a purge deletes.
 */
export type PurgePlan = { 
/**
 * What was asked for.
 */
what: Purge, 
/**
 * Rows that are deleted, by table. For evidence, `blob` counts bodies.
 */
rows: { [key in string]: number }, 
/**
 * Folders that are deleted.
 */
folders: Array<string>, 
/**
 * Files that are deleted.
 */
files: Array<string>, 
/**
 * Bytes of these folders and files.
 */
bytes: number, 
/**
 * What the user should know before it is applied.
 */
notes: Array<PurgeNote>, };

/**
 * What was, or would be, deleted.
 */
export type Purged = { 
/**
 * Whether it was done.
 */
applied: boolean, 
/**
 * What, in one sentence.
 */
message: string, 
/**
 * What goes: rows, folders, files, and what to know about it.
 */
detail: PurgePlan, };

/**
 * The open questions of a project.
 */
export type Questions = { 
/**
 * The folder they lie in.
 */
folder: string, 
/**
 * Where answers go: one file per question, named by its id.
 */
answers: string, 
/**
 * The questions as in `pending.json`, each with whether its answer file is there and why it is
 * no answer.
 */
pending: Array<{ id: string, answer_file: string, max_tokens: number, prompt: string, kind: string, sample: number, refused: string | null, answered: boolean }>, 
/**
 * The same for a person to read.
 */
prompts: string, };

/**
 * One document that was written.
 */
export type Receipt = { 
/**
 * Its id in the store.
 */
id: number, 
/**
 * The adoption that wrote it.
 */
adoption: number, 
/**
 * The proposal it came from.
 */
proposal: string, 
/**
 * Id of the project.
 */
project: string, 
/**
 * Id of the target within the proposal.
 */
target: string, 
/**
 * Where the agent looks for the document.
 */
live_path: string, 
/**
 * The file that was written.
 */
real_path: string, 
/**
 * SHA-256 before; empty when there was no file. The bytes are in [`crate::blobs`].
 */
sha256_before: string, 
/**
 * SHA-256 after; empty when the file was removed. The bytes are in [`crate::blobs`].
 */
sha256_after: string, 
/**
 * Permission bits before; `None` when there was no file.
 */
mode_before: number | null, 
/**
 * Folders that were made for it, outermost first.
 */
created_dirs: Array<string>, 
/**
 * A plain copy of the bytes before; empty when there was no file.
 */
backup_path: string, 
/**
 * The edits that were written.
 */
edits: Array<Edit>, 
/**
 * When it was written.
 */
adopted_at: string, 
/**
 * When it was rolled back.
 */
undone_at: string | null, };

/**
 * Which night is recorded.
 */
export type RecordInput = { 
/**
 * Its id; the newest of the project when empty.
 */
id?: number | null, 
/**
 * The project whose newest is meant.
 */
project?: string | null, 
/**
 * The file; it is replaced.
 */
to: string, };

/**
 * What was recorded.
 */
export type Recorded = { 
/**
 * The night.
 */
id: number, 
/**
 * The file.
 */
file: string, 
/**
 * How many replies are in it.
 */
replies: number, 
/**
 * What goes through the night again, for a shell.
 */
command: string, };

/**
 * An answer that is there and was not taken.
 */
export type RefusedAnswer = { 
/**
 * Id of its question.
 */
id: string, 
/**
 * Why.
 */
reason: string, };

/**
 * What is rejected.
 */
export type RejectInput = { 
/**
 * Id of the proposal; the newest that waits when empty.
 */
id?: string | null, 
/**
 * The project whose newest is meant.
 */
project?: string | null, 
/**
 * Ids of documents; all when empty.
 */
targets?: Array<string>, 
/**
 * Numbers of rules; all when empty.
 */
rules?: Array<number>, 
/**
 * Why; the optimizer is reminded of it.
 */
reason?: string, };

/**
 * What was rejected.
 */
export type Rejected = { 
/**
 * Id of the proposal.
 */
proposal: string, 
/**
 * Ids of the documents.
 */
targets: Array<string>, 
/**
 * Which rules of them, and whether any is left.
 */
documents: Array<RejectedRules>, 
/**
 * The reason.
 */
reason: string, };

/**
 * What was said no to in one document.
 */
export type RejectedRules = { 
/**
 * Id of the target.
 */
target: string, 
/**
 * Numbers of the rules.
 */
rules: Array<number>, 
/**
 * No rule of it is left: the document does not wait any more.
 */
closed: boolean, };

/**
 * Which proposal.
 */
export type ReopenInput = { 
/**
 * Its id.
 */
id: string, };

/**
 * What waits again.
 */
export type Reopened = { 
/**
 * Id of the proposal.
 */
proposal: string, 
/**
 * Ids of the documents that wait now.
 */
targets: Array<string>, };

/**
 * A tool with its fixed result.
 */
export type ReplayTool = { 
/**
 * What `tool_called` names.
 */
name: string, 
/**
 * What the model is told that it does; empty for a general sentence.
 */
description?: string, 
/**
 * What every call of it gives; empty for a general sentence.
 */
result?: string, };

/**
 * Both replies to one task. `None`: nothing is kept of it any more, or it was never asked.
 */
export type Replies = { 
/**
 * Under the document as it was.
 */
before: Reply | null, 
/**
 * Under the proposed document.
 */
after: Reply | null, };

/**
 * One reply with its score.
 */
export type Reply = { 
/**
 * The reply; empty when there was none.
 */
text: string, 
/**
 * Why it was scored as it was, or the code of the error in the place of a score; with the tools that
 * were called, if any were offered.
 */
why: string, };

/**
 * The report.
 */
export type Report = { 
/**
 * All of it, as it would be written.
 */
text: string, 
/**
 * How many marks of values that were taken out stand in it.
 */
redacted: number, };

/**
 * Where the report is written.
 */
export type ReportExportInput = { 
/**
 * The file; its folder must be there.
 */
to: string, 
/**
 * Write over a file that is there.
 */
replace?: boolean, };

/**
 * A report that was written.
 */
export type ReportExported = { 
/**
 * The file.
 */
file: string, 
/**
 * Its size in bytes.
 */
bytes: number, 
/**
 * How many marks of values that were taken out stand in it.
 */
redacted: number, };

/**
 * A night that was asked for.
 */
export type Requested = { 
/**
 * Id of the project.
 */
project: string, 
/**
 * Whether somebody is there to run it now.
 */
supervised: boolean, 
/**
 * What happens, in one sentence.
 */
message: string, };

/**
 * What a database is restored from.
 */
export type RestoreInput = { 
/**
 * The copy; the newest sound one when empty.
 */
from?: string | null, 
/**
 * Do it; otherwise only show what would be done.
 */
apply?: boolean, };

/**
 * What an agent does with old sessions.
 */
export type Retention = { "policy": "deletes", 
/**
 * Days a session is kept.
 */
days: number, 
/**
 * The agent's settings file that says so; `None` when it is the agent's default.
 */
setting: string | null, } | { "policy": "keeps_none", 
/**
 * The agent's settings file that says so.
 */
setting: string, } | { "policy": "keeps" } | { "policy": "unknown" };

/**
 * Whether trying again can help.
 */
export type Retry = "permanent" | "temporary";

/**
 * What is taken back.
 */
export type RollbackInput = { 
/**
 * Id of the proposal; the newest adopted one of the project when empty.
 */
id?: string | null, 
/**
 * The project.
 */
project?: string | null, 
/**
 * Only show what would be written.
 */
plan_only?: boolean, };

/**
 * What was, or would be, taken back.
 */
export type RolledBack = { 
/**
 * Id of the proposal.
 */
proposal: string, 
/**
 * The files that get their earlier bytes back.
 */
files: Array<string>, 
/**
 * Whether it was done; otherwise only planned.
 */
applied: boolean, };

/**
 * One rule of a proposal.
 */
export type Rule = { 
/**
 * Its number over the whole proposal, from 1.
 */
number: number, 
/**
 * You said no to it; it is adopted only when it is named.
 */
rejected: boolean, 
/**
 * Corrections behind it, in the user's own redacted words; empty once they have expired.
 */
quotes: Array<string>, 
/**
 * Whether it was adopted and still stands.
 */
adopted: boolean, 
/**
 * What to do.
 */
op: EditOp, 
/**
 * The rule to add, or the rule that replaces the anchored one. Empty for a delete.
 */
content: string, 
/**
 * The rule an edit refers to: its whole text, or a part that occurs in exactly one rule.
 */
anchor: string, 
/**
 * Why, in the optimizer's words.
 */
rationale: string, 
/**
 * The tasks whose failures led to this edit.
 */
tasks: Array<string>, 
/**
 * The human turns behind those tasks.
 */
turns: Array<SourceTurn>, };

/**
 * What is asked of a night.
 */
export type RunInput = { 
/**
 * The project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Tasks given in a file.
 */
tasks_file?: string | null, 
/**
 * Spend like a night, propose nothing.
 */
rehearsal?: boolean, 
/**
 * Go on with the night that was stopped, and begin none.
 */
resume?: boolean, 
/**
 * Look once more at what earlier nights have dealt with.
 */
again?: boolean, 
/**
 * It is the night of the project's schedule, which runs once.
 */
scheduled?: ScheduledNight | null, };

/**
 * A night and the exit code it stands for.
 */
export type RunOutput = { 
/**
 * The report.
 */
report: NightReport, 
/**
 * Exit code of the command.
 */
exit_code: number, 
/**
 * The project had no night before.
 */
first: boolean, };

/**
 * A night at work.
 */
export type Running = { 
/**
 * Its id; empty before it is written down.
 */
night: number | null, 
/**
 * When it began.
 */
since: string | null, 
/**
 * The stage it is at, by its name in the store, for example `claude/baseline`.
 */
stage: string | null, 
/**
 * Calls of that stage that have their result.
 */
calls_done: number, 
/**
 * Calls of that stage.
 */
calls: number, 
/**
 * Calls the whole night has made.
 */
calls_of_night: number, 
/**
 * Calls it will have had in the end, at most; empty until its tasks are found.
 */
calls_expected: number | null, 
/**
 * Seconds it still takes, at most and at the pace so far; empty until there is a pace.
 */
seconds_left: number | null, 
/**
 * The same in minutes, rounded up as coarsely as it is known; this is what is shown.
 */
minutes_left: number | null, 
/**
 * Tokens it has used.
 */
tokens: number, 
/**
 * It was started by the schedule or on request, rather than by another program.
 */
supervised: boolean, };

/**
 * What is scheduled.
 */
export type ScheduleInput = { 
/**
 * The project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Only show the line.
 */
plan_only?: boolean, 
/**
 * The program to start: the one that is running.
 */
program: string, };

/**
 * The schedule after a change.
 */
export type Scheduled = { 
/**
 * Whether the crontab was changed.
 */
changed: boolean, 
/**
 * What happened, in one sentence.
 */
message: string, 
/**
 * The line of this project; empty when it has none.
 */
line: string, 
/**
 * Every line of ours that is there now.
 */
entries: Array<string>, 
/**
 * Lines of the reference system, which run its own nights.
 */
reference_entries: Array<string>, 
/**
 * What would fail tonight, as far as can be told now.
 */
warnings: Array<string>, };

/**
 * Which night of its schedule a run is.
 */
export type ScheduledNight = { 
/**
 * The local time of its rule; the latest that has come when empty, as for a run that cron starts.
 */
slot: string | null, 
/**
 * It was missed and is caught up.
 */
caught_up: boolean, 
/**
 * When it must be over.
 */
finish_by: string | null, };

/**
 * A key on its way into the keyring. It is read, and never written or shown.
 */
export type Secret = string;

/**
 * One session in a harvest.
 */
export type SessionRow = { 
/**
 * The agent that recorded it.
 */
agent: Agent, 
/**
 * Its id as the agent names it.
 */
id: string, 
/**
 * When its first turn was written.
 */
started: string | null, 
/**
 * The first words somebody typed in it, redacted, on one line.
 */
first_words: string, 
/**
 * How many turns a person typed.
 */
turns: number, 
/**
 * How many turns each author wrote: the person, the agent, tools, the agent's program, and
 * programs in the person's place. Only the first two have words here.
 */
wrote: { [key in Author]?: number }, 
/**
 * How many of them an earlier night has looked at.
 */
used: number, };

/**
 * A setting to change.
 */
export type SetInput = { 
/**
 * Its name.
 */
key: string, 
/**
 * Its new value as text; `None` takes it out of the file.
 */
value?: string | null, 
/**
 * Change it for this project only.
 */
for_project?: boolean, 
/**
 * The project.
 */
project?: string | null, };

/**
 * A setting that changed.
 */
export type SettingChanged = { 
/**
 * Its name.
 */
key: string, 
/**
 * What it was.
 */
before: JsonValue, 
/**
 * What it is.
 */
after: JsonValue, };

/**
 * One setting with its value.
 */
export type SettingRow = { 
/**
 * Its name.
 */
key: string, 
/**
 * The value that holds.
 */
value: JsonValue, 
/**
 * The layer that decided.
 */
layer: Layer, 
/**
 * What it does.
 */
text: string, 
/**
 * The words it may be, when these are few; empty for anything else.
 */
choices: Array<string>, 
/**
 * The file it was written to, when it was just changed.
 */
file: string | null, 
/**
 * What was not used, and why; only on the first row.
 */
warnings: Array<string>, };

/**
 * One document of a proposal, for review.
 */
export type ShownDocument = { 
/**
 * Id of the target.
 */
target: string, 
/**
 * The agent that reads it.
 */
agent: Agent, 
/**
 * Skill or memory.
 */
kind: TargetKind, 
/**
 * Where the agent looks for it.
 */
path: string, 
/**
 * `pending`, `adopted`, …
 */
state: TargetState, 
/**
 * Why it was rejected; empty when it was not, or when no reason was given.
 */
reason: string, 
/**
 * The verdict in a sentence.
 */
sentence: string, 
/**
 * Held-out score of the document as it is.
 */
before: number | null, 
/**
 * Held-out score of the proposed document.
 */
after: number | null, 
/**
 * The per-task table.
 */
decision: Decision | null, 
/**
 * The requests of the tasks in the table, redacted, by id.
 */
requests: { [key in string]: string }, 
/**
 * What was answered to these tasks before and after, by id; empty once the replies have expired.
 */
replies: { [key in string]: Replies }, 
/**
 * Rules with the numbers they are chosen by.
 */
rules: Array<Rule>, 
/**
 * What the scan found.
 */
flags: Array<{ kind: FlagKind, line: number, excerpt: string, sentence: string }>, 
/**
 * What the loader would warn about.
 */
warnings: Array<string> | null, 
/**
 * The document as it was when the proposal was made.
 */
text_before: string, 
/**
 * What the document becomes, or became: with the rules that you did not reject while it waits, with those
 * that were taken once it is adopted, else as it was proposed.
 */
text_after: string, 
/**
 * Both documents line by line.
 */
diff: Array<DiffLine>, 
/**
 * Whether the file is still as it was; otherwise what waits cannot be adopted.
 */
unchanged: boolean, 
/**
 * The file is below the project's root and a repository's: the change is everyone's once it is
 * committed, and nothing is committed for the user.
 */
under_version_control: boolean, };

/**
 * Bytes on disk, by what they are.
 */
export type Size = { 
/**
 * The database with its journal.
 */
database: number, 
/**
 * Copies of the database made before migrations.
 */
copies: number, 
/**
 * Staged bundles.
 */
staging: number, 
/**
 * Documents of the user before adoptions.
 */
backups: number, 
/**
 * Questions and answers of the hand-off backend.
 */
handoff: number, 
/**
 * The log: what the app said, and what nights printed.
 */
log: number, 
/**
 * All of the above.
 */
total: number, };

/**
 * Something that was left out of the harvest, counted.
 */
export type SkipCount = { 
/**
 * Whose transcripts.
 */
agent: Agent, 
/**
 * Stable name of the reason.
 */
reason: string, 
/**
 * What one count stands for.
 */
unit: Unit, 
/**
 * One sentence.
 */
sentence: string, 
/**
 * How often.
 */
count: number, };

/**
 * A folder that was looked through.
 */
export type SourceFolder = { 
/**
 * The folder.
 */
folder: string, 
/**
 * Whether it is there.
 */
present: boolean, 
/**
 * Transcript files in it.
 */
files: number, };

/**
 * One agent in a harvest.
 */
export type SourceStatus = { 
/**
 * The agent.
 */
agent: Agent, 
/**
 * Its name for a person.
 */
title: string, 
/**
 * Whether one of its folders is there.
 */
present: boolean, 
/**
 * The folders that were looked through.
 */
looked: Array<SourceFolder>, 
/**
 * Sessions of the project.
 */
sessions: number, 
/**
 * When the last turn of any project was written.
 */
newest: string | null, 
/**
 * What was left out, by reason.
 */
skipped: Array<SkipCount>, 
/**
 * Record types this version does not know.
 */
unknown_records: Array<UnknownType>, 
/**
 * What the agent does with old sessions.
 */
retention: Retention, 
/**
 * Why its format has probably changed, if so.
 */
warning: SourceWarning | null, };

/**
 * One human turn that a task or an edit came from.
 */
export type SourceTurn = { 
/**
 * Session id as the agent names it.
 */
session: string, 
/**
 * Message id as the agent names it, or the position of the turn.
 */
turn: string, };

/**
 * Something about a source that deserves a look.
 */
export type SourceWarning = { 
/**
 * In how many of the newest sessions no word of a person was found.
 */
sessions: number, 
/**
 * One sentence.
 */
message: string, 
/**
 * What to do.
 */
guidance: string, };

/**
 * What a night has spent.
 */
export type Spend = { 
/**
 * Tries, whatever became of them.
 */
calls: number, 
/**
 * Tokens: as used, or as reserved where that is not known.
 */
tokens: number, 
/**
 * Of these, how many came from a cache of the provider.
 */
cached_tokens: number, 
/**
 * Millionths of the currency, in the same way.
 */
cost_micros: number, 
/**
 * Of these tries, how many have an unknown fate.
 */
unknown: number, 
/**
 * Of these tries, how many are under way.
 */
open: number, 
/**
 * Thousandths of requests that providers bill apart from tokens.
 */
request_thousandths: number, };

/**
 * What is shown.
 */
export type SpendInput = { 
/**
 * Of one project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Of every project.
 */
everywhere?: boolean, 
/**
 * At most so many months, the newest; 0 for twelve.
 */
months?: number, };

/**
 * What was spent.
 */
export type Spent = { 
/**
 * One for each month and project, the newest month first.
 */
rows: Array<MonthRow>, 
/**
 * All of them together.
 */
total: Spend, };

/**
 * One stage.
 */
export type StageRow = { 
/**
 * Calls by state.
 */
calls: { [key in string]: number }, 
/**
 * Whether nothing of it is left to do. A stage of questions has no output of its own.
 */
done: boolean, 
/**
 * What it spent.
 */
spend: Spend, 
/**
 * Unique within the night, for example `attempt:baseline`.
 */
name: string, 
/**
 * Order of planning, from 0.
 */
position: number, 
/**
 * Where it stands.
 */
state: StageState, 
/**
 * Hash of its output; the body may have expired.
 */
output: string | null, 
/**
 * When its calls were written.
 */
planned_at: string, 
/**
 * When its output was stored.
 */
done_at: string | null, };

/**
 * Where a stage stands.
 */
export type StageState = "planned" | "done";

/**
 * Where a project stands.
 */
export type Status = { 
/**
 * Number of the last night that had tasks.
 */
night: number, 
/**
 * How many nights there were, with or without tasks.
 */
nights: number, 
/**
 * The database.
 */
state_path: string, 
/**
 * Folder of the project.
 */
project: string, 
/**
 * The newest five nights, oldest first.
 */
history_tail: Array<JsonValue>, 
/**
 * Folder of the newest proposal that waits.
 */
latest_staging: string | null, 
/**
 * The reference's slow memory; this version keeps none.
 */
slow_memory_chars: number, 
/**
 * Skills that wait for a decision.
 */
staged_skills: Array<string>, 
/**
 * Documents that were adopted.
 */
adopted_skills: Array<string>, 
/**
 * Whether a skill or memory proposal waits.
 */
has_managed_proposal: boolean, 
/**
 * Id of the newest proposal that waits.
 */
proposal: string | null, 
/**
 * A file of it has changed since it was proposed: it cannot be adopted any more.
 */
stale: boolean, 
/**
 * Who works on the project now, in words.
 */
running: string | null, 
/**
 * The unfinished night, if there is one.
 */
unfinished: NightRow | null, 
/**
 * The local time at which cron runs the night of this project every day, as `HH:MM`; the five fields
 * of its line when that is not every day.
 */
scheduled: string | null, 
/**
 * Its next nights, as the app or the daemon starts them; none when it is not to run by itself.
 */
upcoming: Array<Upcoming>, 
/**
 * What a night would wait for if it were due now, in words.
 */
waits: Array<string>, 
/**
 * Conditions that cannot be looked at now; they count as met.
 */
unknown: Array<UnknownCondition>, 
/**
 * How the last night ended, in a sentence.
 */
last: string | null, 
/**
 * Rules in the user's own words, untested, from the last night that had some.
 */
suggestions: Array<Suggestion> | null, 
/**
 * Id of that night.
 */
suggestions_of: number | null, 
/**
 * What is still missing, from the last night that said so.
 */
missing: Array<string> | null, };

/**
 * One night of an experiment.
 */
export type Step = { 
/**
 * From 0, which is the baseline.
 */
night: number, 
/**
 * Held-out score.
 */
holdout_score: number, 
/**
 * The reference's word for what the gate did.
 */
action: string, 
/**
 * Edits that were let in.
 */
n_edits: number, 
/**
 * Their text.
 */
edits: Array<string>, 
/**
 * Edits that were not.
 */
n_rejected: number, };

/**
 * A rule in the user's own words that nothing has tested yet.
 */
export type Suggestion = { 
/**
 * What the user said.
 */
words: string, 
/**
 * How often it was said, in these or nearly these words.
 */
times: number, 
/**
 * Where.
 */
turns: Array<SourceTurn>, };

/**
 * Who starts the nights that are due.
 */
export type Supervising = { "by": "here" } | { "by": "another", "who": string } | { "by": "nobody" };

/**
 * Everything at one moment.
 */
export type SupervisorState = { 
/**
 * The whole in a word.
 */
overall: Overall, 
/**
 * The first line of the tray's menu.
 */
first_line: FirstLine, 
/**
 * That line in English.
 */
sentence: string, 
/**
 * Every registered project.
 */
projects: Array<ProjectState>, 
/**
 * Proposals that wait, over all projects.
 */
pending_proposals: number, 
/**
 * The user's pause.
 */
pause: Pause | null, 
/**
 * Who starts nights.
 */
supervising: Supervising, 
/**
 * What the supervisor itself cannot do, in a sentence: the store cannot be read, sleep cannot be held off.
 */
trouble: string | null, 
/**
 * What amounts of money are in, for example `USD`; empty when the prices cannot be read.
 */
currency: string, };

/**
 * What the verdict on one document rests on.
 */
export type TargetEvidence = { 
/**
 * Id of the target; of a test of chosen rules its agent, whose documents were compared together.
 */
target: string, 
/**
 * The requests of the tasks it was compared on, redacted, by id.
 */
requests: { [key in string]: string }, 
/**
 * What was answered to these tasks before and after, by id; empty once the replies have expired.
 */
replies: { [key in string]: Replies }, };

/**
 * What kind of document a target is. The words are those of edits and reports.
 */
export type TargetKind = "skill" | "memory";

/**
 * One document in the report.
 */
export type TargetReport = { 
/**
 * Id of the target.
 */
id: string, 
/**
 * Its agent.
 */
agent: Agent, 
/**
 * Skill or memory.
 */
kind: TargetKind, 
/**
 * Where the agent looks for it.
 */
path: string, 
/**
 * Held-out tasks it was compared on.
 */
n_validation: number, 
/**
 * The verdict in a sentence.
 */
sentence: string, 
/**
 * The gate's word, when something was tried.
 */
decision: Decision | null, 
/**
 * Edits of the candidate that was let in.
 */
applied: Array<Edit>, 
/**
 * Edits that did not help.
 */
rejected: Array<Edit>, 
/**
 * Edits that could not be applied, and why.
 */
unmatched: Array<[Edit, Unmatched]>, 
/**
 * The optimizer's reply could not be read.
 */
unreadable: boolean, 
/**
 * What the scan of the proposed text found; each needs a confirmation.
 */
flags: Array<{ kind: FlagKind, line: number, excerpt: string, sentence: string }>, 
/**
 * Why it was not staged although it improved.
 */
not_staged?: string | null, };

/**
 * One document of a proposal in a list.
 */
export type TargetRow = { 
/**
 * Id of the target.
 */
id: string, 
/**
 * Where the agent looks for it.
 */
path: string, 
/**
 * Held-out score of the document as it is.
 */
before: number | null, 
/**
 * Held-out score of the proposed document.
 */
after: number | null, 
/**
 * Where it stands.
 */
state: TargetState, 
/**
 * How many rules it changes.
 */
rules: number, 
/**
 * How many places of it the scan has flagged: adopting it needs a confirmation.
 */
flags: number, 
/**
 * How many of them are adopted and stand.
 */
adopted: number, 
/**
 * It waits, and its file has changed since it was proposed: it cannot be adopted any more.
 */
stale: boolean, };

/**
 * Where one target of a proposal stands.
 */
export type TargetState = "pending" | "adopted" | "rejected" | "superseded" | "rolled_back";

/**
 * One request that is replayed and judged.
 */
export type Task = { id: string, project: string, intent: string, context_excerpt: string, system: string, attempted_solution: string, outcome: TaskOutcome, reference_kind: string, reference: JsonValue, judge: JsonValue, tools?: Array<ReplayTool>, tags: Array<string>, source_sessions: Array<string>, split: string, origin: Origin, derived_from: string, skill_hint: string, legacy_id?: string, agent?: Agent | null, source_turns?: Array<SourceTurn>, cluster?: string, };

/**
 * How the sessions a task came from ended, as far as the user's words tell.
 */
export type TaskOutcome = "success" | "fail" | "mixed" | "unknown";

/**
 * What a user agrees to before nights ask a provider.
 */
export type Terms = { 
/**
 * The provider, as `models.terms_accepted` names it: `claude`, `anthropic:api.anthropic.com`.
 */
provider: string, 
/**
 * What nights do there and who decides about it, one sentence.
 */
about: string, 
/**
 * Where the terms are.
 */
address: string, };

/**
 * What came of a test.
 */
export type TestedBackend = { 
/**
 * Its name in the settings.
 */
backend: string, 
/**
 * What it does in a night: `target`, `optimizer`, `judge`; empty when nothing.
 */
sides: Array<string>, 
/**
 * The model that was asked for.
 */
asked_model: string, 
/**
 * Its address or program.
 */
address: string, 
/**
 * What it answered; `None` when it did not, or when a person answers.
 */
trial: Trial | null, 
/**
 * Why it cannot be used.
 */
problem: Problem | null, };

/**
 * A folder to copy or move to.
 */
export type ToInput = { 
/**
 * The folder; must be new or empty.
 */
to: string, };

/**
 * What the next night would do, and of which project.
 */
export type Tonight = { 
/**
 * The name of the project, where several were looked at.
 */
project: string | null, 
/**
 * What its night would do.
 */
expected: Expected, };

/**
 * What came of the question.
 */
export type Trial = { 
/**
 * The beginning of the reply.
 */
reply: string, 
/**
 * The model that says it answered.
 */
model: string, 
/**
 * From the question to the reply.
 */
took_ms: number, 
/**
 * Nobody is paid for its replies.
 */
free: boolean, 
/**
 * Millionths of the currency; `None` when no price is known.
 */
cost_micros: number | null, 
/**
 * Thousandths of requests that the provider bills apart from tokens.
 */
request_thousandths: number, 
/**
 * Tokens of the messages, cached ones included.
 */
input_tokens: number | null, 
/**
 * Of these, how many came from a cache of the provider.
 */
cached_tokens: number | null, 
/**
 * Tokens of the reply, hidden reasoning included.
 */
output_tokens: number | null, };

/**
 * What a [`Reason`] counts.
 */
export type Unit = "file" | "session" | "turn" | "record";

/**
 * A condition that could not be looked at. It counts as met.
 */
export type UnknownCondition = "power" | "network" | "idle" | "sessions";

/**
 * A record type this version does not know.
 */
export type UnknownType = { 
/**
 * Its name.
 */
type: string, 
/**
 * Version of the agent that wrote it; empty when the transcript does not say.
 */
version: string, 
/**
 * How often it was met.
 */
count: number, };

/**
 * Why an edit did not apply.
 */
export type Unmatched = "blank" | "duplicate" | "anchor_absent" | "anchor_ambiguous" | "identical" | "redacted" | "marker" | "open_comment" | "control_character" | "too_long";

/**
 * What is taken off the schedule.
 */
export type UnscheduleInput = { 
/**
 * The project; the folder the user is in when empty.
 */
project?: string | null, 
/**
 * Every project.
 */
all?: boolean, };

/**
 * One of the next nights.
 */
export type Upcoming = { 
/**
 * When it begins, a random delay included.
 */
at: string, 
/**
 * As somebody in the zone of the schedule would say it now: "tomorrow 03:17, over by 07:00".
 */
words: string, };

/**
 * What the scores say about the candidate.
 */
export type Verdict = { "kind": "better" } | { "kind": "tie" } | { "kind": "worse" } | { "kind": "indeterminate", 
/**
 * Why, to complete "too little to tell (…)".
 */
reason: string, };

/**
 * What a night waits for.
 */
export type Wait = { "for": "power" } | { "for": "unmetered_network" } | { "for": "idle" } | { "for": "quiet_hours" } | { "for": "sessions", 
/**
 * How many there are.
 */
have: number, 
/**
 * How many are asked for.
 */
want: number, };

/**
 * Which project; the folder the user is in when empty.
 */
export type Which = { 
/**
 * Its folder.
 */
project?: string | null, };

/**
 * Why a night that is due, or was asked for, does not run.
 */
export type Why = { "why": "condition" } & Wait | { "why": "provider", 
/**
 * Name of the project whose night runs.
 */
busy: string, } | { "why": "busy", 
/**
 * Which, in words.
 */
holder: string, } | { "why": "put_off", 
/**
 * Until when.
 */
until: string, 
/**
 * What the last try said, in a sentence.
 */
reason: string, } | { "why": "folder_missing" } | { "why": "nobody_supervises" };

/**
 * The windows there are.
 */
export type WindowName = "overview" | "review" | "project" | "night" | "handoff" | "settings" | "first-run";
