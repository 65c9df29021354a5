/** The one way from the front end to the engine. */
import type { Backend } from './interface';

export * from './interface';

let current: Backend | undefined;

/** The backend of this window; set once, before anything is shown. */
export function backend(): Backend {
  if (!current) throw new Error('the backend was not chosen yet');
  return current;
}

export function useBackend(chosen: Backend): void {
  current = chosen;
}

/** Tauri's bridge inside the app; invented data in a plain browser. */
export async function chooseBackend(): Promise<Backend> {
  if ('__TAURI_INTERNALS__' in window) {
    const { TauriBackend } = await import('./tauri');
    return new TauriBackend();
  }
  const { MemoryBackend } = await import('./memory');
  return new MemoryBackend(new URLSearchParams(location.search).get('data') ?? 'usual');
}
