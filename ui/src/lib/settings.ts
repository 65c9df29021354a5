/** Reading settings by their names, and writing them. */
import { backend, type JsonValue, type SettingRow } from '../backend';
import type { Strings } from './strings/en';

/** The value that holds; `undefined` when this version has no such setting. */
export function setting(rows: SettingRow[], key: string): JsonValue | undefined {
  return rows.find((row) => row.key === key)?.value;
}

/** The one that is in the currency of the prices, which stands beside its field. */
export const LIMIT_OF_MONEY = 'spends.max_cost_per_night';

/** Settings whose label says what the engine's sentence says. */
const SAID_BY_THEIR_LABEL = new Set([
  'changes.skill',
  'changes.memory',
  'changes.preferences',
  'gate.no_regression',
  'gate.min_validation_tasks',
  'spends.max_calls_per_night',
  'spends.max_minutes_per_night',
  'spends.max_tokens_per_night',
  LIMIT_OF_MONEY,
]);

/** Whether the engine's sentence on a setting would only repeat its label, or name words that are called otherwise here. */
export function needsNoSentence(key: string, words: Strings): boolean {
  return SAID_BY_THEIR_LABEL.has(key) || words.choice[key] !== undefined;
}

/** A value as the text that `config set` takes. */
export function asText(value: JsonValue): string {
  if (Array.isArray(value)) return JSON.stringify(value);
  return value === null ? '' : String(value);
}

/** Whether it cannot be changed here: something stronger than files has set it. */
export function isLocked(row: SettingRow): boolean {
  return row.layer === 'environment' || row.layer === 'flag';
}

/** Whether it is set for this project, or without one for every project. */
export function isSetHere(row: SettingRow, project: string | undefined): boolean {
  return row.layer === (project === undefined ? 'user' : 'project');
}

/**
 * Writes a setting, or gives it up, for this project or for every one. Rejects with a problem.
 *
 * Another backend is chosen, not only written down: an address or a key of the former must not reach it.
 */
export async function saveSetting(key: string, value: JsonValue | null, project: string | undefined): Promise<void> {
  if (key === 'models.backend') {
    await backend().call('backend use', {
      backend: value === null ? '' : asText(value),
      for_project: project !== undefined,
      project: project ?? null,
    });
    return;
  }
  await backend().call('config set', {
    key,
    value: value === null ? null : asText(value),
    for_project: project !== undefined,
    project: project ?? null,
  });
}
