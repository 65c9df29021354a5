import { expect, test } from 'vitest';

import { seen } from './unseen';

test('what nobody would see is written out', () => {
  expect(seen('pay\u202Eelif\u200B\u001B[31m\u{E0041}')).toBe('pay\\u{202e}elif\\u{200b}\\u{1b}[31m\\u{e0041}');
  expect(seen('a\u0085b\rc\uFEFF')).toBe('a\\u{85}b\\u{d}c\\u{feff}');
});

test('what is seen stays', () => {
  const text = 'é ß 漢字 اللغة 👍🏽 – …\n\ttab';
  expect(seen(text)).toBe(text);
});
