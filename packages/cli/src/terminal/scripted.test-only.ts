/** Runs the command line in this process, on a scripted terminal. */
import { PassThrough } from 'node:stream';
import { run } from '../program.ts';
import { type RawOutput, STOPPED, createTerminal } from './terminal.ts';

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Standard input. It ends after this string unless `tty` is set. */
  input?: string;
  /** Whether to simulate a terminal, so that the command can prompt. Default: false. */
  tty?: boolean;
  /** Width of the terminal in columns. Default: 80. */
  columns?: number;
  /** Whether the terminal supports color. Default: false. */
  hasColor?: boolean;
}

export interface Running {
  stdout(): string;
  stderr(): string;
  type(text: string): void;
  /** Simulates Ctrl-C. */
  interrupt(): void;
  readonly ended: Promise<Run>;
}

export function start(args: readonly string[], options: RunOptions = {}): Running {
  const {
    env = {},
    cwd = '/nowhere',
    input,
    tty = false,
    columns = 80,
    hasColor = false,
  } = options;
  const controller = new AbortController();
  const stdout = capture({ isTTY: tty, columns, hasColor });
  const stderr = capture({ isTTY: tty, columns, hasColor });
  const stdin = Object.assign(new PassThrough(), { isTTY: tty, setRawMode: () => {} });
  if (input !== undefined) stdin.write(input);
  if (!tty) stdin.end();
  const terminal = createTerminal({
    stdout: stdout.output,
    stderr: stderr.output,
    stdin,
    // Keeps tests from using the user's own contexts.
    env: { XDG_CONFIG_HOME: '/nowhere', ...env },
    cwd,
    signal: controller.signal,
    stop: () => controller.abort(STOPPED),
  });
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    type: (text) => void stdin.write(text),
    interrupt: () => controller.abort('SIGINT'),
    ended: run(args, terminal).then((code) => ({
      code,
      stdout: stdout.text(),
      stderr: stderr.text(),
    })),
  };
}

/** Runs a command until it exits. */
export const sluice = (args: readonly string[], options?: RunOptions): Promise<Run> =>
  start(args, options).ended;

function capture(shape: Pick<RawOutput, 'isTTY' | 'columns' | 'hasColor'>): {
  output: RawOutput;
  text(): string;
} {
  let text = '';
  const write = (chunk: string): void => void (text += chunk);
  return { output: { ...shape, rows: 24, write }, text: () => text };
}
