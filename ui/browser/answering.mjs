// Who answers, on what terms and for how much; and what a night says of tests of some rules.
import assert from 'node:assert/strict';

import { accessible, open, settled } from './window.mjs';

const shows = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor();
const gone = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor({ state: 'detached' });
const focused = (page) => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');

async function agreesToTermsWhereNightsAreSetUp(chrome, url) {
  for (const [language, words] of [
    ['en', { about: 'Nights run Claude Code by themselves', not: 'Terms not agreed to', agree: 'I agree that nights ask claude by themselves', agreed: 'You have agreed.', see: 'See what to agree to', ready: 'Ready' }],
    ['zh', { about: '夜间运行会自行启动 Claude Code', not: '尚未同意条款', agree: '我同意夜间运行自行向 claude 提问', agreed: '你已同意。', see: '查看需要同意的内容', ready: '就绪' }],
  ]) {
    const { page, close } = await open(chrome, url, { route: '#/settings', data: 'unagreed', language });
    await settled(page);
    const row = page.locator('.backend', { hasText: /^claude/ });
    await shows(page, '.backend .chip', words.not);
    assert.doesNotMatch(await row.innerText(), new RegExp(words.ready));
    assert.match(await row.innerText(), new RegExp(words.about));
    await accessible(page, `terms in the settings, ${language}`);
    await row.getByRole('button', { name: words.agree }).click();
    await page.waitForFunction((text) => document.activeElement?.textContent === text, words.agreed);
    await gone(page, '.backend .chip', words.not);
    assert.match(await row.innerText(), new RegExp(words.ready));
    await close();

    // A night that was put off for it, and its project in the overview, lead to where it can be done.
    for (const route of ['#/night/41', '#/overview']) {
      const other = await open(chrome, url, { route, data: 'unagreed', language });
      await settled(other.page);
      await other.page.getByRole('link', { name: words.see }).click();
      await other.page.waitForFunction(() => location.hash === '#/project/p-c40d72aa');
      await other.page.getByRole('button', { name: words.agree }).click();
      await shows(other.page, '.note', words.agreed);
      await other.close();
    }
  }
  // Whoever has agreed is asked nothing.
  const { page, close } = await open(chrome, url, { route: '#/project/p-7f3a91c2' });
  await settled(page);
  assert.equal(await page.getByText('I agree that nights').count(), 0);
  await close();
}

