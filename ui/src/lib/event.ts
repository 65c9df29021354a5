/** What happened in a night, to be read. */
import type { JsonValue } from '../backend';

/** Characters of one event: whoever wants all of it exports the night. */
const LONGEST = 400;

/** `models/answered_by` in words. */
export function kindInWords(kind: string): string {
  return kind.replaceAll('/', ': ').replaceAll('_', ' ');
}

/** A body as names with their values; what has none is left out. */
export function bodyInWords(body: JsonValue): string {
  const said: string[] = [];
  let length = 0;
  const add = (name: string, value: JsonValue): void => {
    if (length > LONGEST || value === null || value === '') return;
    if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) {
      if (value.length > 0) put(name, value.join(', '));
    } else if (typeof value === 'object') {
      for (const [key, below] of Object.entries(value)) add(name === '' ? key : `${name} ${key}`, below ?? null);
    } else {
      put(name, String(value));
    }
  };
  const put = (name: string, value: string): void => {
    const text = name === '' ? value : `${name.replaceAll('_', ' ')}: ${value}`;
    length += text.length;
    said.push(text);
  };
  add('', body);
  const whole = said.join('; ');
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
}
