/** Reading settings by their names. */
import type { JsonValue, SettingRow } from '../backend';

/** The value that holds; `undefined` when this version has no such setting. */
export function setting(rows: SettingRow[], key: string): JsonValue | undefined {
  return rows.find((row) => row.key === key)?.value;
}

/** A value as the text that `config set` takes. */
export function asText(value: JsonValue): string {
  if (Array.isArray(value)) return JSON.stringify(value);
  return value === null ? '' : String(value);
}
