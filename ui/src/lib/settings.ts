/** Reading settings by their names, and writing them. */
import { backend, type JsonValue, type SettingRow } from '../backend';

/** The value that holds; `undefined` when this version has no such setting. */
export function setting(rows: SettingRow[], key: string): JsonValue | undefined {
  return rows.find((row) => row.key === key)?.value;
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

/** Writes a setting, or gives it up, for this project or for every one. Rejects with a problem. */
export async function saveSetting(key: string, value: JsonValue | null, project: string | undefined): Promise<void> {
  await backend().call('config set', {
    key,
    value: value === null ? null : asText(value),
    for_project: project !== undefined,
    project: project ?? null,
  });
}
