import { describe, expect, it, vi } from 'vitest';

import stages from '../../../crates/cli/src/show/stage.rs?raw';
import page from '../../../docs/errors.md?raw';
import settingsPage from '../../../docs/settings.md?raw';
import catalogue from '../../../crates/models/src/catalogue.rs?raw';
import miner from '../../../crates/sleep/src/mine.rs?raw';
import providers from '../../../crates/models/src/terms.rs?raw';
import reasons from '../../../crates/transcripts/src/reason.rs?raw';

import type { Rule, StageRow, TargetReport } from '../backend';
import { asProblem } from '../backend';
import { decision, delta, NO_SPEND } from '../backend/memory/proposals';
import { clock, ofClock } from './clock';
import { overAt, verdictOf } from './ended';
import { bodyInWords, kindInWords } from './event';
import { bytes, duration, fileName, minutes, money, monthOf, requests, run, score, time } from './format';
import { Heights } from './heights';
import { isTyping, press } from './keys';
import { address, parse, type Route } from './route';
import { ruleOfLine } from './rules';
import { pieces } from './said';
import { asText, needsNoSentence } from './settings';
import { parts, partsByKind } from './shared';
import { en, type Strings } from './strings/en';
import { zh } from './strings/zh';
import { stageInWords } from './stage';
import { termsInWords } from './terms';
import { verdict } from './verdict';
import { inWords } from './why';

describe('addresses', () => {
  const routes: Route[] = [
    { screen: 'overview' },
    { screen: 'review', proposal: null },
    { screen: 'review', proposal: '20261129-031500' },
    { screen: 'project', project: 'a/b c%' },
    { screen: 'night', night: null },
    { screen: 'night', night: 42 },
    { screen: 'handoff', project: 'p-1' },
    { screen: 'settings' },
    { screen: 'first-run' },
  ];
  it.each(routes)('leads back: %j', (route) => {
    expect(parse(address(route))).toEqual(route);
  });
  it('of nothing known is the overview', () => {
    for (const odd of ['', '#', '#/nowhere', '#/project', '#/handoff/']) expect(parse(odd)).toEqual({ screen: 'overview' });
    expect(parse('#/night/x')).toEqual({ screen: 'night', night: null });
    expect(parse('#/project/%')).toEqual({ screen: 'project', project: '%' });
  });
});

describe('numbers and times', () => {
  const now = new Date('2026-11-29T08:30:00');
  const at = (text: string): string => time(new Date(text), now, 'en-US', en.time);
  it('are relative under a day and absolute beyond', () => {
    expect(at('2026-11-29T08:29:30')).toBe('just now');
    expect(at('2026-11-29T08:00:00')).toBe('30 minutes ago');
    expect(at('2026-11-29T04:10:00')).toBe('4 hours ago');
    expect(at('2026-11-29T11:30:00')).toBe('in 3 hours');
    expect(at('2026-11-21T03:18:00')).toBe('Nov 21, 03:18 AM');
    expect(at('2025-11-21T03:18:00')).toBe('Nov 21, 2025');
  });
  it('say a coming run by its day', () => {
    expect(run(new Date('2026-11-30T03:17:00'), now, 'en-US')).toBe('tomorrow, 03:17 AM');
    expect(run(new Date('2026-12-02T03:17:00'), now, 'zh-CN')).toBe('12月2日星期三, 03:17');
  });
  it('show small sums of money exactly', () => {
    expect(money(412_600, 'en-US', 'USD')).toBe('$0.41');
    expect(money(2_345, 'en-US', 'USD')).toBe('$0.0023');
    expect(money(0, 'en-US', 'USD')).toBe('$0.00');
    expect(money(412_600, 'en-US', 'EUR')).toBe('€0.41');
    // Whatever a table of prices calls it.
    expect(money(412_600, 'en-US', 'CREDITS')).toBe('0.41 CREDITS');
    expect(money(412_600, 'en-US', '')).toBe('0.41');
    expect(requests(12_330, 'en-US')).toBe('12.33');
  });
  it('know the month on the clock of this computer', () => {
    // Half an hour into December there, and still November in UTC; then the other way round.
    vi.stubEnv('TZ', 'Asia/Shanghai');
    expect(monthOf(new Date('2026-11-30T16:30:00Z'))).toBe('2026-12');
    vi.stubEnv('TZ', 'America/New_York');
    expect(monthOf(new Date('2026-12-01T03:30:00Z'))).toBe('2026-11');
    vi.unstubAllEnvs();
  });
  it('are a dash when there are none', () => {
    expect(score(null)).toBe('–');
    expect(score(0.4237)).toBe('0.42');
  });
  it('have units', () => {
    expect(bytes(18_400_000, 'en-US')).toBe('18 MB');
    expect(duration('2026-11-29T00:00:00Z', '2026-11-29T00:03:20Z', 'en-US')).toBe('3m 20s');
    expect(duration('2026-11-29T00:00:00Z', '2026-11-29T02:03:20Z', 'en-US')).toBe('2h 3m');
    expect([1, 4, 60, 85].map((all) => minutes(all, 'en-US'))).toEqual(['1 min', '4 min', '1 hr 0 min', '1 hr 25 min']);
  });
  it('name a skill by its folder', () => {
    expect(fileName('/a/.claude/skills/deploy/SKILL.md')).toBe('deploy');
    expect(fileName('C:\\work\\CLAUDE.md')).toBe('CLAUDE.md');
  });
});

