/** What screens share: what was asked of the backend, the supervisor's state, the last thing that happened. */
import { asProblem, backend, type Problem, type SupervisorState } from '../backend';

/** Something that is loaded, and loaded again when anything changed. */
export class Loaded<T> {
  value = $state.raw<T | null>(null);
  problem = $state.raw<Problem | null>(null);
  loading = $state(true);
  private asked = 0;

  constructor(private readonly load: () => Promise<T>) {}

  async refresh(): Promise<void> {
    const mine = (this.asked += 1);
    this.loading = true;
    try {
      const value = await this.load();
      if (mine !== this.asked) return;
      this.value = value;
      this.problem = null;
    } catch (thrown) {
      if (mine !== this.asked) return;
      this.problem = asProblem(thrown);
    }
    this.loading = false;
  }
}

/** Loads when the component appears and again whenever something changed. Call it while it is made. */
export function loaded<T>(load: () => Promise<T>): Loaded<T> {
  const resource = new Loaded(load);
  $effect(() => {
    void happenings.changes;
    void resource.refresh();
  });
  return resource;
}

export interface Toast {
  text: string;
  undo?: () => Promise<void>;
}

class Happenings {
  /** Counts what changed in the store. */
  changes = $state(0);
  supervisor = $state.raw<SupervisorState | null>(null);
  /** Where the night of a project stands, by the project's id. */
  progress = $state<Record<string, { stage: string; calls_done: number; calls: number }>>({});
  toast = $state.raw<Toast | null>(null);
  now = $state(new Date());
  private leaving: ReturnType<typeof setTimeout> | undefined;

  /** Begins to listen; gives what ends it. */
  listen(): () => void {
    const stop = backend().subscribe((event) => {
      switch (event.kind) {
        case 'changed':
          this.changes += 1;
          void this.ask();
          break;
        case 'progress':
          this.progress[event.project] = event;
          break;
        case 'supervisor':
          this.supervisor = event.state;
          break;
      }
    });
    void this.ask();
    const clock = setInterval(() => (this.now = new Date()), 30_000);
    return () => {
      stop();
      clearInterval(clock);
      clearTimeout(this.leaving);
    };
  }

  /** Asks where everything stands. */
  async ask(): Promise<void> {
    try {
      this.supervisor = await backend().call('status', {});
    } catch {
      // What is wrong is said where it is asked for; here there is only nothing to add.
      this.supervisor = null;
    }
  }

  /** Says what just happened, for a while. */
  say(text: string, undo?: () => Promise<void>): void {
    clearTimeout(this.leaving);
    this.toast = undo ? { text, undo } : { text };
    this.leaving = setTimeout(() => (this.toast = null), undo ? 20_000 : 6_000);
  }

  dismiss(): void {
    this.toast = null;
  }
}

export const happenings = new Happenings();
