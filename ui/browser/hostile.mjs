// Texts written to do harm are shown as text, and a line of two megabytes does not stop the window.
import assert from 'node:assert/strict';

import { open, settled } from './window.mjs';

export async function hostile(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/hostile', data: 'hostile' });
  await settled(page);
  await page.keyboard.press('o');
  const text = await page.locator('.diff').innerText();
  assert.ok(text.includes('<b>bold</b>'), 'markup is shown as it is written');
  assert.ok(text.length < 20_000, `${text.length} characters of the diff are drawn`);
  assert.ok(text.includes('more characters'), 'what was cut is said');
  for (const where of [text, await page.locator('.rule').nth(1).innerText()]) {
    assert.ok(where.includes('a\\u{0}b\\u{1b}[31mred'), 'what nobody sees is written out');
    assert.ok(where.includes('\\u{202e}esrever\\u{202c}') && !where.includes('\u202e'), 'text is not turned around');
  }
  const rules = await page.locator('.rule').nth(2).innerText();
  assert.ok(rules.length < 20_000 && rules.includes('more characters'), `${rules.length} characters of a rule are drawn`);
  await page.locator('.request').first().click();
  await page.locator('.replies').waitFor();
  const seen = await page.evaluate(() => ({
    ran: window.wasRun ?? null,
    images: document.images.length,
    bold: document.querySelectorAll('main b').length,
  }));
  assert.equal(seen.ran, null, 'nothing of the text was run');
  assert.equal(seen.images, 0);
  assert.equal(seen.bold, 0);
  // It still answers.
  await page.keyboard.press('v');
  await page.locator('.diff.split').waitFor();
  await close();
  return 'markup and unseen characters as text, 2 MB in one line';
}
