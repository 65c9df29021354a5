/** What was checked and how it came out, in the language of the window. */
import type { Diagnosis, Finding, SourceStatus } from '../backend';
import type { Strings } from './strings/en';

/** What was checked, and of which projects. */
export function subjectInWords({ subject, projects }: Finding, t: Strings): string {
  const [, agent] = /^sessions of (.+)$/.exec(subject) ?? [];
  const name = agent === undefined ? (t.settings.subject[subject] ?? subject) : t.settings.sessionsOf(agent);
  return projects.length > 0 ? t.settings.ofProjects(name, projects) : name;
}

/** How it came out, and what to do; the title of what is wrong stands before it. */
export function foundInWords(finding: Finding, t: Strings): { title: string; message: string; guidance: string } {
  const said = t.check.found[finding.code]?.(finding.detail);
  const [message, guidance] = said ?? [finding.message, finding.guidance];
  return { title: said ? '' : (t.problem[finding.code] ?? ''), message, guidance };
}

/** What the next nights would do. */
export function tonightInWords({ nights, tonight }: Diagnosis, t: Strings): string {
  return t.check.tonight?.(nights) ?? tonight;
}

/** Why nothing may have been found of an agent, if there is something to say. */
export function strangeInWords(source: SourceStatus, t: Strings): string {
  if (!source.warning) return '';
  const [message, guidance] = t.check.found['sessions_strange']?.({ ...source }) ?? [source.warning.message, source.warning.guidance];
  return `${message} ${guidance}`;
}
