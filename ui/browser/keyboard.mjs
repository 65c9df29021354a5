// A review with the keyboard alone: move, look, adopt, undo, reject, confirm flags, choose rules.
import assert from 'node:assert/strict';

import { open, settled } from './window.mjs';

const heading = (page) => page.locator('.main h1').innerText();

async function waitForHeading(page, text) {
  await page.waitForFunction((text) => document.querySelector('.main h1')?.innerText === text, text);
}

/** Presses a key until a condition holds: what follows from a key is drawn a moment later. */
async function shows(page, selector, text) {
  await page.locator(selector, { hasText: text }).first().waitFor();
}

async function movesAndDecides(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review' });
  await waitForHeading(page, 'deploy-skill');
  await settled(page);

  await page.keyboard.press('j');
  await waitForHeading(page, 'CLAUDE.md');
  await page.keyboard.press('k');
  await waitForHeading(page, 'deploy-skill');
  await settled(page);

  // Where the rules come from, and back.
  assert.equal(await page.locator('.origin').count(), 0);
  await page.keyboard.press('o');
  await shows(page, '.origin', 'You have to tell me about the migration');
  await page.keyboard.press('o');
  await page.locator('.origin').first().waitFor({ state: 'detached' });

  // Two columns and back.
  await page.keyboard.press('v');
  await page.locator('.diff.split').waitFor();
  await page.keyboard.press('v');
  await page.locator('.diff.unified').waitFor();

  // The next change comes into sight.
  await page.keyboard.press('n');
  const inSight = await page.locator('.side.added').first().isVisible();
  assert.ok(inSight);

  await page.keyboard.press('a');
  await shows(page, '.toast', 'Adopted into deploy-skill.');
  await shows(page, '.actions', 'Undo adoption');
  await page.keyboard.press('u');
  await shows(page, '.note', 'Adopted and taken back.');

  await page.keyboard.press('j');
  await waitForHeading(page, 'CLAUDE.md');
  await settled(page);
  await page.keyboard.press('r');
  await page.locator('#reason').waitFor();
  await page.keyboard.type('jk are letters here');
  await page.keyboard.press('Enter');
  await shows(page, '.note', 'Rejected: jk are letters here');
  assert.equal(await heading(page), 'CLAUDE.md');
  await page.keyboard.press('u');
  await shows(page, '.toast', 'It waits again.');
  await shows(page, '.actions', 'Adopt');
  await close();
}

async function undoesAtOnce(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261128-031655' });
  await settled(page);
  await page.getByLabel(/I have read them \(command, url\)/).check();
  // The quickest hand there is: it presses Undo in the instant that it is drawn.
  await page.evaluate(() => {
    new MutationObserver((_, observer) => {
      const undo = document.querySelector('.toast button');
      if (undo?.innerText !== 'Undo') return;
      observer.disconnect();
      undo.click();
    }).observe(document.body, { childList: true, subtree: true });
  });
  await page.keyboard.press('a');
  await shows(page, '.toast', 'Taken back, byte for byte.');
  await shows(page, '.note', 'Adopted and taken back.');
  await close();
}

async function asksAboutFlags(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261128-031655' });
  await settled(page);
  await shows(page, '.note', '2 places need your eyes');
  // The list says so of this one alone, also to who reads by ear.
  const marked = page.getByRole('link', { name: /2 places need your eyes/ });
  assert.equal(await marked.count(), 1);
  assert.match(await marked.getAttribute('href'), /20261128-031655/);
  assert.equal(await page.locator('.list .flag').count(), 1);
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  await shows(page, '.chip', 'Viewed');
  const adopt = page.getByRole('button', { name: 'Adopt', exact: true });
  assert.ok(await adopt.isDisabled(), 'a flagged proposal is not adopted without a word');
  await page.getByLabel(/I have read them \(command, url\)/).check();
  await page.keyboard.press('a');
  await shows(page, '.toast', 'Adopted into AGENTS.md.');
  // What was decided needs no eyes any more.
  await page.locator('.list .flag').waitFor({ state: 'detached' });
  await close();

  const chinese = await open(chrome, url, { route: '#/review/20261128-031655', language: 'zh' });
  await settled(chinese.page);
  await shows(chinese.page, '.note', '它要智能体运行一个命令。');
  await chinese.page.getByLabel('我已读过（命令，网址）；仍然采纳').check();
  assert.doesNotMatch(await chinese.page.locator('.note.warn').first().innerText(), /It (names|has|tells)/);
  await chinese.close();
}