describe('a verdict', () => {
  const words = (deltas: [number, number][]): string =>
    verdict(decision(deltas.map(([before, after], at) => delta(`${at}`, before, after))), en.verdict).sentence;
  it('says how many tasks before any number', () => {
    expect(words([[0, 1], [0, 1], [1, 1]])).toBe('Better on 2 of 3 held-out tasks, worse on none.');
    expect(words([[0, 1], [0, 1], [1, 0.5]])).toBe('Better on 2 of 3 held-out tasks, worse on 1.');
    expect(words([[1, 1]])).toBe('No better: the same on 1 held-out task.');
    expect(words([[1, 0], [0, 0]])).toBe('Worse on 1 of 2 held-out tasks.');
  });
  it('does not claim more than was compared', () => {
    expect(verdict(null, en.verdict).sentence).toBe('Not tested on held-out tasks.');
    const little = { ...decision([]), verdict: { kind: 'indeterminate' as const, reason: 'two tasks' } };
    expect(verdict(little, en.verdict)).toEqual({ sentence: 'Too few tasks to tell; the evidence is kept.', tone: 'unsure' });
    expect(verdict({ ...decision([]), action: 'greedy_applied' }, en.verdict).sentence).toBe('Not compared: the gate was off.');
  });
});

describe('a stage', () => {
  it('is said as on the command line', () => {
    expect(stageInWords('claude/train_again', en.stage)).toBe('training tasks with the new skill (Claude Code)');
    expect(stageInWords('codex/baseline/judge', en.stage)).toBe('grading: held-out tasks as things are (Codex)');
    expect(stageInWords('mine/ask', zh.stage)).toBe('请模型寻找任务');
    expect(stageInWords('one/made_later', en.stage)).toBe('one made later');
  });
  it('has words wherever the command line has them', () => {
    const table = [...stages.matchAll(/^ +"([a-z_/]+)" => "([^"]+)",$/gm)].map(([, name, does]) => [name!, does!]);
    expect(table.length).toBeGreaterThan(10);
    const said = Object.entries(en.stage.does).map(([name, does]) => [name, does.replace('’', "'")]);
    expect(said).toEqual(table);
  });
});