async function takesNothingOfTheFormerBackendAlong(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings' });
  await settled(page);
  const field = (name) => page.getByLabel(name, { exact: true });
  const saved = async (name) => shows(page, '.toast', `“${name}” is saved.`);
  await field('Who answers').selectOption('openai_compatible');
  await saved('Who answers');
  await field('Address of the model server').fill('https://models.example.org/v1');
  await field('Address of the model server').blur();
  await saved('Address of the model server');
  await field('Name of the key').fill('EXAMPLE_KEY');
  await field('Name of the key').blur();
  await saved('Name of the key');

  // In a project: neither what it said itself nor what is the user's.
  await page.goto(page.url().replace(/#.*/, '#/project/p-7f3a91c2'));
  await settled(page);
  await page.getByRole('button', { name: 'All settings of this group' }).nth(2).click();
  assert.equal(await field('Name of the key').inputValue(), 'EXAMPLE_KEY');
  await field('Who answers').selectOption('anthropic');
  await page.waitForFunction(() => document.querySelector('#set-models-api_key_env').value === '');
  assert.equal(await field('Address of the model server').inputValue(), '');
  // Given up, it is again as for every project.
  await page.getByRole('button', { name: 'Use the default again: Who answers' }).click();
  await page.waitForFunction(() => document.querySelector('#set-models-api_key_env').value === 'EXAMPLE_KEY');

  await page.goto(page.url().replace(/#.*/, '#/settings'));
  await settled(page);
  assert.equal(await field('Name of the key').inputValue(), 'EXAMPLE_KEY');
  await field('Who answers').selectOption('anthropic');
  await page.waitForFunction(() => document.querySelector('#set-models-api_key_env').value === '');
  assert.equal(await field('Address of the model server').inputValue(), '');
  await close();
}

async function testsEachModelOfABackend(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings' });
  await settled(page);
  await page.getByRole('button', { name: 'Test claude' }).click();
  const row = page.locator('.backend', { hasText: /^claude/ });
  await shows(page, '.backend', 'Works: haiku in 1.8 s');
  const said = (await row.innerText()).replace(/\s+/g, ' ');
  assert.match(said, /Works: haiku in 1\.8 s does the tasks 31 tokens in, 1 out · \$0\.0002 estimate/);
  assert.match(said, /Works: sonnet in 1\.8 s proposes, judges/);
  // A person answers in their own time, and it is not said that it works in no time.
  await page.getByRole('button', { name: 'Test handoff' }).click();
  await shows(page, '.backend', 'A person answers, so nothing was asked');
  await accessible(page, 'a backend that was tested');
  // With other settings it would come to something else.
  await page.getByLabel('Who answers', { exact: true }).selectOption('anthropic');
  await gone(page, '.backend', 'Works: haiku in 1.8 s');
  await close();

  const half = await open(chrome, url, { route: '#/settings', data: 'half' });
  await settled(half.page);
  await half.page.getByRole('button', { name: 'Test claude' }).click();
  await shows(half.page, '.backend', 'Works: haiku');
  await shows(half.page, '.backend .chip', 'Does not work');
  await shows(half.page, '.backend [role=alert]', 'does not know the model');
  await half.close();
}

async function removesAKeyOnlyWhenAsked(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings' });
  await settled(page);
  const key = page.getByText('ANTHROPIC_API_KEY', { exact: true });
  for (const leave of [() => page.keyboard.press('Escape'), () => page.getByRole('button', { name: 'Cancel' }).click()]) {
    await page.getByRole('button', { name: 'Remove ANTHROPIC_API_KEY' }).click();
    await page.waitForFunction(() => document.activeElement?.textContent.startsWith('Remove the key ANTHROPIC_API_KEY?'));
    await accessible(page, 'a key that is to be removed');
    await leave();
    await key.waitFor();
    assert.equal(await focused(page), 'Remove');
    assert.match(page.url(), /#\/settings/);
  }
  // And by keys alone. Escape in another place is not that of the question.
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent.startsWith('Remove the key'));
  await page.keyboard.press('?');
  await page.locator('dialog[open]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.textContent.startsWith('Remove the key'));
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Remove the key');
  await page.keyboard.press('Enter');
  await shows(page, '.toast', 'The key was removed.');
  await key.waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'Keys');
  await close();
}

/** Whether the middle of an element is seen, and nothing lies over it. */
const inSight = (locator) =>
  locator.evaluate((node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return node.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });

async function showsAndEndsATestOfSomeRules(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-031702', data: 'testing' });
  await settled(page);
  const second = page.getByLabel('Take rule 2');
  await second.uncheck();
  await shows(page, '.note', 'Adopt 2 of 3 rules. The gate has not seen this choice of rules.');
  await page.getByRole('button', { name: 'Test it first' }).click();
  const under = page.getByRole('group', { name: 'Testing on the held-out tasks' });
  await under.waitFor();
  await shows(page, '.note', '7 of 12 calls');
  assert.match((await under.innerText()).replace(/\s+/g, ' '), /29\.5K tokens · \$0\.0668 estimate/);
  assert.deepEqual(await under.getByRole('progressbar').evaluate((node) => [node.value, node.max]), [7, 12]);
  // The rules are far below the top of the page, where nobody scrolls to because of a button.
  assert.ok(await inSight(under.getByRole('button', { name: 'End the test' })), 'how to end it is in sight');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Testing on the held-out tasks');
  assert.ok(await second.isDisabled(), 'the choice that is tested stays');
  await accessible(page, 'a test that runs');
  await under.getByRole('button', { name: 'End the test' }).click();
  await shows(page, '[role=alert]', 'The test was ended. Nothing was adopted');
  await under.waitFor({ state: 'detached' });
  assert.ok(await page.getByRole('button', { name: 'Test it first' }).isEnabled());
  // What was said of one choice is not said of another.
  await page.getByLabel('Take rule 1').uncheck();
  await gone(page, '[role=alert]', 'The test was ended.');
  await close();
}

async function findsATestThatWasBegunEarlier(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/20261129-031702', data: 'tested-elsewhere' });
  await settled(page);
  await shows(page, '.note', '7 of 12 calls');
  assert.ok(await page.getByRole('button', { name: 'Adopt', exact: true }).isDisabled());
  assert.ok(await page.getByLabel('Take rule 1').isDisabled());
  await page.getByRole('button', { name: 'End the test' }).click();
  await page.getByRole('group', { name: 'Testing on the held-out tasks' }).waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  assert.ok(await page.getByRole('button', { name: 'Adopt', exact: true }).isEnabled());
  // Among the nights it is ended by the same words.
  await page.goto(`${url}?data=tested-elsewhere&again#/night/45`);
  await settled(page);
  await page.getByRole('button', { name: 'End the test' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'End this night' }).count(), 0);
  await close();
}

async function saysWhatANightWasThatIsNone(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/night/38' });
  await settled(page);
  await shows(page, 'h1', 'webshop · Test of some rules 38');
  await shows(page, 'nav a', 'Test of some rules 38');
  await shows(page, 'nav a[aria-current]', 'Not better');
  await shows(page, 'nav a', 'Dry run 37');
  await shows(page, '.reason', 'The chosen rules alone are not better on the held-out tasks.');
  await shows(page, '.main section', 'No better: the same on 6 held-out tasks. 0.42 → 0.42');
  await page.getByRole('button', { name: 'Deploy the checkout package' }).click();
  await shows(page, '.reply', 'Deployed checkout to staging.');
  await accessible(page, 'a test of some rules');
  await close();
}

async function namesTheProjectInTheTitle(chrome, url) {
  for (const [route, title] of [
    ['#/project/p-7f3a91c2', 'Settings of webshop – SkillOpt'],
    ['#/handoff/p-1b88e0d4', 'Questions of release-notes – SkillOpt'],
    ['#/night/42', 'webshop · Night 42 – SkillOpt'],
    ['#/settings', 'Settings – SkillOpt'],
  ]) {
    const { page, close } = await open(chrome, url, { route });
    await page.waitForFunction((title) => document.title === title, title).catch(async () => assert.equal(await page.title(), title));
    await close();
  }
}

async function saysWhatMoneyIsInAndThatItIsAnEstimate(chrome, url) {
  for (const [data, sign] of [['usual', '$'], ['euro', '€']]) {
    for (const [route, place, amount] of [
      ['#/overview', 'article[aria-label=webshop] dd', '6.87 in 18 nights'],
      ['#/night/42', '.facts dd', '0.41'],
      ['#/review/20261129-031702', '.title a', '0.41, 74 calls'],
    ]) {
      const { page, close } = await open(chrome, url, { route, data });
      await settled(page);
      const said = page.locator(place, { hasText: `${sign}${amount}` });
      await said.waitFor();
      assert.equal(await said.locator('.chip', { hasText: 'estimate' }).count(), 1, `${route} says that it is one`);
      await close();
    }
  }
  const { page, close } = await open(chrome, url, { route: '#/overview' });
  await settled(page);
  await shows(page, 'article[aria-label=release-notes] dd', '12.33 requests of the plan');
  assert.equal(await page.locator('article[aria-label=webshop]', { hasText: 'of the plan' }).count(), 0);
  await page.goto(page.url().replace(/#.*/, '#/night/43'));
  await settled(page);
  await shows(page, '.facts', '2 requests of the plan');
  await close();
  // A limit says what it is in.
  for (const [data, currency] of [['usual', 'USD'], ['euro', 'EUR']]) {
    const limits = await open(chrome, url, { route: '#/settings', data });
    await settled(limits.page);
    await limits.page.getByLabel('Most a night may cost (0: no limit)', { exact: true }).waitFor();
    await shows(limits.page, '.amount', currency);
    await limits.close();
  }
}

async function drawsTheFirstDecisionsWithTheirMarks(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/overview', data: 'many' });
  await settled(page);
  assert.equal(await page.locator('a.decision').count(), 20);
  await page.getByRole('link', { name: 'Show all 500' }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/review'));
  await close();

  const usual = await open(chrome, url, { route: '#/overview' });
  await settled(usual.page);
  const flagged = usual.page.locator('a.decision', { hasText: '2 places need your eyes' });
  assert.equal(await flagged.count(), 1);
  assert.match(await flagged.getAttribute('href'), /20261128-031655/);
  assert.equal(await usual.page.getByRole('link', { name: /^Show all/ }).count(), 0);
  await usual.close();

  const stale = await open(chrome, url, { route: '#/overview', data: 'stale' });
  await settled(stale.page);
  await shows(stale.page, 'a.decision .chip', 'Out of date');
  await stale.close();
}

async function saysHowTheScoreWentAndWhatWasCaughtUp(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/overview' });
  await settled(page);
  await page.getByRole('img', { name: 'Held-out score over 8 nights: from 0.42 to 0.75' }).waitFor();
  await shows(page, 'article[aria-label=infra] dd', /caught up for Nov 28/);
  assert.equal(await page.getByText('caught up for').count(), 1);
  await close();
}

export async function answering(chrome, url) {
  const flows = [
    agreesToTermsWhereNightsAreSetUp,
    takesNothingOfTheFormerBackendAlong,
    testsEachModelOfABackend,
    removesAKeyOnlyWhenAsked,
    showsAndEndsATestOfSomeRules,
    findsATestThatWasBegunEarlier,
    saysWhatANightWasThatIsNone,
    namesTheProjectInTheTitle,
    saysWhatMoneyIsInAndThatItIsAnEstimate,
    drawsTheFirstDecisionsWithTheirMarks,
    saysHowTheScoreWentAndWhatWasCaughtUp,
  ];
  const found = [];
  for (const flow of flows) await flow(chrome, url).catch((error) => found.push(`${flow.name}: ${error.stack}`));
  if (found.length > 0) throw new Error(found.join('\n'));
  return `${flows.length} flows`;
}
