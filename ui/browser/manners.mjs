// What holds for every window: it fits a narrow one, keeps the focus, works by keyboard, and speaks one language.
import assert from 'node:assert/strict';

import { fits, open, settled } from './window.mjs';

const SCREENS = [
  ['#/overview', 'usual'],
  ['#/overview', 'running'],
  ['#/review/20261129-031702', 'usual'],
  ['#/review/20261128-031655', 'usual'],
  ['#/night/42', 'usual'],
  ['#/night/44', 'running'],
  ['#/night/38', 'usual'],
  ['#/project/p-7f3a91c2', 'usual'],
  ['#/handoff/p-1b88e0d4', 'usual'],
  ['#/settings', 'usual'],
  ['#/settings', 'unagreed'],
  ['#/first-run', 'empty'],
];

const shows = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor();

/** What is focused, by its name for a screen reader. */
const focused = (page) =>
  page.evaluate(() => {
    const node = document.activeElement;
    if (!node || node === document.body) return '';
    const label = node.labels?.[0]?.innerText ?? (node.id ? document.querySelector(`label[for="${node.id}"]`)?.innerText : '');
    return (node.getAttribute('aria-label') || label || node.innerText || '').trim();
  });

/** Goes to something with the key for it alone. */
async function tabTo(page, name, key = 'Tab') {
  const passed = [];
  for (let press = 0; press < 80; press += 1) {
    await page.keyboard.press(key);
    const at = await focused(page);
    if (name instanceof RegExp ? name.test(at) : at === name) return;
    passed.push(at);
  }
  assert.fail(`${key} never comes to ${name}: ${passed.join(' | ')}`);
}

async function fitsLowWindows(chrome, url) {
  // Half of the usual window is what it has at twice the size.
  const viewport = { width: 560, height: 380 };
  for (const language of ['en', 'zh']) {
    for (const [route, data] of SCREENS) {
      const { page, close } = await open(chrome, url, { route, data, language, viewport });
      await settled(page);
      await fits(page, `${route} (${language}) in a low window`);
      await close();
    }
  }
}

async function setsUpAndDecidesByKeyboard(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/overview' });
  await settled(page);
  await tabTo(page, 'Add a project');
  await page.keyboard.press('Enter');
  await shows(page, 'h1', 'What was found');
  await settled(page);
  await tabTo(page, 'Next');
  await page.keyboard.press('Enter');
  await shows(page, 'h1', 'Projects');
  // Each step begins at its heading, so that it is read out.
  assert.equal(await focused(page), 'Projects');
  await tabTo(page, /^dotfiles/);
  await page.keyboard.press('Space');
  await shows(page, '[role=status]', '1 chosen');
  await tabTo(page, 'Next');
  await page.keyboard.press('Enter');
  await shows(page, 'h1', 'Who answers');
  await tabTo(page, /^claude/);
  await page.keyboard.press('ArrowUp');
  await page.getByRole('radio', { name: /^anthropic/, checked: true }).waitFor();
  await tabTo(page, 'Next');
  await page.keyboard.press('Enter');
  await shows(page, 'h1', 'Budget and hour');
  await tabTo(page, 'Begins at');
  await page.keyboard.press('ArrowUp');
  await tabTo(page, 'Next');
  await page.keyboard.press('Enter');
  await shows(page, 'h1', 'A dry run');
  await tabTo(page, 'Do a dry run');
  await page.keyboard.press('Enter');
  await shows(page, '.card', '18 tasks');
  await tabTo(page, 'Done');
  await page.keyboard.press('Enter');
  await shows(page, 'article', 'dotfiles');

  // To a decision and through it.
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  assert.match(await focused(page), /^deploy-skill/);
  await page.keyboard.press('Enter');
  await shows(page, 'h1', 'deploy-skill');
  await settled(page);
  await tabTo(page, 'Adopt');
  await page.keyboard.press('Enter');
  await shows(page, '.note', 'Adopted');
  // The button that was pressed is gone; who reads by ear is told where they are.
  assert.equal(await focused(page), 'deploy-skill');

  // And to a setting.
  await tabTo(page, 'Settings', 'Shift+Tab');
  await page.keyboard.press('Enter');
  await shows(page, 'h1', 'Settings');
  await settled(page);
  await tabTo(page, 'Calls per night');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('300');
  await page.keyboard.press('Tab');
  await shows(page, '.toast', '“Calls per night” is saved.');
  await close();
}