describe('heights of rows', () => {
  it('draw what is seen and some more', () => {
    const heights = new Heights(new Array<number>(1_000).fill(20));
    expect(heights.total).toBe(20_000);
    expect(heights.window(0, 100, 0)).toEqual([0, 6]);
    expect(heights.window(1_000, 100, 40)).toEqual([48, 58]);
    expect(heights.window(19_950, 100, 0)).toEqual([997, 1_000]);
  });
  it('are corrected by what was measured', () => {
    const heights = new Heights([20, 20, 20]);
    expect(heights.measured([[1, 50]])).toBe(true);
    expect([heights.top(1), heights.top(2), heights.total]).toEqual([20, 70, 90]);
    expect(heights.at(69)).toBe(1);
    expect(heights.at(70)).toBe(2);
    expect(heights.measured([[1, 50.2], [7, 3]])).toBe(false);
  });
  it('of nothing are nothing', () => {
    expect(new Heights([]).window(0, 100, 0)).toEqual([0, 0]);
  });
});

describe('rules and lines', () => {
  const rule = (more: Partial<Rule>): Rule => ({ number: 1, rejected: false, quotes: [], adopted: false, op: 'add', content: '', anchor: '', rationale: '', tasks: [], turns: [], ...more });
  const of = ruleOfLine([
    rule({ number: 1, content: 'First line.\nSecond line.' }),
    rule({ number: 2, op: 'replace', content: 'New.', anchor: 'Old.' }),
  ]);
  const line = (change: 'added' | 'removed' | 'same', words: string): Parameters<typeof of>[0] => ({ change, before: 1, after: 1, parts: [{ text: words, changed: false }] });
  it('belong together whatever marks a list', () => {
    expect(of(line('added', '- First line.'))).toBe(1);
    expect(of(line('added', '  Second line.'))).toBe(1);
    expect(of(line('added', '- New.'))).toBe(2);
    expect(of(line('removed', '- Old.'))).toBe(2);
    expect(of(line('same', '- New.'))).toBeUndefined();
    expect(of(line('added', '- Else.'))).toBeUndefined();
  });
});

describe('keys', () => {
  const pressed = (key: string, target: HTMLElement, more: KeyboardEventInit = {}): boolean => {
    document.body.replaceChildren(target);
    let done = false;
    const listen = (event: KeyboardEvent): void => {
      press(event, { [key]: () => (done = true) });
    };
    document.addEventListener('keydown', listen);
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
    document.removeEventListener('keydown', listen);
    return done;
  };
  const input = (type: string): HTMLInputElement => Object.assign(document.createElement('input'), { type });
  it('are letters where somebody types', () => {
    expect(pressed('j', document.createElement('div'))).toBe(true);
    expect(pressed('j', input('text'))).toBe(false);
    expect(pressed('j', input('search'))).toBe(false);
    expect(pressed('j', document.createElement('textarea'))).toBe(false);
    expect(pressed('Escape', input('text'))).toBe(true);
    expect(isTyping(input('checkbox'))).toBe(false);
  });
  it('leave shortcuts of the system and of buttons alone', () => {
    expect(pressed('a', document.createElement('div'), { ctrlKey: true })).toBe(false);
    expect(pressed('Enter', document.createElement('button'))).toBe(false);
    expect(pressed('j', document.createElement('button'))).toBe(true);
  });
});

