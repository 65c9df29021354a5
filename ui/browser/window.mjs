// A page of the built window in Chromium, on invented data, at a fixed time.
import assert from 'node:assert/strict';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
export const DIST = fileURLToPath(new URL('../dist', import.meta.url));
/** As closed as in the app. */
const POLICY = JSON.parse(readFileSync(new URL('../../src-tauri/tauri.conf.json', import.meta.url), 'utf8')).app.security.csp;
/** Half past eight in the morning in Berlin. */
const NOW = new Date('2026-11-29T07:30:00Z');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Serves the built window on a free port of this computer. */
export async function serve() {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://x').pathname);
    const file = join(DIST, path === '/' ? 'index.html' : path);
    if (path === '/favicon.ico') {
      response.writeHead(204).end();
      return;
    }
    if (!file.startsWith(DIST) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
    response.setHeader('content-security-policy', POLICY);
    createReadStream(file).pipe(response);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export async function browser() {
  const executablePath = process.env.CHROMIUM ?? PLACES.find((place) => existsSync(place));
  if (!executablePath) throw new Error('Chromium was not found: install it, or set CHROMIUM to its program.');
  return chromium.launch({ executablePath, args: FLAGS });
}

/** Opens a screen. Whatever goes wrong in the page is an error of the test. */
export async function open(chrome, url, { route = '#/overview', data = 'usual', language = 'en', theme = 'light', ...more } = {}) {
  const context = await chrome.newContext({
    viewport: { width: 1120, height: 760 },
    timezoneId: 'Europe/Berlin',
    locale: language === 'zh' ? 'zh-CN' : 'en-US',
    colorScheme: theme,
    reducedMotion: 'reduce',
    ...more,
  });
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.clock.setFixedTime(NOW);
  await page.goto(`${url}?data=${data}${route}`);
  await page
    .locator('h1')
    .first()
    .waitFor({ state: 'attached', timeout: 20_000 })
    .catch((error) => {
      throw new Error(`nothing is shown at ${route}: ${[...errors, error.message].join('; ')}`);
    });
  return {
    page,
    async close() {
      await context.close();
      assert.deepEqual(errors, [], 'errors in the page');
    },
  };
}

/** Waits until what was asked of the backend is shown. */
export async function settled(page) {
  await page.waitForFunction(() => !/Loading…|正在加载…|Looking at what|正在查看一晚/.test(document.body.innerText));
}

/** Fails on anything axe finds. */
export async function accessible(page, name) {
  // Not by a script tag: the page's policy would refuse it.
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => ({
      id,
      nodes: nodes.slice(0, 5).map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`),
    }));
  });
  if (found.length > 0) throw new Error(`axe on ${name}: ${JSON.stringify(found, null, 2)}`);
}

/** Fails when something scrolls sideways, stands beyond an edge of the window, or is cut off beside its box. */
export async function fits(page, name) {
  // Lists measure what they draw in the frame after it.
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
  const found = await page.evaluate(() => {
    const named = (node) => `${node.tagName}.${node.className}`;
    // Words for screen readers alone are cut off on purpose.
    const seen = [...document.querySelectorAll('body *')].filter((node) => !node.closest('.hidden') && node.getClientRects().length > 0);
    const wide = [document.documentElement, ...seen]
      .filter((node) => node.clientWidth > 0 && getComputedStyle(node).display !== 'inline' && node.scrollWidth > node.clientWidth + 1)
      .map((node) => `${named(node)}: ${node.scrollWidth} in ${node.clientWidth}`);
    const beyond = seen
      .map((node) => [node, node.getBoundingClientRect()])
      .filter(([, { left, right }]) => left < -1 || right > window.innerWidth + 1)
      .map(([node, { left, right }]) => `${named(node)}: from ${left} to ${right} in ${window.innerWidth}`);
    return [...wide, ...beyond];
  });
  assert.deepEqual(found.slice(0, 5), [], `${name} does not fit`);
}
