// What settings of the app do to the window, the pause, the log, the report, and a project that has gone.
import assert from 'node:assert/strict';

import { accessible, open, settled } from './window.mjs';

const shows = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor();

async function speaksTheLanguageOfTheSetting(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings' });
  await settled(page);
  await page.getByLabel('Language', { exact: true }).selectOption('zh');
  await shows(page, 'h1', '设置');
  await page.getByLabel('语言', { exact: true }).selectOption('en');
  await shows(page, 'h1', 'Settings');
  await close();
}

async function showsTheColoursOfTheSetting(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings' });
  await settled(page);
  const colour = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await colour();
  await page.getByLabel('Colours', { exact: true }).selectOption('dark');
  await page.locator('html[data-theme="dark"]').waitFor({ state: 'attached' });
  assert.notEqual(await colour(), light);
  await close();
}

async function pausesAndGoesOn(chrome, url) {
  for (const route of ['#/overview', '#/settings']) {
    const { page, close } = await open(chrome, url, { route });
    await settled(page);
    for (const choice of ['For an hour', 'Until tomorrow', 'Until I resume']) {
      await page.getByRole('button', { name: 'Pause…' }).click();
      await page.getByRole('button', { name: choice }).click();
      await shows(page, '.note', 'Nights are paused');
      await page.getByRole('button', { name: 'Resume' }).click();
    }
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByLabel('Until the day').fill('2026-12-24');
    await accessible(page, `the pause at ${route}`);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await shows(page, '.note', 'Dec 24');
    await close();
  }
}

async function showsTheLogAndTheReportBeforeItIsWritten(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings' });
  await settled(page);
  await page.getByRole('button', { name: 'Show the last lines' }).click();
  await shows(page, 'pre', 'Night 42');
  assert.equal(await page.getByLabel('Write it to this file').count(), 0, 'nothing is written unseen');
  await page.getByRole('button', { name: 'Show the report' }).click();
  await shows(page, 'pre', 'SkillOpt report');
  await page.getByLabel('Write it to this file').fill('report.txt');
  await page.getByRole('button', { name: 'Write', exact: true }).click();
  await shows(page, '[role=alert]', 'cannot be written');
  await page.getByLabel('Write it to this file').fill('/home/ana/report.txt');
  await page.getByRole('button', { name: 'Write', exact: true }).click();
  await shows(page, '.note', 'The report is in /home/ana/report.txt.');
  await accessible(page, 'the log and the report');
  await close();
}

async function findsAProjectThatMoved(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/overview', data: 'gone' });
  await settled(page);
  await shows(page, '.note', 'The folder is gone.');
  await accessible(page, 'a project that has gone');
  await page.getByRole('link', { name: 'Settings of webshop' }).click();
  await shows(page, 'h1', 'Settings of webshop');
  await page.getByLabel('It is now in').fill('/home/ana/work/webshop');
  await page.getByRole('button', { name: 'Use this folder' }).click();
  await shows(page, '.toast', 'its nights and proposals stayed with it');
  await page.locator('.note', { hasText: 'The folder is gone.' }).waitFor({ state: 'detached' });
  await close();
}

async function showsWhatWasFoundOfEachAgent(chrome, url) {
  for (const [language, words] of [
    ['en', ['48 sessions of this project', '164 sessions: This session belongs to another project.', 'It deletes sessions after 30 days.', 'Its folders hold no session.', 'Not on this computer: Cursor', 'In the newest 3 sessions of Codex no word of a person was found', 'Types of records not known: forecast (version 2.1.9) ×3']],
    ['zh', ['本项目 48 个会话', '164 个会话：这个会话属于另一个项目。', '它会在 30 天后删除会话。', '它的文件夹中没有会话。', '这台电脑上没有：Cursor', 'Codex 最新的 3 个会话中没有找到人说的话', '不认识的记录类型：forecast（版本 2.1.9） ×3']],
  ]) {
    const { page, close } = await open(chrome, url, { route: '#/project/p-7f3a91c2', language });
    await settled(page);
    for (const text of words) await shows(page, '.found', text);
    // What the warning names is not said once more below it.
    assert.equal((await page.locator('.found').innerText()).split('response_item/whisper').length - 1, 1);
    // The records inside sessions are not told here.
    assert.equal(await page.locator('.found', { hasText: 'Bookkeeping' }).count(), 0);
    const second = page.locator('.found li', { hasText: '/home/ana/work/.claude/projects' });
    assert.equal(await second.last().isVisible(), false);
    await page.locator('.found summary').first().click();
    await second.last().waitFor({ state: 'visible' });
    await page.locator('.found summary').last().click();
    await shows(page, '.found', '/home/ana/.cursor/projects');
    await accessible(page, `what was found of each agent, ${language}`);
    await close();
  }
}

async function checksAndDeletesInOneLanguage(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/settings', language: 'zh' });
  await settled(page);
  // Commands, keys, files and names are called the same everywhere; words in a row are a sentence.
  const english = async (selector) => {
    const texts = await page.locator(selector).evaluateAll((nodes) =>
      nodes.map((node) => {
        const copy = node.cloneNode(true);
        for (const code of copy.querySelectorAll('code, .mono')) code.remove();
        return copy.textContent.replace(/[\w.:/-]*[./_:][\w./-]*/g, '');
      }),
    );
    assert.ok(texts.length > 0, selector);
    return texts.filter((text) => /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i.test(text));
  };
  await page.locator('section[aria-labelledby=check] button').click();
  await shows(page, '.finding', '数据库完好。');
  await shows(page, '.finding', '上一晚（infra）');
  await shows(page, '[role=status]', '今晚：会读取 6 个会话并重放 9 个任务，至多 84 次模型调用。');
  assert.deepEqual(await english('.finding, section[aria-labelledby=check] [role=status]'), []);
  const choices = page.locator('form:has(option[value="everything"])');
  for (const what of ['evidence', 'everything']) {
    await choices.locator('select').first().selectOption(what);
    await choices.locator('button').click();
    await shows(page, 'form.bad', '应用及其夜间运行的日志也会删除');
    assert.deepEqual(await english('form.bad p, form.bad li, form.bad label'), []);
    await page.getByRole('button', { name: '取消' }).click();
    await page.locator('form.bad').waitFor({ state: 'detached' });
  }
  await close();
}

async function warnsOfAChangedFormatInItsLanguage(chrome, url) {
  for (const [language, words] of [
    ['en', ['In the newest 3 sessions of Codex no word of a person was found', 'Its settings say to keep sessions for 0 days']],
    ['zh', ['Codex 最新的 3 个会话中没有找到人说的话', '它的设置要求保留会话 0 天']],
  ]) {
    const { page, close } = await open(chrome, url, { route: '#/first-run', data: 'drifted', language });
    await settled(page);
    for (const text of words) await shows(page, '.note.warn', text);
    await close();
  }
}

async function findsSessionsWhereNothingCanBeEstimated(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/project/p-7f3a91c2', data: 'no-estimate' });
  await settled(page);
  await shows(page, '[role=alert]', 'The skill is not UTF-8 text.');
  await shows(page, '.found', '48 sessions of this project');
  await close();
}

export async function settings(chrome, url) {
  const flows = [
    speaksTheLanguageOfTheSetting,
    showsTheColoursOfTheSetting,
    pausesAndGoesOn,
    showsTheLogAndTheReportBeforeItIsWritten,
    findsAProjectThatMoved,
    showsWhatWasFoundOfEachAgent,
    checksAndDeletesInOneLanguage,
    warnsOfAChangedFormatInItsLanguage,
    findsSessionsWhereNothingCanBeEstimated,
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
