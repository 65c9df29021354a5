/** What screens share: what was asked of the backend, where everything stands, the last thing that happened. */
import { asProblem, backend, type Changed, type Problem, type SupervisorState } from '../backend';
import { money } from './format';

/**
 * When something that is shown is loaded again.
 * - `store`: whenever anything was written, a running night included; for what shows that night.
 * - `standing`: when somebody did something, or when something else than the progress of a night changed.
 * - `asked`: only when somebody asks for it.
 */
export type Follows = 'store' | 'standing' | 'asked';

/** The shortest time between two looks at what others write, in milliseconds: a night writes all the time. */
export const REST = 2_000;
/** How often it is asked where everything stands, also when nobody has written anything. */
export const CLOCK = 30_000;

/** Something that is loaded, and loaded again when it has changed. */
export class Loaded<T> {
  value = $state.raw<T | null>(null);
  problem = $state.raw<Problem | null>(null);
  loading = $state(true);
  private asked = 0;
  private stale = false;
  /** What `value` was made of: the same once more is not drawn once more. */
  private text = '';

  constructor(private readonly load: () => Promise<T>) {}

  /** Loads at once; what was asked for before is not waited for. */
  async refresh(): Promise<void> {
    const mine = (this.asked += 1);
    this.stale = false;
    this.loading = true;
    try {
      const value = await this.load();
      if (mine !== this.asked) return;
      const text = JSON.stringify(value) ?? '';
      if (text !== this.text || this.value === null) [this.value, this.text] = [value, text];
      this.problem = null;
    } catch (thrown) {
      if (mine !== this.asked) return;
      this.problem = asProblem(thrown);
    }
    this.loading = false;
    if (this.stale) await this.refresh();
  }

  /** Loads, after what is being loaded now: questions that take long do not pile up. */
  again(): void {
    if (this.loading) this.stale = true;
    else void this.refresh();
  }
}

/**
 * Loads when the component appears, when something changes that `load` reads before its first `await`, and
 * as `follows` says. Call it while the component is made.
 */
export function loaded<T>(load: () => Promise<T>, follows: Follows | (() => Follows) = 'standing'): Loaded<T> {
  const resource = new Loaded(load);
  $effect(() => {
    void resource.refresh();
  });
  $effect(() => happenings.follow(typeof follows === 'string' ? follows : follows(), () => resource.again()));
  return resource;
}

export interface Toast {
  text: string;
  undo?: () => Promise<void>;
}

/** Where everything stands, without how far a running night is. */
function standing(state: SupervisorState | null): string {
  const projects = state?.projects.map((project) => ({ ...project, running: project.running?.night }));
  return JSON.stringify({ ...state, projects });
}

class Happenings {
  supervisor = $state.raw<SupervisorState | null>(null);
  /** What all prices are in, as it was last known; empty as long as it is not. */
  currency = $state('');
  toast = $state.raw<Toast | null>(null);
  now = $state(new Date());
  private leaving: ReturnType<typeof setTimeout> | undefined;
  private coming: ReturnType<typeof setTimeout> | undefined;
  private looked = 0;
  private asked = 0;
  private missed = false;
  private readonly followers: Record<'store' | 'standing', Set<() => void>> = { store: new Set(), standing: new Set() };

  /** Calls `again` when something has changed; gives what ends that. */
  follow(what: Follows, again: () => void): () => void {
    if (what === 'asked') return () => undefined;
    this.followers[what].add(again);
    return () => this.followers[what].delete(again);
  }

  /** Begins to listen; gives what ends it. */
  listen(): () => void {
    const stop = backend().subscribe((event) => {
      switch (event.kind) {
        case 'changed':
          this.changed(event.what);
          break;
        // They are for the page that takes files.
        case 'files_over':
        case 'files_dropped':
          break;
      }
    });
    const seen = (): void => {
      if (document.hidden) return;
      this.now = new Date();
      if (this.missed) this.soon();
    };
    document.addEventListener('visibilitychange', seen);
    void this.ask();
    const clock = setInterval(() => {
      this.now = new Date();
      if (!document.hidden) void this.look();
    }, CLOCK);
    return () => {
      stop();
      document.removeEventListener('visibilitychange', seen);
      clearInterval(clock);
      clearTimeout(this.leaving);
      clearTimeout(this.coming);
      this.coming = undefined;
    };
  }

  private changed(what: Changed): void {
    switch (what) {
      case 'everything':
        this.tell('store');
        this.tell('standing');
        void this.ask();
        break;
      case 'store':
        this.soon();
        break;
    }
  }

  /** Looks at what others have written, not more often than every {@link REST}, and not for nobody. */
  private soon(): void {
    this.missed = document.hidden;
    if (this.missed || this.coming !== undefined) return;
    this.coming = setTimeout(() => {
      this.coming = undefined;
      this.looked = Date.now();
      this.tell('store');
      void this.look();
    }, Math.max(0, this.looked + REST - Date.now()));
  }

  /** Asks where everything stands, and tells when something else than the progress of a night is new. */
  private async look(): Promise<void> {
    const before = standing(this.supervisor);
    await this.ask();
    if (standing(this.supervisor) !== before) this.tell('standing');
  }

  private tell(what: 'store' | 'standing'): void {
    for (const again of this.followers[what]) again();
  }

  /** Asks where everything stands. */
  private async ask(): Promise<void> {
    const mine = (this.asked += 1);
    // What is wrong is said where it is asked for; here there is only nothing to add.
    const state = await backend().call('status', {}).catch(() => null);
    if (mine !== this.asked) return;
    this.supervisor = state;
    this.currency = state?.currency || this.currency;
  }

  /** Says what just happened, for a while. */
  say(text: string, undo?: () => Promise<void>): void {
    clearTimeout(this.leaving);
    this.toast = undo ? { text, undo } : { text };
    this.leaving = setTimeout(() => (this.toast = null), undo ? 20_000 : 6_000);
  }

  /** Millionths of the currency that all prices are in: the bare number, as long as that is not known. */
  money(micros: number, locale: string): string {
    return money(micros, locale, this.currency);
  }

  dismiss(): void {
    this.toast = null;
  }
}

export const happenings = new Happenings();