async function readsAndChoosesByKeyboard(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-031702' });
  await settled(page);
  await tabTo(page, 'Take rule 2');
  await page.keyboard.press('Space');
  await shows(page, '.note', 'Adopt 2 of 3 rules.');
  await tabTo(page, 'Where it comes from');
  await page.keyboard.press('Enter');
  await shows(page, '.origin', 'You have to tell me about the migration');
  await page.keyboard.press('Space');
  await page.locator('.origin').waitFor({ state: 'detached' });
  // Both replies to a held-out task; the long ones scroll by keyboard too.
  await tabTo(page, /Deploy the checkout package/);
  await page.keyboard.press('Enter');
  await tabTo(page, 'Reply before');
  await tabTo(page, 'Reply after');
  await close();

  const flagged = await open(chrome, url, { route: '#/review/20261128-031655' });
  await settled(flagged.page);
  await tabTo(flagged.page, /^I have read them/);
  await flagged.page.keyboard.press('Space');
  await flagged.page.keyboard.press('a');
  await shows(flagged.page, '.toast', 'Adopted into AGENTS.md.');
  await tabTo(flagged.page, 'Undo');
  await flagged.page.keyboard.press('Enter');
  await shows(flagged.page, '.note', 'Adopted and taken back.');
  await flagged.close();
}

async function givesTheFocusBack(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-031702' });
  await settled(page);
  await tabTo(page, 'Keyboard shortcuts');
  await page.keyboard.press('Enter');
  await shows(page, 'dialog', 'Next change in the diff');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'Keyboard shortcuts');

  for (const leave of [() => page.keyboard.press('Escape'), () => page.getByRole('button', { name: 'Cancel' }).click()]) {
    await page.keyboard.press('r');
    await page.locator('#reason').waitFor();
    await leave();
    await page.locator('#reason').waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'Reject');
  }
  await page.keyboard.press('r');
  await page.keyboard.press('Enter');
  await shows(page, '.note', 'Rejected.');
  assert.equal(await focused(page), 'deploy-skill');

  await page.goto(page.url().replace(/#.*/, '#/overview'));
  await settled(page);
  await tabTo(page, 'Pause…');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent === 'For an hour');
  await tabTo(page, 'Cancel');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent === 'Pause…');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent === 'For an hour');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent === 'Resume');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent === 'Pause…');
  await close();
}

async function namesEverythingInItsLanguage(chrome, url) {
  const names = async (route, data, language) => {
    const { page, close } = await open(chrome, url, { route, data, language });
    await settled(page);
    const found = await page.evaluate(() => {
      const label = (node) => node.labels?.[0]?.innerText ?? '';
      return [...document.querySelectorAll('button:not(.request), input, select, textarea, nav, section, [role=region], [role=group], [role=img], progress')]
        .map((node) => [node.tagName, (node.getAttribute('aria-label') || label(node) || (node.tagName === 'BUTTON' ? node.innerText : '')).trim()])
        .filter(([, name]) => name !== '');
    });
    await close();
    return found;
  };
  // Of projects, files and programs, which are called the same everywhere.
  const same = /^(\/|~)|^(webshop|release-notes|infra)$|^(mock|anthropic|claude|handoff|openai_compatible|codex|minimax|qwen|qwen3:8b|persona-sim)\b|^[0-9a-f]{16}$/;
  for (const [route, data] of SCREENS) {
    const english = new Set((await names(route, data, 'en')).map(([, name]) => name));
    const both = (await names(route, data, 'zh')).filter(([, name]) => english.has(name) && !same.test(name));
    assert.deepEqual(both, [], `${route} says in Chinese what it says in English`);
  }
}

async function movesOnlyWhereThatIsLiked(chrome, url) {
  for (const [reducedMotion, moves] of [['reduce', false], ['no-preference', true]]) {
    const { page, close } = await open(chrome, url, { route: '#/settings', reducedMotion });
    await settled(page);
    await page.getByLabel('Colours', { exact: true }).selectOption('dark');
    await page.locator('.toast').waitFor();
    const animation = await page.evaluate(() => getComputedStyle(document.querySelector('.toast')).animationName);
    assert.equal(animation !== 'none', moves, `${reducedMotion}: ${animation}`);
    await close();
  }
}

