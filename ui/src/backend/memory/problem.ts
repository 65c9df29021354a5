import type { Problem } from '../interface';

/** A problem that asks for a change by somebody. */
export function problem(code: string, message: string, guidance: string): Problem {
  return { code, message, guidance, retry: 'permanent' };
}
