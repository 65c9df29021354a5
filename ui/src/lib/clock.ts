/** Times of day as fields of a page have them: `03:17`. */
export function clock(hour: number, minute: number): string {
  return [hour, minute].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Hour and minute of such a text; `null` when it is none, as while somebody is typing. */
export function ofClock(text: string): [hour: number, minute: number] | null {
  const found = /^\s*(\d{1,2}):(\d{2})\s*$/.exec(text);
  const [hour, minute] = [Number(found?.[1]), Number(found?.[2])];
  return found && hour < 24 && minute < 60 ? [hour, minute] : null;
}
