// How much a window loads: everything but the invented data, which the app never asks for.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { DIST } from './window.mjs';

const LARGEST = 250_000;

export function bundle() {
  const assets = join(DIST, 'assets');
  const files = [join(DIST, 'index.html'), ...readdirSync(assets).map((name) => join(assets, name))];
  const size = files
    .filter((file) => !/memory-/.test(file))
    .reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  assert.ok(size < LARGEST, `the bundle has ${size} bytes after gzip, and may have ${LARGEST}`);
  return `${(size / 1000).toFixed(1)} kB after gzip`;
}
