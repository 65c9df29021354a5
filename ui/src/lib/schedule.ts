/** When the next nights run, by the hour, the minute and the days of the settings. */

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Days of the week as numbers, 0 is Sunday: `mon-fri`, `tue, sat`; every day when empty. */
export function days(text: string): Set<number> | null {
  const all = new Set([0, 1, 2, 3, 4, 5, 6]);
  const words = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
  if (words.length === 0) return all;
  const found = new Set<number>();
  for (const word of words) {
    const [first, last] = word.split('-').map((day) => DAYS.indexOf(day.slice(0, 3)));
    if (first === undefined || first < 0 || (last !== undefined && last < 0)) return null;
    for (let day = first; ; day = (day + 1) % 7) {
      found.add(day);
      if (day === (last ?? first)) break;
    }
  }
  return found;
}

/** The next `count` times after `now`, in local time. */
export function nextRuns(
  now: Date,
  hour: number,
  minute: number,
  on: Set<number>,
  count = 5,
): Date[] {
  const runs: Date[] = [];
  // Two weeks hold five runs even when there is one a week only in the first: look further then.
  for (let ahead = 0; runs.length < count && ahead <= count * 7; ahead += 1) {
    const run = new Date(now.getFullYear(), now.getMonth(), now.getDate() + ahead, hour, minute);
    if (run > now && on.has(run.getDay())) runs.push(run);
  }
  return runs;
}
