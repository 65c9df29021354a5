/** How the window looks and which language it speaks, by the settings; its layout it keeps for itself. */
import { en, type Strings } from './strings/en';
import { zh } from './strings/zh';

export type Theme = 'system' | 'light' | 'dark';
export type Language = 'en' | 'zh';

const LANGUAGES: Record<Language, Strings> = { en, zh };

function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage the choice holds until the window is closed.
  }
}

/** The language of the session: what the shell has said of it, or else what the web view thinks. */
function ofTheSession(): string {
  return new URLSearchParams(location.search).get('language') ?? navigator.language.toLowerCase();
}

class Preferences {
  theme = $state<Theme>('system');
  language = $state<Language>('en');
  layout = $state<'unified' | 'split'>('unified');
  /** The texts of the language. */
  t = $derived(LANGUAGES[this.language]);

  constructor() {
    // What was chosen last, so that the first picture is right; the settings are asked for right after it.
    this.follow(kept('theme') ?? 'system', kept('language') ?? 'system');
    if (kept('layout') === 'split') this.layout = 'split';
  }

  /** Takes over what the settings `desktop.theme` and `desktop.language` say. */
  follow(theme: string, language: string): void {
    this.theme = theme === 'light' || theme === 'dark' ? theme : 'system';
    const spoken = language === 'system' ? ofTheSession() : language;
    this.language = spoken.startsWith('zh') ? 'zh' : 'en';
    keep('theme', theme);
    keep('language', language);
    this.show();
  }

  setLayout(layout: 'unified' | 'split'): void {
    this.layout = layout;
    keep('layout', layout);
  }

  private show(): void {
    document.documentElement.dataset['theme'] = this.theme;
    document.documentElement.lang = this.language === 'zh' ? 'zh-Hans' : 'en';
  }
}

export const preferences = new Preferences();
