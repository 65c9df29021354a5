/** What a list says of a proposal beside its name. */
import type { ProposalRow, ProposalState } from '../backend';
import type { Strings } from './strings/en';

/** Whether it can still be decided. */
export const waits = (state: ProposalState): boolean => state === 'pending' || state === 'partly_adopted';

/** Where it stands, in the words of {@link Strings.state}. */
export function stateOf(row: ProposalRow): keyof Strings['state'] {
  if (row.targets.some((target) => target.stale)) return 'stale';
  return row.state === 'pending' && row.viewed_at !== null ? 'viewed' : row.state;
}

/** How many places of what waits in it the scan has flagged. */
export function flagsOf(row: ProposalRow): number {
  return row.targets.reduce((sum, target) => sum + (target.state === 'pending' ? target.flags : 0), 0);
}
