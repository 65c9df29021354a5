/** The terms of a provider in the language of the window. */
import type { Terms } from '../backend';
import type { Strings } from './strings/en';

/** What nights do there and who decides about it. The provider is a program, or a kind of server with its host. */
export function termsInWords({ provider, about }: Pick<Terms, 'provider' | 'about'>, words: Strings['terms']): string {
  const at = provider.indexOf(':');
  if (at < 0) return words.about[provider] ?? about;
  const host = provider.slice(at + 1);
  const name = host.replace(/:[^:]*$/, '');
  return words.about[name.endsWith('.azure.com') ? '.azure.com' : name] ?? words.ofServer?.(host) ?? about;
}
