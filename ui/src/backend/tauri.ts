/** The engine behind Tauri's bridge. */
import { invoke } from '@tauri-apps/api/core';
import { getCurrentWebview } from '@tauri-apps/api/webview';

import {
  asProblem,
  type Backend,
  type BackendEvent,
  type CommandName,
  type Input,
  type Output,
  type ShellCalls,
} from './interface';

export class TauriBackend implements Backend {
  async call<C extends CommandName>(command: C, input: Input<C>): Promise<Output<C>> {
    try {
      return await invoke<Output<C>>('execute', { command: { command, input } });
    } catch (thrown) {
      throw asProblem(thrown);
    }
  }

  async shell<S extends keyof ShellCalls>(
    call: S,
    input: ShellCalls[S]['input'],
  ): Promise<ShellCalls[S]['output']> {
    try {
      return await invoke<ShellCalls[S]['output']>('shell', { call: { call, input } });
    } catch (thrown) {
      throw asProblem(thrown);
    }
  }

  subscribe(listener: (event: BackendEvent) => void): () => void {
    let ended = false;
    // What is told to this window; some of it is for no other.
    const listening = getCurrentWebview().listen<BackendEvent>('skillopt', (event) => {
      if (!ended) listener(event.payload);
    });
    return () => {
      ended = true;
      void listening.then((stop) => stop());
    };
  }
}
