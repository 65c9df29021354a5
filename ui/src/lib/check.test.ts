/** What the engine says of this computer and of a deletion, in the language of the window. */
import { describe, expect, it } from 'vitest';

import data from '../../../crates/app/src/data.rs?raw';
import doctor from '../../../crates/app/src/doctor.rs?raw';
import lastNight from '../../../crates/app/src/doctor/last_night.rs?raw';
import sessions from '../../../crates/app/src/doctor/sessions.rs?raw';
import purge from '../../../crates/store/src/data/purge.rs?raw';

import type { Finding, JsonValue, SourceStatus, Tonight } from '../backend';
import { DIAGNOSIS, NOTES } from '../backend/memory/computer';
import { foundInWords, strangeInWords, subjectInWords, tonightInWords } from './check';
import { en } from './strings/en';
import { zh } from './strings/zh';

const codes = (source: string, of: RegExp): string[] => [...source.matchAll(of)].map(([, code]) => code!);
const isChinese = (text: string): boolean => /\p{Script=Han}/u.test(text) && !isEnglish(text);
/** Whether there are words of a sentence in it; commands, keys and files are called the same everywhere. */
const isEnglish = (text: string): boolean => /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i.test(text.replace(/`[^`]*`|[\w.:/-]*[./_:][\w./-]*/g, ''));

const SOURCE: SourceStatus = {
  agent: 'pi',
  title: 'Pi',
  present: true,
  looked: [{ folder: '/home/ana/.pi', present: true, files: 3 }],
  sessions: 0,
  newest: null,
  skipped: [{ agent: 'pi', reason: 'before_since', unit: 'session', sentence: 'It ended before the time that is looked at.', count: 3 }],
  unknown_records: [{ type: 'speech', version: '3.0.0', count: 4 }],
  retention: { policy: 'deletes', days: 30, setting: null },
  warning: { sessions: 4, message: 'No word of a person was found.', guidance: 'Look for a newer SkillOpt.' },
};
/** What some findings need to be told of. */
const DETAILS: Record<string, JsonValue> = {
  database_corrupt: { goes_on_from: null },
  database_missing: { goes_on_from: '/home/ana/copies/skillopt-1.db' },
  last_night_stopped: { outcome: 'failed' },
  settings_unused: ['one', 'two'],
  documents_found: [{}, {}],
  servers_found: [{ name: 'Ollama', endpoint: 'http://127.0.0.1:11434/v1', models: ['a', 'b'] }],
  servers_none: { ports: ['11434', '1234'] },
  models_reserve_unkept: { silent: ['claude'] },
  models_setting_unheard: { unheard: [{ provider: 'codex', settings: ['models.temperature'] }] },
  schedule_other_folders: { data: '/a', settings: '/b' },
  sessions_found: { ...SOURCE },
  sessions_none: { ...SOURCE },
  sessions_absent: { ...SOURCE },
  sessions_strange: { ...SOURCE },
};
const finding = (code: string): Finding => ({
  subject: 'models',
  projects: [],
  health: 'good',
  code,
  message: 'This is said in English.',
  guidance: 'So is that in English.',
  detail: DETAILS[code] ?? null,
});

describe('the check of this computer', () => {
  const found = codes(doctor + lastNight + sessions, /good\(\s*(?:&?\w+|"[^"]+"),\s*"([a-z_]+)"/g);
  it('has words for everything that is found, and for nothing else', () => {
    expect(found.length).toBeGreaterThan(15);
    // These two are problems elsewhere.
    expect(Object.keys(zh.check.found).sort()).toEqual([...new Set([...found, 'database_corrupt', 'database_missing'])].sort());
  });
  it('says in Chinese what is found', () => {
    for (const code of Object.keys(zh.check.found)) {
      const { message, guidance } = foundInWords(finding(code), zh);
      expect(isChinese(message), `${code}: ${message}`).toBe(true);
      expect(guidance === '' || isChinese(guidance), `${code}: ${guidance}`).toBe(true);
      expect(message + guidance, code).not.toContain('undefined');
    }
    for (const one of DIAGNOSIS.findings) expect(isChinese(foundInWords(one, zh).message), one.code).toBe(true);
    expect(strangeInWords(SOURCE, zh)).toContain('speech（版本 3.0.0）');
  });
  it('says in English what the engine says', () => {
    expect(foundInWords(finding('models_usable'), en)).toEqual({ title: '', message: 'This is said in English.', guidance: 'So is that in English.' });
    expect(strangeInWords(SOURCE, en)).toBe('No word of a person was found. Look for a newer SkillOpt.');
    expect(tonightInWords(DIAGNOSIS, en)).toBe(DIAGNOSIS.tonight);
  });
  it('has a title for what is wrong', () => {
    expect(foundInWords(finding('sign_in_needed'), zh).title).toBe('需要重新登录');
  });
  it('names what was checked', () => {
    const subjects = codes(doctor, /(?:good|bad)\(\s*"([^"]+)"/g).concat(codes(doctor, /(?:SUBJECT|SCHEDULED_RUN|subject)(?:: &str)? = "([^"]+)"/g));
    expect(subjects.length).toBeGreaterThan(8);
    for (const subject of subjects) {
      expect(subjectInWords({ ...finding(''), subject }, zh), subject).not.toBe(subject);
      expect(subjectInWords({ ...finding(''), subject, projects: ['a', 'b'] }, en)).toBe(`${subject} (a, b)`);
    }
  });
  it('says in Chinese what the next nights would do', () => {
    const nights: Tonight['expected'][] = [
      { night: 'fails', code: 'sign_in_needed', message: 'It is signed out.' },
      { night: 'stops', code: 'budget_too_small', message: 'It may spend too little.' },
      { night: 'nothing_new' },
      { night: 'no_task', sessions: 3 },
      { night: 'replays', sessions: 3, tasks: 4, calls: 0 },
      { night: 'no_project' },
    ];
    for (const expected of nights) {
      const said = tonightInWords({ ...DIAGNOSIS, nights: [{ project: 'webshop', expected }] }, zh);
      expect(isChinese(said), said).toBe(true);
      expect(said.startsWith('webshop：'), said).toBe(true);
    }
  });
});

describe('a deletion', () => {
  it('has words for every note, and for no other', () => {
    const noted = codes(purge + data, /Note::new\(\s*"([a-z_]+)"/g);
    expect(noted.length).toBeGreaterThan(7);
    expect(Object.keys(zh.deletion.note).sort()).toEqual(noted.sort());
    for (const [code, say] of Object.entries(zh.deletion.note)) expect(isChinese(say?.('/home/ana') ?? ''), code).toBe(true);
    for (const { code } of NOTES) expect(noted).toContain(code);
  });
});
