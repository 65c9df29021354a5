/** Settings as `config show` gives them, with invented values. */
import type { JsonValue, Layer, SettingRow } from '../generated';

const BACKENDS = ['mock', 'persona-sim', 'openai_compatible', 'anthropic', 'azure_openai', 'qwen', 'minimax', 'claude', 'codex', 'copilot', 'cursor', 'opencode', 'pi', 'handoff', 'cassette'];

type Definition = [key: string, value: JsonValue, text: string, choices?: string[]];

const DEFINITIONS: Definition[] = [
  ['reads.source', 'auto', 'Whose sessions are read.', ['claude', 'codex', 'copilot', 'vscode', 'cursor', 'pi', 'opencode', 'openclaw', 'devin', 'auto', 'reference-auto']],
  ['reads.scope', 'project', 'Which sessions belong to a project.', ['project', 'parents', 'all']],
  ['reads.lookback_hours', 72, 'How far back the first night looks; 0 for everything.'],
  ['reads.max_sessions_per_night', 0, 'How many sessions one night takes, the oldest first; 0 for all.'],
  ['reads.exclude', [], 'Folders and patterns of sessions that are never read.'],
  ['mines.model_miner', false, 'Whether a model finds tasks too.'],
  ['models.backend', 'claude', 'Which model is asked, and how.', BACKENDS],
  ['models.model', '', "The model's name; empty for the backend's own choice."],
  ['models.target_model', 'haiku', 'The model that does the tasks, when it is another one.'],
  ['models.optimizer_model', 'sonnet', 'The model that mines and proposes, and judges when no other does, when it is another one.'],
  ['models.endpoint', '', "The base address of the model server; empty for the backend's own."],
  ['models.api_key_env', '', 'The name of the environment variable that holds the key; never the key itself.'],
  ['changes.skill', true, 'Whether skills are improved.'],
  ['changes.memory', true, 'Whether memory files (CLAUDE.md, AGENTS.md) are improved.'],
  ['changes.target_skill_path', '', 'A skill of your own to improve instead: its SKILL.md, below the project when relative.'],
  ['changes.edit_budget', 4, 'How many edits one round proposes for a document.'],
  ['changes.preferences', '', 'What proposals should mind, in your own words.'],
  ['changes.auto_adopt', false, 'Whether a proposal that passed every check is adopted without asking.'],
  ['gate.mode', 'strict', 'Whether proposals must be better on held-out tasks.', ['strict', 'off']],
  ['gate.no_regression', false, 'Whether no single held-out task may get worse.'],
  ['gate.min_validation_tasks', 3, 'How many held-out tasks a verdict needs.'],
  ['spends.max_calls_per_night', 400, 'How many model calls one night may make.'],
  ['spends.max_minutes_per_night', 120, 'How long one night may take.'],
  ['spends.max_tokens_per_night', 400_000, 'How many tokens one night may use.'],
  ['spends.max_cost_per_night', 0, 'How much money one night may cost, in the currency of the prices; 0 for no limit in money.'],
  ['privacy.evidence_days', 30, 'How long the bodies of prompts and replies are kept.'],
  ['privacy.false_alarms', [], 'Texts that look like secrets and are none; they are never redacted.'],
  ['schedule.nightly', true, 'Whether the app or the daemon runs nights of the project by itself.'],
  ['schedule.days', '', 'The days on which a night runs; empty for every day.'],
  ['schedule.finish_by', '', 'The time of day by which a night must be over.'],
  ['schedule.battery_at_least', 50, 'How full the battery must be when there is no power; 100 waits for power, 0 asks for nothing.'],
  ['schedule.unmetered_only', true, 'Whether a night waits for a network that is not metered.'],
  ['schedule.quiet_hours', '', 'Times of day between which no night begins by itself.'],
  ['schedule.hour', 3, "The hour of the night's run, local time."],
  ['schedule.minute', 17, "The minute of the night's run."],
  ['desktop.notifications', 'all', 'Which notifications come by themselves: all, those of decisions and questions that wait, or none.', ['all', 'decisions', 'off']],
  ['desktop.silent_hours', '', 'Times of day between which no notification comes by itself; what was held back comes after them.'],
  ['desktop.language', 'system', 'The language of windows, tray and notifications; system for that of the session.', ['system', 'en', 'zh']],
  ['desktop.theme', 'system', 'The colours of the windows; system for those of the desktop.', ['system', 'light', 'dark']],
  ['desktop.tray_icon', 'auto', "For which panel the tray's icon is drawn; auto for what the desktop says.", ['auto', 'light', 'dark']],
];

/** What belongs to a backend: another one is not given it. */
const BELONGING = ['models.model', 'models.target_model', 'models.optimizer_model', 'models.endpoint', 'models.api_key_env'];

export class InventedSettings {
  private readonly user = new Map<string, JsonValue>([
    ['spends.max_cost_per_night', 1.5],
    ['models.backend', 'claude'],
  ]);
  private readonly projects = new Map<string, Map<string, JsonValue>>([
    ['/home/ana/code/webshop', new Map<string, JsonValue>([['reads.exclude', ['**/secrets/**', '/home/ana/code/webshop/customers']]])],
  ]);

  rows(project: string | null | undefined): SettingRow[] {
    return DEFINITIONS.map(([key, value, text, choices]) => {
      const ofProject = project ? this.projects.get(project)?.get(key) : undefined;
      const ofUser = this.user.get(key);
      const layer: Layer = ofProject !== undefined ? 'project' : ofUser !== undefined ? 'user' : 'default';
      return { key, value: ofProject ?? ofUser ?? value, layer, text, choices: choices ?? [], file: null, warnings: [] };
    });
  }

  /** Lets another backend answer, or gives the choice up when none is named; what belonged to the former goes with it. */
  choose(backend: string, given: Record<string, string | null | undefined>, project: string | null | undefined): void {
    const other = this.rows(project).find(({ key }) => key === 'models.backend')?.value !== backend;
    this.set('models.backend', backend || null, project);
    for (const key of BELONGING) {
      const value = given[key];
      if (value !== undefined && value !== null) this.set(key, value, project);
      // What a project says instead keeps that of the user away.
      else if (other) this.set(key, project && backend ? '' : null, project);
    }
  }

  /** Changes one; `undefined` when there is none of this name. Numbers, switches and lists are read as the engine does. */
  set(key: string, text: string | null, project: string | null | undefined): SettingRow | undefined {
    const definition = DEFINITIONS.find(([name]) => name === key);
    if (!definition) return undefined;
    const layer = project ? (this.projects.get(project) ?? new Map<string, JsonValue>()) : this.user;
    if (project) this.projects.set(project, layer);
    if (text === null) layer.delete(key);
    else layer.set(key, typeof definition[1] === 'string' ? text : (JSON.parse(text) as JsonValue));
    return this.rows(project).find((row) => row.key === key);
  }
}
