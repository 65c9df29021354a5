/** Numbers, money and times in words. */
import type { Strings } from './strings/en';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Making a formatter takes longer than drawing a row: each is made once. */
function once<Options, Made>(make: (locale: string, options: Options) => Made): (locale: string, options?: Options) => Made {
  const made = new Map<string, Made>();
  return (locale, options) => {
    const key = locale + JSON.stringify(options);
    let formatter = made.get(key);
    if (formatter === undefined) {
      formatter = make(locale, options as Options);
      made.set(key, formatter);
    }
    return formatter;
  };
}
const numbers = once((locale: string, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options));
const dates = once((locale: string, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options));
const relatives = once(
  (locale: string, options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options),
);

/** A score from 0 to 1 with two digits; a dash when there is none. */
export function score(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : value.toFixed(2);
}

/** Millionths of a currency: a code of three letters, whatever the user's table of prices calls it, or empty when it is not known. */
export function money(micros: number, locale: string, currency: string): string {
  const amount = micros / 1e6;
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2 };
  if (/^[A-Za-z]{3}$/.test(currency)) return numbers(locale, { style: 'currency', currency, ...digits }).format(amount);
  return `${numbers(locale, digits).format(amount)} ${currency}`.trimEnd();
}

/** Thousandths of requests, without zeros behind them. */
export function requests(thousandths: number, locale: string): string {
  return numbers(locale, { maximumFractionDigits: 3 }).format(thousandths / 1000);
}

export function count(value: number, locale: string): string {
  return numbers(locale).format(value);
}

/** Big counts in short: 12.3K. */
export function short(value: number, locale: string): string {
  return numbers(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

export function bytes(value: number, locale: string): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return numbers(locale, {
    style: 'unit',
    unit: units[unit]!,
    unitDisplay: unit === 0 ? 'long' : 'short',
    maximumFractionDigits: size < 10 && unit > 0 ? 1 : 0,
  }).format(size);
}

/** The whole date and time, for those who point at it. */
export function exact(at: string | Date, locale: string): string {
  return dates(locale, { dateStyle: 'full', timeStyle: 'long' }).format(new Date(at));
}

/** A time as people say it: relative under a day, the day and hour beyond. */
export function time(at: string | Date, now: Date, locale: string, words: Strings['time']): string {
  const then = new Date(at);
  const away = then.getTime() - now.getTime();
  const relative = relatives(locale, { numeric: 'auto' });
  if (Math.abs(away) < MINUTE) return words.now;
  if (Math.abs(away) < HOUR) return relative.format(Math.trunc(away / MINUTE), 'minute');
  if (Math.abs(away) < DAY) return relative.format(Math.trunc(away / HOUR), 'hour');
  const sameYear = then.getFullYear() === now.getFullYear();
  return dates(locale, {
    day: 'numeric',
    month: 'short',
    ...(sameYear ? { hour: '2-digit', minute: '2-digit' } : { year: 'numeric' }),
  }).format(then);
}

/** A coming run: the day in words when it is near, and the hour. */
export function run(at: Date, now: Date, locale: string): string {
  const midnight = (day: Date): number => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime();
  const ahead = Math.round((midnight(at) - midnight(now)) / DAY);
  const clock = dates(locale, { hour: '2-digit', minute: '2-digit' }).format(at);
  const day =
    ahead < 2
      ? relatives(locale, { numeric: 'auto' }).format(ahead, 'day')
      : dates(locale, { weekday: 'long', day: 'numeric', month: 'short' }).format(at);
  return `${day}, ${clock}`;
}

/** So many minutes in words: 4 min, 1 hr 20 min. */
export function minutes(all: number, locale: string): string {
  const part = (value: number, unit: string): string => numbers(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
  return all < 60 ? part(all, 'minute') : `${part(Math.floor(all / 60), 'hour')} ${part(all % 60, 'minute')}`;
}

/** The month of a time on the clock of this computer, as the engine names months: `2026-11`. */
export function monthOf(at: Date): string {
  return `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}`;
}

/** From one time to another: 3 min 20 s. */
export function duration(from: string, to: string | Date, locale: string): string {
  const seconds = Math.max(0, Math.round((new Date(to).getTime() - new Date(from).getTime()) / 1000));
  const part = (value: number, unit: string): string =>
    numbers(locale, { style: 'unit', unit, unitDisplay: 'narrow' }).format(value);
  if (seconds < 60) return part(seconds, 'second');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${part(minutes, 'minute')} ${part(seconds % 60, 'second')}`;
  return `${part(Math.floor(minutes / 60), 'hour')} ${part(minutes % 60, 'minute')}`;
}

/** The names of projects by their ids. */
export function namesOf(projects: { id: string; name: string }[]): Record<string, string | undefined> {
  return Object.fromEntries(projects.map(({ id, name }) => [id, name]));
}

/** The last part of a path, for a title; the whole stands beside it. */
export function fileName(path: string): string {
  const parts = path.split(/[\\/]/).filter(Boolean);
  const last = parts.at(-1) ?? path;
  // Every skill's file is called SKILL.md: its folder says which one it is.
  return last === 'SKILL.md' ? (parts.at(-2) ?? last) : last;
}
