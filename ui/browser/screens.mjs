// Every window in both languages and both themes: no errors, nothing axe objects to, also in the narrowest window
// there can be, and its picture.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { accessible, fits, open, settled } from './window.mjs';

/** The least width a window can have, as the shell sets it. */
const NARROW = { width: 480, height: 600 };
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));

/** Name, address, and what is done before the picture is taken. */
const SCREENS = [
  ['overview', { route: '#/overview' }],
  ['overview-empty', { route: '#/overview', data: 'empty' }],
  ['review', { route: '#/review/20261129-031702' }],
  [
    'review-split',
    { route: '#/review/20261129-031702' },
    async (page) => {
      await page.keyboard.press('v');
      await page.keyboard.press('o');
    },
  ],
  [
    'review-evidence',
    { route: '#/review/20261129-031702' },
    async (page) => {
      await page.locator('.request').first().click();
      await page.locator('.replies').scrollIntoViewIfNeeded();
    },
  ],
  ['review-flagged', { route: '#/review/20261128-031655' }],
  ['review-empty', { route: '#/review', data: 'empty' }],
  ['night', { route: '#/night/42' }],
  ['night-running', { route: '#/night/44', data: 'running' }],
  ['project', { route: '#/project/p-7f3a91c2' }],
  ['settings', { route: '#/settings' }],
  [
    'settings-delete',
    { route: '#/settings' },
    async (page) => {
      const choices = page.locator('form:has(option[value="project"])').locator('select');
      await choices.first().selectOption('project');
      await choices.last().selectOption('/home/ana/work/infra');
      await choices.first().locator('xpath=..').locator('button').click();
      await page.locator('form.bad').scrollIntoViewIfNeeded();
    },
  ],
  ['project-gone', { route: '#/overview', data: 'gone' }],
  ['handoff', { route: '#/handoff/p-1b88e0d4' }],
  ['first-run', { route: '#/first-run', data: 'empty' }],
  ['first-run-projects', { route: '#/first-run', data: 'empty' }, (page) => forward(page, 1)],
  ['first-run-models', { route: '#/first-run', data: 'empty' }, (page) => toTheModels(page)],
  [
    'first-run-dry-run',
    { route: '#/first-run', data: 'empty' },
    async (page) => {
      await toTheModels(page);
      // By the radio of a simulation: it needs nothing.
      await page.locator('input[value="mock"]').check();
      await forward(page, 2);
      await page.locator('.page > div:not(.row) > button').click();
      await page.locator('.card').waitFor();
    },
  ],
  ['keys', { route: '#/overview' }, (page) => page.keyboard.press('?')],
  ['broken', { route: '#/overview', data: 'broken' }],
];

/** Pictures kept for the documentation. */
const KEPT = {
  'overview en light': 'overview',
  'overview en dark': 'overview-dark',
  'review en light': 'review',
  'review zh dark': 'review-zh-dark',
  'review-split en light': 'review-split',
  'review-evidence en light': 'review-evidence',
  'review-flagged en light': 'review-flagged',
  'night en light': 'night',
  'night-running en light': 'night-running',
  'project en light': 'project',
  'settings en light': 'settings',
  'settings-delete en light': 'settings-delete',
  'handoff en light': 'handoff',
  'first-run en light': 'first-run',
  'first-run-models en light': 'first-run-models',
};

async function forward(page, steps) {
  for (let step = 0; step < steps; step += 1) {
    const before = await page.locator('h1').innerText();
    await page.locator('button.primary').click();
    await page.waitForFunction((text) => document.querySelector('h1')?.innerText !== text, before);
    await settled(page);
  }
}

/** To the third step, with a project: without one it does not go on. */
async function toTheModels(page) {
  await forward(page, 1);
  await page.locator('.project input').first().check();
  await forward(page, 1);
}

/** Every picture that is kept is shown on a page, and no other is kept. */
function pictures() {
  const pages = ['desktop.md', 'window.md'].map((page) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8'));
  const shown = pages.flatMap((page) => [...page.matchAll(/\(images\/([a-z-]+)\.png\)/g)].map(([, name]) => name));
  const kept = readdirSync(IMAGES).map((file) => file.replace(/\.png$/, ''));
  const wanted = Object.values(KEPT).toSorted();
  assert.deepEqual([...new Set(shown)].toSorted(), wanted, 'pictures on the pages');
  assert.deepEqual(kept.toSorted(), wanted, 'pictures in docs/images');
}

export async function screens(chrome, url, write) {
  if (write) mkdirSync(IMAGES, { recursive: true });
  const found = [];
  for (const language of ['en', 'zh']) {
    for (const theme of ['light', 'dark']) {
      for (const [name, options, before] of SCREENS) {
        const window = await open(chrome, url, { ...options, language, theme });
        await settled(window.page);
        await before?.(window.page);
        await settled(window.page);
        const note = (error) => found.push(error.message);
        await accessible(window.page, `${name} (${language}, ${theme})`).catch(note);
        const file = KEPT[`${name} ${language} ${theme}`];
        if (write && file) await window.page.screenshot({ path: `${IMAGES}${file}.png` });
        await window.page.setViewportSize(NARROW);
        await fits(window.page, `${name} (${language}, ${theme}) at its narrowest`).catch(note);
        await accessible(window.page, `${name} (${language}, ${theme}) at its narrowest`).catch(note);
        await window.close();
      }
    }
  }
  pictures();
  if (found.length > 0) throw new Error(found.join('\n'));
  return `${SCREENS.length} windows in 2 languages and 2 themes, nothing found by axe`;
}
