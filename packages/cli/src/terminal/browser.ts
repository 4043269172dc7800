/** Opens the user's browser. */
import { spawn } from 'node:child_process';
import type { Output, Terminal } from './terminal.ts';

/**
 * Returns whether the user would see a browser that this process opens: on a terminal, not in CI or
 * over SSH, and on Linux only with a display.
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

/** Opens a URL. Failures are ignored, because the user can open the printed URL instead. */
export function openInBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
