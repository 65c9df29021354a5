/** What was found of an agent, in words. */
import type { SkipCount, SourceStatus } from '../backend';
import type { Strings } from './strings/en';

/** What was left out, but for the records inside sessions, which are many and usual. */
export const leftOut = (source: SourceStatus): SkipCount[] => source.skipped.filter((row) => row.unit !== 'record');

/** What the agent does with old sessions. */
export function kept({ retention }: SourceStatus, t: Strings): string {
  return retention.policy === 'deletes' ? t.sources.deletes(retention.days) : t.sources[retention.policy];
}
