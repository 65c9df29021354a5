// Scrolls a list of 500 proposals and a diff of 5,000 lines, and prints how long frames took.
// Times depend on the machine and its load: they are printed, not asserted. What is asserted is why they
// are short: only what can be seen is drawn, and it is laid out once.
import assert from 'node:assert/strict';

import { open, settled } from './window.mjs';

/** Scrolls to the end in steps, one a frame; gives the time of each frame in milliseconds. */
async function scroll(page, selector, step) {
  const devtools = await page.context().newCDPSession(page);
  // Of the processor, so that what else the computer does is not counted.
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const of = (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    return { busy: of('TaskDuration'), layouts: of('LayoutCount') };
  };
  const before = await spent();
  const scrolled = await steps(page, selector, step);
  const after = await spent();
  const frames = scrolled.times.length;
  return {
    ...scrolled,
    own: ((after.busy - before.busy) / frames) * 1000,
    layouts: (after.layouts - before.layouts) / frames,
  };
}

function steps(page, selector, step) {
  return page.evaluate(
    async ([selector, step]) => {
      const scroller = document.querySelector(selector);
      const frame = () => new Promise((next) => requestAnimationFrame(next));
      const times = [];
      await frame();
      let before = await frame();
      for (let turn = 0; turn < 240; turn += 1) {
        scroller.scrollTop += step;
        const now = await frame();
        times.push(now - before);
        before = now;
      }
      return { times, scrolled: scroller.scrollTop };
    },
    [selector, step],
  );
}

function summary({ times, own, layouts }) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor((sorted.length - 1) * share)].toFixed(1);
  return `${own.toFixed(1)} ms of work and ${layouts.toFixed(1)} layouts a frame; frames: median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms, over 50 ms: ${times.filter((time) => time > 50).length} of ${times.length}`;
}

export async function frames(chrome, url) {
  const { page, close } = await open(chrome, url, { route: '#/review/long', data: 'many' });
  await settled(page);
  const drawn = () => page.evaluate(() => [document.querySelectorAll('.item').length, document.querySelectorAll('.side').length]);
  const [items, lines] = await drawn();
  assert.ok(items > 0 && items < 40, `${items} of 500 proposals are drawn`);
  assert.ok(lines > 0 && lines < 200, `${lines} of 5000 lines are drawn`);
  const list = await scroll(page, '.list', 150);
  const diff = await scroll(page, '.main', 300);
  assert.ok(list.scrolled > 30_000 && diff.scrolled > 60_000, `${list.scrolled}, ${diff.scrolled}`);
  assert.ok(list.layouts < 1.5 && diff.layouts < 1.5, `${list.layouts} and ${diff.layouts} layouts a frame`);
  const after = await drawn();
  assert.ok(after[0] < 40 && after[1] < 200, `${after} are drawn at the end`);
  await close();
  return `\n     500 proposals: ${summary(list)}\n     5,000 lines: ${summary(diff)}`;
}