describe('words', () => {
  it('exist in every language, and say other things', () => {
    const compare = (a: object, b: object, path: string): void => {
      expect(Object.keys(b).sort(), path).toEqual(Object.keys(a).sort());
      for (const [key, value] of Object.entries(a)) {
        const other = (b as Record<string, unknown>)[key];
        expect(typeof other, `${path}.${key}`).toBe(typeof value);
        if (typeof value === 'object' && value !== null) compare(value as object, other as object, `${path}.${key}`);
        if (typeof value === 'string') expect(other, `${path}.${key}`).not.toBe('');
      }
    };
    // Titles of problems, reasons, and what settings mean are only there where the engine's sentence is in another language.
    const own = { problem: null, reason: null, about: null, check: null, flag: null };
    const alike = (words: Strings): object => ({
      ...words,
      ...own,
      night: { ...words.night, endedAs: null },
      backend: { ...words.backend, about: null },
      terms: { ...words.terms, about: null, ofServer: null },
      deletion: { ...words.deletion, note: null },
      settings: { ...words.settings, subject: null },
    });
    compare(alike(en), alike(zh), 'strings');
    expect(zh.review.adopt).not.toBe(en.review.adopt);
  });
  it('are all used', () => {
    // Tables are read by keys that only the engine knows.
    const tables = new Set(['field', 'choice', 'problem', 'reason', 'about', 'stage.does', 'night.because', 'settings.subject', 'locale']);
    const pages = Object.entries(import.meta.glob(['../**/*.svelte', '../**/*.ts'], { query: '?raw', import: 'default', eager: true }));
    const text = pages.filter(([name]) => !/\/strings\/|\.test\./.test(name)).map(([, source]) => source as string).join('\n');
    const unused: string[] = [];
    const look = (words: object, path: string): void => {
      for (const [key, value] of Object.entries(words)) {
        const name = path ? `${path}.${key}` : key;
        if (tables.has(name)) continue;
        if (typeof value === 'object' && value !== null && !Array.isArray(value)) look(value as object, name);
        // Either by name, or its group by a key of the engine: t.outcome[…], words.choice[…].
        else {
          const group = path.split('.').at(-1) ?? '';
          const by = [`\\b(${group || 't'}|words)\\.${key}\\b`, `\\b${group}\\[`, `\\b(t|words)\\.${group}\\b[^.]`];
          if (!by.some((pattern) => new RegExp(pattern).test(text))) unused.push(name);
        }
      }
    };
    look(en, '');
    expect(unused).toEqual([]);
  });
  it('name every reason to leave out a file, a session or a turn, and no other', () => {
    const named = [...reasons.matchAll(/^ +[A-Z]\w+, "([a-z_]+)", (?:File|Session|Turn),/gm)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(25);
    expect(Object.keys(zh.reason).sort()).toEqual(named.sort());
    expect(Object.values(zh.reason).filter((words) => !/\p{Script=Han}/u.test(words ?? ''))).toEqual([]);
  });
  it('say what every setting means, and name no other', () => {
    // The page is written from the engine's table.
    const keys = [...settingsPage.matchAll(/^\| `([a-z_]+\.[a-z_]+)` \|/gm)].map(([, key]) => key!);
    expect(keys.length).toBeGreaterThan(100);
    expect(Object.keys(zh.about).sort()).toEqual([...keys].sort());
    expect(Object.values(zh.about).filter((words) => !/\p{Script=Han}/u.test(words ?? ''))).toEqual([]);
    for (const words of [en, zh]) {
      expect(Object.keys(words.field).filter((key) => !keys.includes(key))).toEqual([]);
      expect(Object.keys(words.choice).filter((key) => !keys.includes(key))).toEqual([]);
    }
  });
  it('name every backend, and no other', () => {
    const named = [...catalogue.matchAll(/Entry::new\(\s*"([a-z_-]+)"/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(12);
    expect(Object.keys(zh.backend.about).sort()).toEqual(named.sort());
  });
  it('say the terms of every provider, and of no other', () => {
    const programs = [...providers.matchAll(/&(\w+)::ABOUT,/g)].map(([, name]) => name!);
    const hosts = [...providers.matchAll(/^ +"([a-z.]+)" => [A-Z]+,$/gm)].map(([, name]) => name!);
    const ends = [...providers.matchAll(/name\.ends_with\("([a-z.]+)"\)/g)].map(([, name]) => name!);
    expect([programs.length, hosts.length, ends.length]).toEqual([6, 3, 1]);
    expect(Object.keys(zh.terms.about).sort()).toEqual([...programs, ...hosts, ...ends].sort());
    const said = (provider: string): string => termsInWords({ provider, about: 'As the engine says.' }, zh.terms);
    expect(said('codex')).toContain('OpenAI 对所登录账户的条款');
    expect(said('openai_compatible:api.openai.com')).toContain('OpenAI 账户的协议');
    expect(said('azure_openai:me.openai.azure.com')).toContain('Azure');
    expect(said('openai_compatible:models.example.org:8443')).toContain('向 models.example.org:8443 发送请求');
    expect(said('made_later')).toBe('As the engine says.');
    expect(termsInWords({ provider: 'anthropic:api.anthropic.com', about: 'As the engine says.' }, en.terms)).toBe('As the engine says.');
  });
  it('say why a request cannot be replayed, whatever the reason', () => {
    const named = [...miner.matchAll(/=> "((?:needs|no|too) [a-z]+)"/g)].map(([, words]) => words!);
    expect(named.length).toBe(4);
    for (const words of [en, zh]) expect(Object.keys(words.night.because).sort()).toEqual(named.sort());
  });
  it('name every problem of the page of errors, and no other', () => {
    const codes = [...page.matchAll(/^\| `([a-z_]+)`/gm)].map(([, code]) => code!);
    expect(codes.length).toBeGreaterThan(100);
    // These two stand above the table.
    expect(Object.keys(zh.problem).sort()).toEqual([...codes, 'file_io', 'file_permission'].sort());
    const titles = Object.values(zh.problem);
    expect(titles.filter((title) => !/\p{Script=Han}/u.test(title ?? ''))).toEqual([]);
  });
  it('of invented problems are those of real ones', () => {
    const sources = Object.values(import.meta.glob('../backend/memory/*.ts', { query: '?raw', import: 'default', eager: true })).join('\n');
    const used = [...sources.matchAll(/problem\(\s*'([a-z_]+)'|code: '([a-z_]+)'[^}]*retry:/g)].map(([, called, written]) => called ?? written!);
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((code) => zh.problem[code] === undefined)).toEqual([]);
  });
  it('say why a night waits', () => {
    const now = new Date();
    expect(inWords({ why: 'condition', for: 'power' }, now, en)).toBe('Waiting for power');
    expect(inWords({ why: 'condition', for: 'sessions', have: 2, want: 5 }, now, en)).toBe('Waiting for new sessions: 2 of 5');
    expect(inWords({ why: 'provider', busy: 'webshop' }, now, en)).toBe('Waiting for the night of webshop');
    const put_off = { why: 'put_off', until: '2026-11-30T09:00:00', reason: 'Codex allows no more.' } as const;
    expect(inWords(put_off, new Date('2026-11-29T22:00:00'), en)).toBe('Put off until tomorrow, 09:00 AM: Codex allows no more');
  });
});

describe('times of day', () => {
  it('are read as they are written', () => {
    expect([clock(3, 7), clock(0, 0), clock(23, 59)]).toEqual(['03:07', '00:00', '23:59']);
    expect(['03:07', '3:07', ' 23:59 ', '00:00'].map(ofClock)).toEqual([[3, 7], [3, 7], [23, 59], [0, 0]]);
    expect(['', '24:00', '12:60', '12', '12:5', 'noon', '-1:30', '1:2:3'].map(ofClock).filter(Boolean)).toEqual([]);
  });
});

describe('what settings are called', () => {
  it('says nothing twice, and names no word that is called otherwise in the list', () => {
    expect(needsNoSentence('changes.skill', en)).toBe(true);
    expect(needsNoSentence('desktop.language', zh)).toBe(true);
    expect(needsNoSentence('reads.exclude', en)).toBe(false);
    for (const [key, names] of Object.entries(en.choice)) expect(Object.keys(zh.choice[key] ?? {}).sort(), key).toEqual(Object.keys(names ?? {}).sort());
  });
});

describe('sentences', () => {
  it('have their commands apart from their words', () => {
    expect(pieces('See `skillopt handoff`, or `skillopt log`.')).toEqual(['See ', 'skillopt handoff', ', or ', 'skillopt log', '.']);
    expect(pieces('One ` alone')).toEqual(['One ` alone']);
    expect(pieces('')).toEqual(['']);
  });
  it('of events are names with their values', () => {
    expect(kindInWords('models/answered_by')).toBe('models: answered by');
    expect(bodyInWords({ asked: 'haiku', answered_by: 'x', none: null, scores: [0.5, 1], deep: { a_b: true, c: [{ d: 1 }] }, empty: [] })).toBe(
      'asked: haiku; answered by: x; scores: 0.5, 1; deep a b: true; deep c 0 d: 1',
    );
    expect(bodyInWords('text')).toBe('text');
    expect(bodyInWords(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, 'v'.repeat(90)]))).length).toBeLessThan(402);
  });
});

