/** Runs the command line in its own process on a pseudo-terminal, with the `script` command. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { quoteShell } from '@sluice/kit/contract';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

/** The sequence that clears the screen. */
export const CLEARED = '\u001b[2J\u001b[H';

export interface PseudoTerminal {
  /** Returns all output so far. */
  written(): string;
  type(text: string): void;
  /** Resolves to the exit code. */
  readonly ended: Promise<number>;
  kill(): void;
}

export function startOnTerminal(
  args: readonly string[],
  { columns, cwd, env }: { columns: number; cwd: string; env: Readonly<Record<string, string>> },
): PseudoTerminal {
  const words = [process.execPath, '-C', '@sluice/source', MAIN, ...args];
  const command = `stty cols ${columns} rows 24; exec ${words.map(quoteShell).join(' ')}`;
  const ofScript =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', 'sh', '-c', command]
      : ['-qefc', command, '/dev/null'];
  const { NO_COLOR: _, FORCE_COLOR: __, CI: ___, ...inherited } = process.env;
  const child = spawn('script', ofScript, {
    cwd,
    // Clears `COLUMNS`, because `stty` sets the width on the terminal itself.
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
