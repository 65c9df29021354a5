/** The front end reaches the engine through this folder, and through nothing else. */
import { expect, it } from 'vitest';

const sources = Object.entries(
  import.meta.glob(['../**/*.ts', '../**/*.svelte', '!../**/*.test.ts'], { query: '?raw', import: 'default', eager: true }),
).map(([name, text]) => [name, text as string] as const);
const naming = (what: string): string[] => sources.filter(([, text]) => text.includes(what)).map(([name]) => name);

it('is where Tauri is named', () => {
  expect(sources.length).toBeGreaterThan(30);
  expect(naming('@tauri-apps')).toEqual(['./tauri.ts']);
  expect(naming('__TAURI')).toEqual(['./index.ts']);
});

it('is where the invented data ends', () => {
  expect(naming('backend/memory').filter((name) => !name.includes('/memory/'))).toEqual([]);
});

it('loads nothing from elsewhere, and draws no markup of others', () => {
  for (const what of ['fetch(', 'XMLHttpRequest', 'WebSocket', '{@html', 'innerHTML', 'insertAdjacentHTML', 'eval(']) expect(naming(what), what).toEqual([]);
});