describe('questions', () => {
  const head = 'one\ntwo\nthree\n';
  const tail = '\nfour\nfive\nsix';
  it('are shown by what is their own', () => {
    expect(parts([`${head}a${tail}`, `${head}b\nc${tail}`])).toEqual([
      { before: 'one\ntwo\nthree', own: 'a', after: 'four\nfive\nsix' },
      { before: 'one\ntwo\nthree', own: 'b\nc', after: 'four\nfive\nsix' },
    ]);
  });
  it('are whole where there is nothing to compare, or nothing left', () => {
    expect(parts([`${head}a`])).toEqual([{ before: '', own: `${head}a`, after: '' }]);
    expect(parts(['a\nb', 'a\nc']).map(({ own }) => own)).toEqual(['a\nb', 'a\nc']);
    expect(parts([head, head]).map(({ own }) => own)).toEqual([head, head]);
    expect(parts([])).toEqual([]);
  });
  it('are compared with those of their kind, and keep their order', () => {
    const of = (kind: string, own: string): { kind: string; prompt: string } => ({ kind, prompt: `${kind}\n${head}${own}` });
    const all = partsByKind([of('judge', 'a'), of('attempt', 'b'), of('judge', 'c')]);
    expect(all.map(({ parts: { own } }) => own)).toEqual(['a', `attempt\n${head}b`, 'c']);
  });
});

