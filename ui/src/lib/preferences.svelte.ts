/** How the window looks and which language it speaks; kept by the window itself. */
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

class Preferences {
  theme = $state<Theme>('system');
  language = $state<Language>('en');
  layout = $state<'unified' | 'split'>('unified');
  /** The texts of the language. */
  t = $derived(LANGUAGES[this.language]);

  constructor() {
    const theme = kept('theme');
    if (theme === 'light' || theme === 'dark') this.theme = theme;
    const language = kept('language') ?? (navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en');
    this.language = language === 'zh' ? 'zh' : 'en';
    if (kept('layout') === 'split') this.layout = 'split';
    this.show();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    keep('theme', theme);
    this.show();
  }

  setLanguage(language: Language): void {
    this.language = language;
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
