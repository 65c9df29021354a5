// What somebody sees who is new here: nothing is chosen for them, and every sentence can be acted on.
import assert from 'node:assert/strict';

import { open, settled } from './window.mjs';

const shows = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor();

async function choosesBeforeAnythingIsWritten(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/first-run', data: 'empty' });
  await settled(page);
  const next = page.getByRole('button', { name: 'Next' });
  await next.click();
  await shows(page, 'h1', 'Projects');
  assert.ok(await next.isDisabled(), 'without a project');
  await shows(page, '#missing', 'Choose at least one project first.');
  await page.getByLabel(/webshop/).check();
  await next.click();
  await shows(page, 'h1', 'Who answers');

  // What cannot answer yet is neither passed nor written, and says what it needs.
  for (const [name, needs] of [[/^codex/, 'Codex is signed out.'], [/^qwen\b.*vLLM/, 'No model server answers at']]) {
    await page.getByRole('radio', { name }).check();
    await shows(page, '.about', needs);
    assert.ok(await next.isDisabled(), String(name));
    await shows(page, '#missing', 'cannot answer yet');
  }
  // A key that is there answers what a test said before.
  await page.getByRole('radio', { name: /^minimax/ }).check();
  await page.getByRole('button', { name: 'Test minimax' }).click();
  await shows(page, '[role=alert]', 'MINIMAX_API_KEY is not set');
  await page.getByLabel('Key for minimax').fill('a key');
  await page.getByRole('button', { name: 'Store' }).click();
  await page.locator('[role=alert]', { hasText: 'MINIMAX_API_KEY is not set' }).waitFor({ state: 'detached' });
  // What needs nothing says that it is no model.
  assert.match(await page.locator('label:has(input[value=mock])').innerText(), /^mock\s+Simulation/);
  assert.match(await page.locator('label:has(input[value=handoff])').innerText(), /^handoff\s+You answer/);
  const names = await page.locator('fieldset strong').allInnerTexts();
  assert.ok(names.indexOf('anthropic') < names.indexOf('mock'), `a model comes first: ${names}`);
  await page.getByRole('radio', { name: /^anthropic/ }).check();

  // Leaving the step is what writes: who goes elsewhere has changed nothing.
  assert.ok(!(await next.isDisabled()));
  await page.getByRole('link', { name: 'Settings' }).click();
  await shows(page, '.backend', 'claude');
  const used = () => page.locator('.backend', { hasText: 'In use' }).locator('strong').allInnerTexts();
  assert.deepEqual(await used(), ['claude'], 'a click chose it already');
  await close();
}

