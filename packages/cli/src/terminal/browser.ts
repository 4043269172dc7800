/** Opens the user's browser. */
import { spawn } from 'node:child_process';
import type { Output, Terminal } from './terminal.ts';

/**
 * Returns whether the user could see a browser opened here: not in CI, not over SSH, and with a
 * display.
 */
export function isBrowserHere(
  { stdout, env }: Pick<Terminal, 'env'> & { stdout: Pick<Output, 'isTTY'> },
  platform: NodeJS.Platform = process.platform,
): boolean {
  const has = (name: string): boolean => (env[name] ?? '') !== '';
  if (!stdout.isTTY || has('CI') || has('SSH_CONNECTION')) return false;
  return platform === 'linux' ? has('DISPLAY') || has('WAYLAND_DISPLAY') : true;
}

const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};

/** Ignores failures: without a browser, the user opens the printed URL. */
export function openInBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
