import { expect, test } from 'vitest';
import { isBrowserHere } from './browser.ts';

const stdout = { isTTY: true };
const screen = { DISPLAY: ':0' };

test.each<
  [string, boolean, { env?: Record<string, string>; isTTY?: boolean; on?: NodeJS.Platform }]
>([
  ['a terminal on a screen', true, { env: screen }],
  ['Wayland', true, { env: { WAYLAND_DISPLAY: 'wayland-0' } }],
  ['macOS, which has one always', true, { on: 'darwin' }],
  ['output that goes into a file', false, { env: screen, isTTY: false }],
  ['a build machine', false, { env: { ...screen, CI: 'true' } }],
  ['another machine, over SSH', false, { env: { SSH_CONNECTION: '…' }, on: 'darwin' }],
  ['Linux without a screen', false, {}],
])('%s: %s', (_, expected, { env = {}, isTTY = true, on = 'linux' }) => {
  expect(isBrowserHere({ stdout: { ...stdout, isTTY }, env }, on)).toBe(expected);
});