async function saysWhatANightCameTo(chrome, url) {
  for (const [language, words] of [
    ['en', { waits: '3 questions wait for an answer.', answer: 'Answer its questions', why: 'nothing you said tells', left: 'This session ended' }],
    ['zh', { waits: '3 个问题等待回答。', answer: '回答它的问题', why: '你没有说过什么样的回答算好', left: '这个会话是我们自己的调用。' }],
  ]) {
    const { page, close } = await open(chrome, url, { route: '#/night/43', language });
    await settled(page);
    await shows(page, '.reason', words.waits);
    await page.getByRole('link', { name: words.answer }).click();
    await page.waitForFunction(() => location.hash === '#/handoff/p-1b88e0d4');
    await page.goto(page.url().replace(/#.*/, '#/night/42'));
    await settled(page);
    await shows(page, '.main li', words.why);
    if (language === 'zh') await shows(page, '.main li', words.left);
    assert.equal(await page.locator('.main li', { hasText: 'Bookkeeping' }).count(), 0);
    // A stage of questions took as long as it was until the next.
    const took = await page.locator('tbody tr').first().locator('td').last().innerText();
    assert.match(took, /52/, took);
    await page.locator('[aria-labelledby=events] button').click();
    await shows(page, '.event', 'asked: haiku; answered by: claude-haiku-4-5');
    await close();
  }
}

async function showsQuestionsByWhatIsTheirOwn(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/handoff/p-1b88e0d4' });
  await settled(page);
  const first = page.getByRole('region', { name: 'Question 4f0c2e9a71b3d658' });
  const seen = await first.innerText();
  assert.match(seen, /Write the notes of release 4\.10/);
  assert.doesNotMatch(seen, /offline evaluation/);
  await first.locator('summary').first().click();
  assert.match(await first.innerText(), /offline evaluation/);
  // One of its kind has nothing to be compared with.
  assert.match(await page.getByRole('region', { name: 'Question 0be1f3328d96c47a' }).innerText(), /offline evaluation/);
  await close();
}

async function listsWhatIsDecidedAmongTheOthers(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261121-031801' });
  await settled(page);
  await page.getByRole('button', { name: 'All', pressed: true }).waitFor();
  // One that waited when it was opened stays where it was.
  await page.goto(page.url().replace(/#.*/, '#/overview'));
  await page.goto(page.url().replace(/#.*/, '#/review/20261129-031702'));
  await settled(page);
  await page.getByRole('button', { name: 'Waiting', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Adopt', exact: true }).click();
  await shows(page, '.note', 'Adopted');
  await page.getByRole('button', { name: 'Waiting', pressed: true }).waitFor();
  await shows(page, '.list', 'Adopted');
  await close();
}

async function tellsOnceAndWithoutNumbersOfMachines(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-031702' });
  await settled(page);
  await page.keyboard.press('o');
  const origin = page.locator('.origin').first();
  await shows(page, '.origin summary', /\d+ turns? in \d+ sessions?/);
  assert.doesNotMatch(await origin.innerText(), /5d2f81aa/);
  await origin.locator('summary').click();
  assert.match(await origin.innerText(), /session 5d2f81aa/);
  await close();
}

async function countsNightsThatCostNothing(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/overview' });
  await settled(page);
  await shows(page, 'article[aria-label=infra]', '2 nights, nothing spent');
  await shows(page, 'article[aria-label=webshop]', '$6.87 in 18 nights');
  await close();
}

async function speaksTheLanguageTheShellNames(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/overview' });
  await page.goto(`${url}?data=usual&language=zh#/overview`);
  await shows(page, 'h1', '概览');
  await close();
}

async function drawsWhatIsNotChosenInTheDark(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/first-run', data: 'empty', theme: 'dark' });
  await settled(page);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel(/webshop/).check();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('radio', { name: /^anthropic/ }).check();
  const looks = await page.locator('input[type=radio]').evaluateAll((all) =>
    all.map((one) => ({
      chosen: one.checked,
      appearance: getComputedStyle(one).appearance,
      back: getComputedStyle(one).backgroundColor,
      page: getComputedStyle(document.documentElement).backgroundColor,
      dot: getComputedStyle(one, '::before').content,
    })),
  );
  for (const { chosen, appearance, back, page: around, dot } of looks) {
    assert.equal(appearance, 'none');
    assert.equal(back, around, 'the inside is as dark as the page');
    assert.equal(dot !== 'none', chosen, 'only the chosen one has a dot');
  }
  assert.equal(looks.filter(({ chosen }) => chosen).length, 1);
  await close();
}

async function showsCodeAsCode(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings' });
  await settled(page);
  await shows(page, 'section code', 'skillopt daemon');
  assert.doesNotMatch(await page.locator('main').innerText(), /`/);
  await close();
}

export async function newcomer(chrome, url) {
  const flows = [
    choosesBeforeAnythingIsWritten,
    saysWhatANightCameTo,
    showsQuestionsByWhatIsTheirOwn,
    listsWhatIsDecidedAmongTheOthers,
    tellsOnceAndWithoutNumbersOfMachines,
    countsNightsThatCostNothing,
    speaksTheLanguageTheShellNames,
    drawsWhatIsNotChosenInTheDark,
    showsCodeAsCode,
  ];
  const found = [];
  for (const flow of flows) await flow(chrome, url).catch((error) => found.push(`${flow.name}: ${error.stack}`));
  if (found.length > 0) throw new Error(found.join('\n'));
  return `${flows.length} flows`;
}
