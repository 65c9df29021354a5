/** What the front end knows of the engine: its commands, the few calls of the shell, and its events. */
import type { BackendEvent, Commands, Problem, ShellCalls } from './generated';

export type * from './generated';
export { AGENTS } from './generated';

export type CommandName = keyof Commands;
export type Input<C extends CommandName> = Commands[C]['input'];
export type Output<C extends CommandName> = Commands[C]['output'];

export interface Backend {
  /** Carries out a command of the engine. Rejects with a {@link Problem}. */
  call<C extends CommandName>(command: C, input: Input<C>): Promise<Output<C>>;
  /** Asks the shell. Rejects with a {@link Problem}. */
  shell<S extends keyof ShellCalls>(
    call: S,
    input: ShellCalls[S]['input'],
  ): Promise<ShellCalls[S]['output']>;
  /** Is told what happens; gives what ends it. */
  subscribe(listener: (event: BackendEvent) => void): () => void;
}

/** Whatever was thrown, as a problem. */
export function asProblem(thrown: unknown): Problem {
  if (typeof thrown === 'object' && thrown !== null && 'code' in thrown && 'message' in thrown) {
    const { code, message, guidance, retry } = thrown as Partial<Problem>;
    return {
      code: String(code),
      message: String(message),
      guidance: guidance ?? '',
      retry: retry ?? 'permanent',
    };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'window_failed', message, guidance: '', retry: 'permanent' };
}