async function testsASubset(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-031702' });
  await settled(page);
  await page.getByLabel('Take rule 2').uncheck();
  await shows(page, '.note', 'Adopt 2 of 3 rules. The gate has not seen this choice of rules.');
  await shows(page, '.left-out', 'Name the migration');
  const untested = page.getByRole('button', { name: 'Adopt untested' });
  assert.ok(await untested.isEnabled());
  assert.ok(await page.getByRole('button', { name: 'Test it first' }).isEnabled());
  // The key does what the first button says, and writes nothing that no test has seen.
  await page.keyboard.press('a');
  await shows(page, '[role=alert]', 'Not adopted: the chosen rules alone are not better');
  assert.equal(await page.locator('.toast').count(), 0);
  await page.getByLabel('Take rule 2').check();
  await page.getByLabel('Take rule 3').uncheck();
  await page.keyboard.press('a');
  await shows(page, '.toast', 'Adopted into deploy-skill.');
  await close();
}

async function stepsThroughEveryDocument(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261130-030114', data: 'two-documents' });
  await settled(page);
  const inSight = (text) =>
    page.waitForFunction((text) => {
      const box = [...document.querySelectorAll('.side.added')].find((line) => line.innerText.includes(text))?.getBoundingClientRect();
      return box !== undefined && box.top >= 0 && box.bottom <= window.innerHeight;
    }, text);
  const presses = async (key, text) => {
    for (let press = 0; press < 20; press += 1) {
      await page.keyboard.press(key);
      const found = await inSight(text).then(() => true, () => false);
      if (found) return;
    }
    assert.fail(`${key} never comes to "${text}"`);
  };
  page.setDefaultTimeout(1_000);
  await presses('n', 'Name the migration');
  await presses('n', 'Group the entries');
  await presses('p', 'Name the migration');
  await close();
}

async function saysWhatCannotBeAdopted(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-031702', data: 'stale' });
  await settled(page);
  await shows(page, '.item .chip', 'Out of date');
  await shows(page, '.note', 'The file has changed since this was proposed.');
  assert.ok(await page.getByRole('button', { name: 'Adopt', exact: true }).isDisabled());
  await close();
}

