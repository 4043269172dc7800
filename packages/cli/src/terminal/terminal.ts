/**
 * What a command has of the world: data goes to standard output, everything else (progress, hints,
 * prompts, errors) to standard error. Tests hand in one of their own.
 */
import type { Readable } from 'node:stream';
import { styleText } from 'node:util';

/** The four roles of colour, and bold. */
export type Tone = 'ok' | 'warn' | 'bad' | 'faint' | 'strong';

const STYLES = {
  ok: 'green',
  warn: 'yellow',
  bad: 'red',
  faint: 'dim',
  strong: 'bold',
} as const;

/** One of the two ways out. */
export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  /** Whether colour is shown there. */
  readonly hasColor: boolean;
  write(text: string): void;
}

/** What may be said to every command, before or after its name. */
export interface TerminalOptions {
  /** Prints each request, and the stack of an error. */
  debug?: boolean;
  /** Leaves out progress and hints. */
  quiet?: boolean;
  /** False: never asks. */
  input?: boolean;
  /** False: no colour. */
  color?: boolean;
}

export interface TerminalNeeds {
  stdout: Output;
  stderr: Output;
  stdin: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Aborted by the first Ctrl-C, and by `stop`. */
  signal: AbortSignal;
  /** Ends the command from within, as by a key; that is no interruption. */
  stop(): void;
}

export interface Terminal extends TerminalNeeds {
  readonly options: TerminalOptions;
  /** A line of data. */
  say(line?: string): void;
  /** One JSON document, or one of many lines of JSON. */
  sayJson(value: unknown): void;
  /** A line for people beside the data; left out with `--quiet`. */
  note(line?: string): void;
  /** Coloured as standard output shows it. */
  tint(tone: Tone, text: string): string;
  /** The same for standard error. */
  tintNote(tone: Tone, text: string): string;
  /** Whether somebody is there to be asked. */
  readonly canAsk: boolean;
  /** Takes what was said to every command; until then nothing was. */
  adopt(options: TerminalOptions): void;
}

export function createTerminal(needs: TerminalNeeds): Terminal {
  const { stdout, stderr, stdin, env } = needs;
  let options: TerminalOptions = {};
  const tintFor = (output: Output, tone: Tone, text: string): string =>
    output.hasColor && options.color !== false
      ? styleText(STYLES[tone], text, { validateStream: false })
      : text;
  return {
    ...needs,
    get options() {
      return options;
    },
    say: (line = '') => stdout.write(`${line}\n`),
    sayJson: (value) => stdout.write(`${JSON.stringify(value)}\n`),
    note(line = '') {
      if (!options.quiet) stderr.write(`${line}\n`);
    },
    tint: (tone, text) => tintFor(stdout, tone, text),
    tintNote: (tone, text) => tintFor(stderr, tone, text),
    get canAsk() {
      return (
        stdin.isTTY === true && stderr.isTTY && options.input !== false && !isSet(env['CI'] ?? '')
      );
    },
    adopt: (said) => void (options = said),
  };
}

/** How the variables of switches are read: `0`, `no`, `false` and `off` are no. */
const isSet = (value: string): boolean => !/^(|0|no|false|off)$/i.test(value);

/** Why the signal of a terminal was aborted, where it was no Ctrl-C. */
export const STOPPED = 'stopped';

/** Resolves when the command is asked to end. */
export const untilAsked = ({ signal }: Pick<Terminal, 'signal'>): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
