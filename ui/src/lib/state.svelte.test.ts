import { cleanup, fireEvent, render, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { useBackend, type Changed, type CommandName, type Input, type Output, type SupervisorState } from '../backend';
import { MemoryBackend } from '../backend/memory';
import KeptKey from '../parts/KeptKey.svelte';
import FirstRun from '../screens/FirstRun.svelte';
import Handoff from '../screens/Handoff.svelte';
import Overview from '../screens/Overview.svelte';
import Project from '../screens/Project.svelte';
import Settings from '../screens/Settings.svelte';
import { CLOCK, happenings, Loaded, REST } from './state.svelte';

/** Counts what is asked, and says what a test wants to be said. */
class Counted extends MemoryBackend {
  readonly asked: CommandName[] = [];
  readonly given: [CommandName, unknown][] = [];
  change: (state: SupervisorState) => void = () => undefined;

  override async call<C extends CommandName>(command: C, input: Input<C>): Promise<Output<C>> {
    this.asked.push(command);
    this.given.push([command, input]);
    const output = await super.call(command, input);
    if (command === 'status') this.change(output as SupervisorState);
    return output;
  }

  changed(what: Changed): void {
    this.tell({ kind: 'changed', what });
  }

  times(command: CommandName): number {
    return this.asked.filter((one) => one === command).length;
  }
}

const RUNNING = { night: 7, since: null, stage: 'mine', calls: 40, calls_of_night: 3, calls_expected: null, seconds_left: null, minutes_left: null, tokens: 900, supervised: true };

let engine: Counted;
let stop: () => void;
let hidden = false;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.spyOn(document, 'hidden', 'get').mockImplementation(() => hidden);
  engine = new Counted('usual');
  useBackend(engine);
  stop = happenings.listen();
  await vi.advanceTimersByTimeAsync(REST);
});
afterEach(() => {
  cleanup();
  stop();
  hidden = false;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function followers(): { store: () => number; standing: () => number } {
  const [store, standing] = [vi.fn(), vi.fn()];
  happenings.follow('store', store);
  happenings.follow('standing', standing);
  happenings.follow('asked', () => expect.unreachable('only when somebody asks'));
  return { store: () => store.mock.calls.length, standing: () => standing.mock.calls.length };
}

/** A night that writes ten times a second. */
async function write(seconds: number): Promise<void> {
  for (let turn = 0; turn < seconds * 10; turn += 1) {
    engine.changed('store');
    await vi.advanceTimersByTimeAsync(100);
  }
}

it('looks every few seconds at a night that writes all the time, and loads nothing but the night', async () => {
  let calls_done = 0;
  engine.change = (state) => Object.assign(state.projects[0]!, { running: { ...RUNNING, calls_done: (calls_done += 1) } });
  engine.changed('store');
  await vi.advanceTimersByTimeAsync(REST);
  const told = followers();
  const before = engine.times('status');
  await write(10);
  const most = 10_000 / REST + 1;
  expect(told.store()).toBeGreaterThan(2);
  expect(told.store()).toBeLessThanOrEqual(most);
  expect(engine.times('status') - before).toBeLessThanOrEqual(most);
  expect(told.standing(), 'how far it is, is part of the status').toBe(0);
  expect(happenings.supervisor?.projects[0]?.running?.calls_done).toBe(calls_done);
  // It ends.
  engine.change = () => undefined;
  engine.changed('store');
  await vi.advanceTimersByTimeAsync(REST);
  expect(told.standing()).toBe(1);
});

it('tells everything of what somebody did, at once', async () => {
  const told = followers();
  engine.changed('everything');
  expect([told.store(), told.standing()]).toEqual([1, 1]);
});

it('asks by the clock where everything stands, and tells what became of it', async () => {
  const told = followers();
  const before = engine.times('status');
  await vi.advanceTimersByTimeAsync(CLOCK);
  expect(engine.times('status')).toBe(before + 1);
  expect(told.standing()).toBe(0);
  engine.change = (state) => Object.assign(state.projects[0]!, { problem: 'Its folder is not there.' });
  await vi.advanceTimersByTimeAsync(CLOCK);
  expect([told.store(), told.standing()]).toEqual([0, 1]);
});

it('does nothing for a window that nobody sees, until somebody does', async () => {
  const told = followers();
  const before = engine.times('status');
  hidden = true;
  await write(5);
  await vi.advanceTimersByTimeAsync(CLOCK);
  expect([told.store(), engine.times('status') - before]).toEqual([0, 0]);
  hidden = false;
  document.dispatchEvent(new Event('visibilitychange'));
  await vi.advanceTimersByTimeAsync(REST);
  expect([told.store(), engine.times('status') - before]).toEqual([1, 1]);
});

it('asks no question twice at a time, and draws nothing that is as it was', async () => {
  const answers: ((value: { n: number }) => void)[] = [];
  const resource = new Loaded(() => new Promise<{ n: number }>((answer) => answers.push(answer)));
  const first = resource.refresh();
  for (let turn = 0; turn < 5; turn += 1) resource.again();
  expect(answers.length).toBe(1);
  answers[0]!({ n: 1 });
  await vi.advanceTimersByTimeAsync(0);
  expect(answers.length).toBe(2);
  const drawn = resource.value;
  answers[1]!({ n: 1 });
  await first;
  expect(resource.value).toBe(drawn);
  resource.again();
  answers[2]!({ n: 2 });
  await vi.advanceTimersByTimeAsync(0);
  expect(resource.value).toEqual({ n: 2 });
});

it('repeats no search and no estimate because something changed', async () => {
  const searches: CommandName[] = ['project find', 'backend servers', 'sleep dry-run', 'doctor', 'data size', 'log', 'report show', 'sleep harvest'];
  const counts = (): number[] => searches.map((command) => engine.times(command));
  render(FirstRun);
  render(Settings);
  render(Project, { id: 'p-7f3a91c2' });
  await vi.advanceTimersByTimeAsync(REST);
  const before = counts();
  expect(before).toEqual([1, 1, 1, 0, 1, 0, 0, 0]);
  const backends = engine.times('backend list');
  engine.changed('everything');
  await write(5);
  expect(counts()).toEqual(before);
  expect(engine.times('backend list'), 'a key may have been kept').toBe(backends + 3);
});

it('shows what the supervisor knows of a project', async () => {
  engine.change = (state) => {
    state.supervising = { by: 'nobody' };
    Object.assign(state.projects[0]!, {
      waits: [{ why: 'put_off', until: new Date().toISOString(), reason: 'Codex allows no more.' }],
      unknown: ['power'],
      missed: { slot: '2026-11-28T03:17:00', reason: 'Missed: waiting for power.' },
      problem: 'There is no time zone "Mars".',
      last: { night: null, outcome: 'failed', reason: 'The project could not be read.', ended_at: null, caught_up_for: null },
    });
  };
  engine.changed('everything');
  const { container } = render(Overview);
  await vi.advanceTimersByTimeAsync(REST);
  await tick();
  const text = container.textContent;
  for (const words of [
    'neither the app in the tray nor',
    ': Codex allows no more',
    'no reason to wait: whether there is power',
    'Missed: waiting for power.',
    'There is no time zone "Mars".',
    'The project could not be read.',
  ]) expect(text).toContain(words);
});

it('lets whoever runs nights go on when everything is answered', async () => {
  const project = (await engine.call('project list', {})).find(({ name }) => name === 'release-notes')!;
  const { container } = render(Handoff, { id: project.id });
  await vi.advanceTimersByTimeAsync(REST);
  const { pending } = await engine.call('handoff', { project: project.root });
  for (const { id } of pending) await engine.call('handoff answer', { project: project.root, id, answer: 'Yes.' });
  await vi.advanceTimersByTimeAsync(REST);
  expect(container.textContent).toContain('goes on by itself');
  expect(engine.times('night start')).toBe(0);
});

it('takes files that were let go over the window as the answers they are named by', async () => {
  const project = (await engine.call('project list', {})).find(({ name }) => name === 'release-notes')!;
  const { container } = render(Handoff, { id: project.id });
  await vi.advanceTimersByTimeAsync(REST);
  const { pending } = await engine.call('handoff', { project: project.root });
  const [first, second] = pending.map(({ id }) => id);
  const strays = Array.from({ length: 40 }, (_, at) => `/home/ana/holiday ${at}.md`);
  engine.tell({ kind: 'files_over', over: true });
  await tick();
  expect(container.querySelector('.over')).not.toBeNull();
  engine.tell({ kind: 'files_dropped', files: [`/home/ana/${first}.md`, `C:\\Users\\ana\\${second}.TXT`, ...strays] });
  await vi.advanceTimersByTimeAsync(REST);
  expect(container.querySelector('.over')).toBeNull();
  // The page has names alone; whoever is given them reads the files.
  expect(engine.given.filter(([command]) => command === 'handoff answer').map(([, input]) => input)).toEqual([
    { project: project.root, id: first, file: `/home/ana/${first}.md` },
    { project: project.root, id: second, file: `C:\\Users\\ana\\${second}.TXT` },
  ]);
  const said = container.querySelector('[role=alert]')?.textContent;
  expect(said).toContain('holiday 0.md is not named by one of these questions.');
  expect(said).toContain('Nor are 35 other files.');
  expect(said).not.toContain('holiday 5.md');
});

it('keeps the currency it knew when where everything stands cannot be asked', async () => {
  engine.change = (state) => Object.assign(state, { currency: 'EUR' });
  engine.changed('everything');
  await vi.advanceTimersByTimeAsync(0);
  expect(happenings.money(412_600, 'en-US')).toBe('€0.41');
  // Neither a failure nor prices that cannot be read say that it is another one.
  engine.change = () => {
    throw new Error('The database is busy.');
  };
  engine.changed('everything');
  await vi.advanceTimersByTimeAsync(0);
  expect(happenings.supervisor).toBeNull();
  expect(happenings.money(412_600, 'en-US')).toBe('€0.41');
  engine.change = (state) => Object.assign(state, { currency: '' });
  engine.changed('everything');
  await vi.advanceTimersByTimeAsync(0);
  expect(happenings.money(412_600, 'en-US')).toBe('€0.41');
});

it('takes no result of a backend that is not the one chosen any more', async () => {
  const { container } = render(FirstRun);
  await vi.advanceTimersByTimeAsync(REST);
  for (let step = 0; step < 2; step += 1) {
    await fireEvent.click(screen.getByRole('button', { name: 'Next' }));
    await vi.advanceTimersByTimeAsync(0);
  }
  const next = (): HTMLButtonElement => container.querySelector<HTMLButtonElement>('button[aria-describedby=missing], button.primary')!;
  await fireEvent.click(screen.getByRole('radio', { name: /^anthropic/ }));
  const call = engine.call.bind(engine);
  let answer = (): void => undefined;
  vi.spyOn(engine, 'call').mockImplementation(async (command, input) => {
    if (command === 'backend test') await new Promise<void>((go) => (answer = go));
    return call(command, input);
  });
  await fireEvent.click(screen.getByRole('button', { name: 'Test anthropic' }));
  await fireEvent.click(screen.getByRole('radio', { name: /^codex/ }));
  expect(next().disabled).toBe(true);
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(screen.queryByText(/^Works/)).toBeNull();
  expect(next().disabled, 'codex is signed out').toBe(true);
});

it('leaves the focus at a key that could not be removed', async () => {
  const { container } = render(KeptKey, { name: 'EXAMPLE_KEY', onremove: () => Promise.resolve() });
  await fireEvent.click(screen.getByRole('button', { name: 'Remove EXAMPLE_KEY' }));
  await vi.advanceTimersByTimeAsync(0);
  screen.getByRole('button', { name: 'Remove the key' }).focus();
  await fireEvent.submit(container.querySelector('form')!);
  await vi.advanceTimersByTimeAsync(0);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Remove EXAMPLE_KEY' }));
});
