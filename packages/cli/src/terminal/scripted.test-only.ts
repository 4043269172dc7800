/** The command line in this process, on a terminal that a test holds. */
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
  /** What comes on standard input; then it ends, unless `tty`. */
  input?: string;
  /** As in front of a person. */
  tty?: boolean;
  /** Of the terminal. Default 80. */
  columns?: number;
  /** Whether it shows colours. Default false. */
  hasColor?: boolean;
}

/** A command under way. */
export interface Running {
  stdout(): string;
  stderr(): string;
  type(text: string): void;
  /** Ctrl-C. */
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
    // Never the contexts of whoever runs the tests.
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

/** Runs a command to its end. */
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
