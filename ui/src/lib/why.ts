/** Why a night waits, in words. */
import type { Why } from '../backend';
import { run } from './format';
import type { Strings } from './strings/en';

export function inWords(why: Why, now: Date, t: Strings): string {
  switch (why.why) {
    case 'condition':
      return why.for === 'sessions' ? t.why.sessions(why.have, why.want) : t.why[why.for];
    case 'provider':
      return t.why.provider(why.busy);
    case 'busy':
      return t.why.busy(why.holder);
    case 'put_off':
      return t.why.put_off(run(new Date(why.until), now, t.locale), why.reason.replace(/\.$/, ''));
    case 'folder_missing':
      return t.why.folder_missing;
    case 'nobody_supervises':
      return t.why.nobody_supervises;
  }
}
