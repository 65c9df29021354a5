/** What the front end knows of the engine: its commands, the few calls of the shell, and its events. */
import type { Commands, Problem } from './generated';

export type * from './generated';

export type CommandName = keyof Commands;
export type Input<C extends CommandName> = Commands[C]['input'];
export type Output<C extends CommandName> = Commands[C]['output'];

/** Windows the shell can open. */
export type WindowName =
  | 'overview'
  | 'review'
  | 'project'
  | 'night'
  | 'handoff'
  | 'settings'
  | 'first-run';

/** Where a key for a model is. `unavailable`: this computer has no keyring that answers. */
export type CredentialState = 'stored' | 'missing' | 'locked' | 'denied' | 'unavailable';

/** Why a night that is due, or was asked for, does not run. */
export type Why =
  | { why: 'condition'; for: 'power' | 'unmetered_network' | 'idle' | 'quiet_hours' }
  | { why: 'condition'; for: 'sessions'; have: number; want: number }
  | { why: 'provider'; busy: string }
  | { why: 'busy'; holder: string }
  | { why: 'put_off'; until: string; reason: string }
  | { why: 'folder_missing' }
  | { why: 'nobody_supervises' };

/** A night at work. */
export interface Running {
  night: number | null;
  since: string | null;
  stage: string | null;
  calls_done: number;
  calls: number;
  calls_of_night: number;
  tokens: number;
}

/** What the supervisor says of one project. */
export interface ProjectState {
  id: string;
  root: string;
  nightly: boolean;
  next: { at: string } | null;
  due: boolean;
  requested: boolean;
  waits: Why[];
  running: Running | null;
  failures: number;
  problem: string | null;
}

/** What the supervisor says of everything. */
export interface SupervisorState {
  overall: 'asleep' | 'working' | 'waiting_for_review' | 'attention' | 'paused';
  projects: ProjectState[];
  pending_proposals: number;
  pause: { until: string | null } | null;
  trouble: string | null;
}

/** What the supervisor is told. `until` of a pause: an instant, or `null` for ever. */
export type SupervisorOrder =
  | { order: 'run_now'; project: string }
  | { order: 'pause'; until: string | null }
  | { order: 'resume' };

/** Calls that only the desktop shell answers. */
export interface ShellCalls {
  open_window: {
    input: { window: WindowName; project?: string; proposal?: string; night?: number };
    output: null;
  };
  supervisor_state: { input: Record<string, never>; output: SupervisorState };
  supervisor_order: { input: { order: SupervisorOrder }; output: null };
  autostart: { input: { on?: boolean }; output: boolean };
  credential_set: { input: { name: string; secret: string }; output: null };
  credential_state: { input: { name: string }; output: CredentialState };
}

/** What happens elsewhere. A hint to look again; nothing is decided from it. */
export type BackendEvent =
  | { kind: 'changed' }
  | { kind: 'progress'; project: string; stage: string; calls_done: number; calls: number }
  | { kind: 'supervisor'; state: SupervisorState };

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
