/**
 * Runs the command line in its own process on a real pseudo-terminal, with `script` of util-linux.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { quoteForShell } from './text.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

/** The sequence with which a command clears its screen. */
export const CLEARED = '\u001b[2J\u001b[H';

/** A command that runs on a terminal. */
export interface OnTerminal {
  /** All output so far. */
  written(): string;
  type(text: string): void;
  /** The exit code. */
  readonly ended: Promise<number>;
  kill(): void;
}

export function startOnTerminal(
  args: readonly string[],
  { columns, cwd, env }: { columns: number; cwd: string; env: Readonly<Record<string, string>> },
): OnTerminal {
  const words = [process.execPath, '-C', '@sluice/source', MAIN, ...args];
  const command = `stty cols ${columns} rows 24; exec ${words.map(quoteForShell).join(' ')}`;
  const ofScript =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', 'sh', '-c', command]
      : ['-qefc', command, '/dev/null'];
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...inherited } = process.env;
  const child = spawn('script', ofScript, {
    cwd,
    // Sets the width on the terminal, not in a variable.
    env: { ...inherited, ...env, SHELL: '/bin/sh', TERM: 'xterm-256color', COLUMNS: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (written += chunk));
  return {
    written: () => written,
    type: (text) => void child.stdin.write(text),
    ended: once(child, 'close').then(([code]) => code as number),
    kill: () => child.kill('SIGKILL'),
  };
}
