// Drives the built window in Chromium. `SKILLOPT_WRITE_PAGES=1` writes docs/images/.
import { answering } from './answering.mjs';
import { bundle } from './bundle.mjs';
import { frames } from './frames.mjs';
import { hostile } from './hostile.mjs';
import { keyboard } from './keyboard.mjs';
import { manners } from './manners.mjs';
import { newcomer } from './newcomer.mjs';
import { settings } from './settings.mjs';
import { screens } from './screens.mjs';
import { browser, serve } from './window.mjs';

const only = process.argv.slice(2);
const steps = {
  bundle: () => bundle(),
  keyboard,
  settings,
  manners,
  newcomer,
  answering,
  hostile,
  frames,
  screens: (chrome, url) => screens(chrome, url, Boolean(process.env.SKILLOPT_WRITE_PAGES)),
};

const server = await serve();
const chrome = await browser();
let failed = false;
for (const [name, step] of Object.entries(steps)) {
  if (only.length > 0 && !only.includes(name)) continue;
  try {
    console.log(`ok   ${name}: ${await step(chrome, server.url)}`);
  } catch (error) {
    failed = true;
    console.log(`FAIL ${name}: ${error.stack}`);
  }
}
await chrome.close();
server.close();
process.exitCode = failed ? 1 : 0;
