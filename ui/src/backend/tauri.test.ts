import { clearMocks, mockIPC, mockWindows } from '@tauri-apps/api/mocks';
import { afterEach, expect, it } from 'vitest';

import { TauriBackend } from './tauri';

afterEach(() => clearMocks());

it('sends a command with its name and its input, and gives the output', async () => {
  const sent: unknown[] = [];
  mockIPC((name, payload) => {
    sent.push([name, payload]);
    return [];
  });
  await expect(new TauriBackend().call('night list', { everywhere: true })).resolves.toEqual([]);
  expect(sent).toEqual([['execute', { command: { command: 'night list', input: { everywhere: true } } }]]);
});

it('rejects with the problem of the engine', async () => {
  const problem = { code: 'proposal_unknown', message: 'There is none.', guidance: 'Look.', retry: 'permanent' };
  mockIPC(() => {
    throw problem;
  });
  await expect(new TauriBackend().call('proposal show', {})).rejects.toEqual(problem);
});

it('asks the shell by the name of the call', async () => {
  const sent: unknown[] = [];
  mockIPC((name, payload) => {
    sent.push([name, payload]);
    return true;
  });
  await new TauriBackend().shell('autostart', { on: true });
  await new TauriBackend().shell('open_window', { window: 'night', night: 42 });
  expect(sent).toEqual([
    ['shell', { call: { call: 'autostart', input: { on: true } } }],
    ['shell', { call: { call: 'open_window', input: { window: 'night', night: 42 } } }],
  ]);
});

it('hears what is told to its own window', () => {
  const sent: unknown[] = [];
  mockWindows('handoff-p-1');
  mockIPC((name, payload) => {
    sent.push([name, (payload as { event: string; target: unknown }).event, (payload as { target: unknown }).target]);
    return 1;
  });
  new TauriBackend().subscribe(() => undefined);
  expect(sent).toEqual([['plugin:event|listen', 'skillopt', { kind: 'Webview', label: 'handoff-p-1' }]]);
});
