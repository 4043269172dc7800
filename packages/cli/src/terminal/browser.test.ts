import { expect, test } from 'vitest';
import { isBrowserHere } from './browser.ts';

const stdout = { isTTY: true };
const screen = { DISPLAY: ':0' };

test.each<
  [string, boolean, { env?: Record<string, string>; isTTY?: boolean; on?: NodeJS.Platform }]
>([
  ['a terminal with a display', true, { env: screen }],
  ['Wayland', true, { env: { WAYLAND_DISPLAY: 'wayland-0' } }],
  ['macOS, which always has a display', true, { on: 'darwin' }],
  ['output to a file', false, { env: screen, isTTY: false }],
  ['a CI machine', false, { env: { ...screen, CI: 'true' } }],
  ['a remote machine, over SSH', false, { env: { SSH_CONNECTION: '…' }, on: 'darwin' }],
  ['Linux without a display', false, {}],
])('a browser can open from %s: %s', (_, expected, { env = {}, isTTY = true, on = 'linux' }) => {
  expect(isBrowserHere({ stdout: { ...stdout, isTTY }, env }, on)).toBe(expected);
});