async function watchesANight(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/overview', data: 'running' });
  await settled(page);
  await shows(page, 'article', 'held-out tasks with the new skill (Claude Code): 7 of 12 calls; at most about 4 min left');
  assert.ok(await page.getByRole('button', { name: 'Run now: webshop' }).isDisabled());
  await page.getByRole('link', { name: 'See how far it is' }).click();
  await shows(page, 'h1', 'webshop · Night 44');
  const bar = page.getByRole('progressbar', { name: 'held-out tasks with the new skill (Claude Code)' });
  assert.deepEqual(await bar.evaluate((node) => [node.value, node.max]), [7, 12]);
  await shows(page, '.note', '50 of at most 86 calls of this night');
  await shows(page, '.note', 'at most about 4 min left');
  await page.getByRole('button', { name: 'End this night' }).click();
  await shows(page, '.reason', 'Ended by you.');
  await close();
}

async function deletesWhatIsConfirmed(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings' });
  await settled(page);
  const show = page.getByRole('button', { name: 'Show what would go…' });
  const what = page.getByLabel('What is deleted');

  // Prompts and replies: shown first, and a second click.
  await show.click();
  await shows(page, '.bad', 'Prompts and replies – of every project');
  await shows(page, '.bad', 'Verdicts, proposals and backups stay. It cannot be undone.');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForFunction(() => document.activeElement?.textContent === 'Show what would go…');
  await show.click();
  await page.getByRole('button', { name: 'Delete the prompts and replies' }).click();
  await shows(page, '[role=status]', 'It was deleted.');

  // A project: by its name.
  await what.selectOption({ label: 'Everything of one project' });
  assert.ok(await show.isDisabled(), 'no project is chosen');
  await page.getByLabel('Of which project').selectOption({ label: 'infra' });
  await show.click();
  await shows(page, '.bad', '1 project');
  const project = page.getByRole('button', { name: 'Delete this project' });
  assert.ok(await project.isDisabled(), 'not by a click alone');
  await page.getByLabel('To confirm, type “infra”:').fill('webshop');
  assert.ok(await project.isDisabled(), 'not by the name of another');
  await page.getByLabel('To confirm, type “infra”:').fill('infra');
  await project.click();
  await shows(page, '[role=status]', 'It was deleted.');
  assert.equal(await page.getByLabel('Of which project').locator('option', { hasText: 'infra' }).count(), 0);

  // Everything.
  await what.selectOption({ label: 'Everything' });
  await show.click();
  await shows(page, '.bad', '2 projects');
  await page.getByLabel('To confirm, type “delete everything”:').fill('delete everything');
  await page.keyboard.press('Enter');
  await shows(page, '[role=status]', 'It was deleted.');
  await page.goto(page.url().replace(/#.*/, '#/overview'));
  await shows(page, 'h2', 'No project yet');
  await close();
}

async function saysWhatItWouldMeanFirst(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/project/p-7f3a91c2' });
  await settled(page);
  assert.ok(!(await page.getByLabel('Adopt without asking').isChecked()));
  await shows(page, '.note', 'is written without asking');
  // No night by itself, and none is promised.
  await page.getByLabel('Run nights by itself').uncheck();
  await shows(page, '.tonight', 'No night runs by itself here.');
  await close();
}

export async function manners(chrome, url) {
  const flows = [
    fitsLowWindows,
    setsUpAndDecidesByKeyboard,
    readsAndChoosesByKeyboard,
    givesTheFocusBack,
    namesEverythingInItsLanguage,
    movesOnlyWhereThatIsLiked,
    watchesANight,
    deletesWhatIsConfirmed,
    saysWhatItWouldMeanFirst,
  ];
  const found = [];
  for (const flow of flows) await flow(chrome, url).catch((error) => found.push(`${flow.name}: ${error.stack}`));
  if (found.length > 0) throw new Error(found.join('\n'));
  return `${flows.length} flows`;
}