describe('a night', () => {
  const stage = (position: number, planned_at: string, more: Partial<StageRow> = {}): StageRow => ({
    name: `s${position}`, position, state: 'planned', output: null, planned_at, done_at: null, calls: { fresh: 1 }, done: true, spend: NO_SPEND, ...more,
  });
  it('has a stage of questions over when the next begins', () => {
    const stages = [stage(2, '2026-11-29T00:02:00Z', { done: false }), stage(0, '2026-11-29T00:00:00Z'), stage(1, '2026-11-29T00:01:00Z')];
    const night = { stages, ended_at: '2026-11-29T00:09:00Z' };
    expect(overAt(stages[1]!, night)).toBe('2026-11-29T00:01:00Z');
    expect(overAt(stages[2]!, night)).toBe('2026-11-29T00:02:00Z');
    expect(overAt(stages[0]!, night)).toBeNull();
    expect(overAt({ ...stages[0]!, done: true }, night)).toBe('2026-11-29T00:09:00Z');
  });
  it('says of a document what the command line says', () => {
    const target: TargetReport = { id: 'x', agent: 'claude', kind: 'memory', path: 'CLAUDE.md', n_validation: 0, sentence: '', decision: null, applied: [], rejected: [], unmatched: [], unreadable: false, flags: [], not_staged: null };
    const edit = { op: 'add', content: 'a', anchor: '', rationale: '', tasks: [], turns: [] } as TargetReport['applied'][number];
    expect(verdictOf(target, en.verdict)).toBe('Nothing to change: no training task failed.');
    expect(verdictOf({ ...target, unmatched: [[edit, 'duplicate']] }, en.verdict)).toBe('The proposed edits could not be applied.');
    expect(verdictOf({ ...target, unreadable: true }, en.verdict)).toContain('could not be read');
    expect(verdictOf({ ...target, rejected: [edit] }, en.verdict)).toBe('Not tested on held-out tasks.');
  });
});

describe('values and problems', () => {
  it('become what the engine takes', () => {
    expect([asText(true), asText(3), asText('x'), asText(null), asText(['a', 'b'])]).toEqual(['true', '3', 'x', '', '["a","b"]']);
  });
  it('become a problem whatever was thrown', () => {
    const told = { code: 'a_code', message: 'M.', guidance: 'G.', retry: 'temporary' as const };
    expect(asProblem(told)).toEqual(told);
    expect(asProblem(new Error('odd'))).toEqual({ code: 'window_failed', message: 'odd', guidance: '', retry: 'permanent' });
    expect(asProblem('text').message).toBe('text');
  });
});