async function saysWhoseFileItIs(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-032544' });
  await settled(page);
  await shows(page, '.note', 'Under version control: the change is everyone’s once you commit it.');
  await page.goto(page.url().replace(/#.*/, '#/review/20261129-031702'));
  await waitForHeading(page, 'deploy-skill');
  await settled(page);
  assert.equal(await page.locator('.note', { hasText: 'Under version control' }).count(), 0);
  await close();
}

async function showsWhatDidNotHelp(chrome, url) {
  // Nothing came of this night; what it tried and what was answered is there all the same.
  const { page, close } = await open(chrome, url, { route: '#/night/33' });
  await settled(page);
  await shows(page, '.edits li', 'did not help');
  await shows(page, '.edits li', 'The rule is already there.');
  await page.getByRole('button', { name: 'Deploy the checkout package' }).click();
  await shows(page, '.reply', 'Deployed checkout to staging.');
  assert.equal(await page.getByText('The request is not kept any more.').count(), 0);
  await close();
}

async function findsHelpAndFilter(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-031702' });
  await settled(page);
  await page.keyboard.press('?');
  await shows(page, 'dialog', 'Next change in the diff');
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.keyboard.type('agents');
  await page.waitForFunction(() => document.querySelectorAll('.item').length === 1);
  await page.keyboard.press('Enter');
  await waitForHeading(page, 'AGENTS.md');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await shows(page, 'h1', 'Overview');
  await close();
}

async function reachesEverythingByTab(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/overview' });
  await settled(page);
  const names = [];
  for (let press = 0; press < 30; press += 1) {
    await page.keyboard.press('Tab');
    const [name, outline] = await page.evaluate(() => {
      const focused = document.activeElement;
      if (focused === document.body) return ['', ''];
      return [focused.getAttribute('aria-label') ?? focused.textContent.trim().slice(0, 40), getComputedStyle(focused).outlineStyle];
    });
    if (name === '' || names.includes(name)) break;
    assert.notEqual(outline, 'none', `the focus on "${name}" is seen`);
    names.push(name);
  }
  for (const wanted of ['Run now: webshop', 'Settings of webshop', 'Settings of infra']) assert.ok(names.includes(wanted), `${wanted}: ${names}`);
  await close();
}

async function setsUpAProject(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/first-run', data: 'empty' });
  await settled(page);
  await shows(page, '.note', 'Claude Code deletes its sessions after 30 days');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel(/webshop/).check();
  await page.getByRole('button', { name: 'Next' }).click();
  // A model server that was found works with one click: its address and model come with it.
  await page.getByRole('radio', { name: /qwen3:8b/ }).check();
  await page.getByRole('button', { name: 'Test openai_compatible' }).click();
  await shows(page, '.chip', 'Works: ');
  // Another one needs a key, which is kept here.
  await page.getByRole('radio', { name: /^minimax/ }).check();
  await page.getByLabel('Key for minimax').fill('made-up');
  await page.getByRole('button', { name: 'Store' }).click();
  await page.getByLabel('Key for minimax').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Test minimax' }).click();
  await shows(page, '.chip', 'Works: MiniMax-M2 in 1.8 s');
  await shows(page, 'li', '31 tokens in, 1 out');
  await page.getByRole('radio', { name: /^claude/ }).check();
  await shows(page, '.note', 'Nights run Claude Code by themselves');
  await page.getByRole('button', { name: 'I agree that nights ask claude by themselves' }).click();
  await shows(page, '.chip', 'You have agreed.');
  await page.getByRole('button', { name: 'Test claude' }).click();
  await shows(page, '.chip', 'Works: haiku in 1.8 s');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Calls per night', { exact: true }).fill('-1');
  await page.getByRole('button', { name: 'Next' }).click();
  await shows(page, '[role=alert]', 'must be a whole number from 0');
  await page.getByLabel('Calls per night', { exact: true }).fill('300');
  assert.equal(await page.getByLabel('Begins at', { exact: true }).inputValue(), '03:17');
  await page.getByLabel('Begins at', { exact: true }).fill('04:05');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Do a dry run' }).click();
  await shows(page, '.card', '6 new sessions, 18 tasks');
  // Without it, nights would stop with the next sign-in.
  assert.ok(await page.getByLabel('Start with the session').isChecked());
  await page.getByRole('button', { name: 'Done' }).click();
  await shows(page, 'article', 'webshop');
  await page.locator('article a[href^="#/project/"]').first().click();
  await page.getByLabel('Begins at', { exact: true }).waitFor();
  assert.equal(await page.getByLabel('Begins at', { exact: true }).inputValue(), '04:05');
  await page.goto(page.url().replace(/#.*/, '#/settings'));
  assert.ok(await page.getByLabel('Start with the session').isChecked());
  await close();
}

async function triesAgainWhatIsRegistered(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/first-run' });
  await settled(page);
  for (let step = 0; step < 4; step += 1) await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Do a dry run' }).click();
  await shows(page, '.card', '6 new sessions, 18 tasks');
  await page.getByLabel('Start with the session').uncheck();
  await page.getByRole('button', { name: 'Done' }).click();
  await shows(page, 'h1', 'Overview');
  await page.goto(page.url().replace(/#.*/, '#/settings'));
  await settled(page);
  assert.ok(!(await page.getByLabel('Start with the session').isChecked()));
  await close();
}

async function answersQuestions(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/handoff/p-1b88e0d4' });
  await settled(page);
  await shows(page, '.note', 'Not an answer: it is empty');
  const ids = ['4f0c2e9a71b3d658', 'a09d7715ce4420fb', '0be1f3328d96c47a'];
  await page.getByLabel(`Answer to ${ids[0]}`).fill('Delivery dates are shown.');
  await page.getByRole('button', { name: 'Save the answer' }).first().click();
  await shows(page, '.note', '1 of 3 answered');
  // The others come as files, one of them with a name nobody asked for.
  const files = await page.evaluateHandle((names) => {
    const data = new DataTransfer();
    for (const name of names) data.items.add(new File(['Answered.'], name));
    return data;
  }, [`${ids[1]}.md`, `${ids[2]}.md`, 'other.md']);
  await page.dispatchEvent('.page', 'drop', { dataTransfer: files });
  await shows(page, '.note', 'All are answered');
  await shows(page, '[role=alert]', 'other.md is not named by one of these questions.');
  await close();
}

async function keepsErrorsWhereTheyBelong(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/project/p-7f3a91c2' });
  await settled(page);
  const calls = page.getByLabel('Calls per night', { exact: true });
  await calls.fill('-1');
  await calls.blur();
  await shows(page, '.field [role=alert]', 'must be a whole number from 0');
  await calls.fill('300');
  await calls.blur();
  await page.locator('.field [role=alert]').waitFor({ state: 'detached' });
  const time = page.getByLabel('Begins at', { exact: true });
  assert.equal(await time.inputValue(), '03:17');
  // By keys alone; what is unfinished is no wish, and the time that holds comes back.
  await time.focus();
  await page.keyboard.press('Backspace');
  await time.blur();
  assert.equal(await time.inputValue(), '03:17');
  await time.focus();
  await page.keyboard.type('05');
  await page.keyboard.press('Enter');
  await shows(page, '.tonight li', 'tomorrow, 05:17');
  await shows(page, '.field', 'this project');
  await close();
}

export async function keyboard(chrome, url) {
  const flows = [
    movesAndDecides,
    undoesAtOnce,
    asksAboutFlags,
    testsASubset,
    stepsThroughEveryDocument,
    saysWhatCannotBeAdopted,
    saysWhoseFileItIs,
    showsWhatDidNotHelp,
    findsHelpAndFilter,
    reachesEverythingByTab,
    setsUpAProject,
    triesAgainWhatIsRegistered,
    answersQuestions,
    keepsErrorsWhereTheyBelong,
  ];
  for (const flow of flows) {
    try {
      await flow(chrome, url);
    } catch (error) {
      error.message = `${flow.name}: ${error.message}`;
      throw error;
    }
  }
  return `${flows.length} flows`;
}
