/** The browser of whoever sits in front of this terminal. */
import { spawn } from 'node:child_process';
import type { Output, Terminal } from './terminal.ts';

/** Whether a browser that opens here would be seen: a person, no build machine, a screen of this machine. */
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

/** Where there is no browser, the address that was printed is all there is. */
export function openInBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
