/**
 * What a command has of the world: data goes to standard output, everything else (progress, hints,
 * prompts, errors) to standard error. Tests hand in one of their own.
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { styleText } from 'node:util';
import { wrapText } from './text.ts';

/** The four roles of colour, and bold. */
export type Tone = 'ok' | 'warn' | 'bad' | 'faint' | 'strong';

const STYLES = {
  ok: 'green',
  warn: 'yellow',
  bad: 'red',
  faint: 'dim',
  strong: 'bold',
} as const;

/** One of the two streams of a process, which writes everything as it is. */
export interface RawOutput {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  /** Whether colour is shown there. */
  readonly hasColor: boolean;
  write(text: string): void;
}

/** The same for commands: text cannot control the terminal, whoever wrote it. */
export interface Output extends RawOutput {
  /** Text over any number of lines; control characters are escaped. */
  write(text: string): void;
  /** A sequence of ours that moves the cursor or clears; never text from elsewhere. */
  control(sequence: string): void;
}

/** Columns of output that is not for a terminal, and the least that lines are made for. */
const WIDTH = 80;
const MIN_WIDTH = 40;

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

export interface TextOptions {
  /** Columns before the lines after the first. Default 2. */
  indent?: number;
  tint?: { tone: Tone; of: string };
}

export interface TerminalNeeds {
  stdout: RawOutput;
  stderr: RawOutput;
  stdin: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Aborted by the first Ctrl-C, and by `stop`. */
  signal: AbortSignal;
  /** Ends the command from within, as by a key; that is no interruption. */
  stop(): void;
}

export interface Terminal extends TerminalNeeds {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly options: TerminalOptions;
  /** Columns of a line on standard output; 80 where that is not a terminal. */
  readonly width: number;
  /** A line of data. */
  say(line?: string): void;
  /** One JSON document, or one of many lines of JSON. */
  sayJson(value: unknown): void;
  /** A document to be saved or piped: exact, except on a terminal, where control characters are escaped. */
  sayExact(text: string): void;
  /** A sentence over as many lines as it needs; the first place where `of` is in it is coloured. */
  sayText(text: string, options?: TextOptions): void;
  /** A sentence for people beside the data, coloured as a whole or in part; left out with `--quiet`. */
  note(text?: string, tint?: { tone: Tone; of?: string }): void;
  /** Coloured as standard output shows it. */
  tint(tone: Tone, text: string): string;
  /** The same for standard error. */
  tintNote(tone: Tone, text: string): string;
  /** Whether somebody is there to be asked. */
  readonly canAsk: boolean;
  /** Takes what was said to every command; until then nothing was. */
  adopt(options: TerminalOptions): void;
}

/** Control characters, and what turns the direction of writing. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** One line, in which every control character is replaced by another character of one column. */
const toLine = (text: string): string => text.replaceAll(CONTROLS, '\u{fffd}');

/** The same over several lines. */
const toLines = (text: string): string =>
  text.replaceAll(CONTROLS, (found) => (found === '\n' || found === '\t' ? found : '\u{fffd}'));

/** Equal when it is parsed, and without control characters. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    CONTROLS,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export function createTerminal(needs: TerminalNeeds): Terminal {
  const { stdin, env } = needs;
  let options: TerminalOptions = {};
  // Stands for ESC until text is escaped. It is random so that no text can contain it.
  const mark = `\ue000${randomUUID()}`;
  const toOutput = (raw: RawOutput): Output => ({
    isTTY: raw.isTTY,
    hasColor: raw.hasColor,
    get columns() {
      return raw.columns;
    },
    get rows() {
      return raw.rows;
    },
    write: (text) => raw.write(toLines(text).replaceAll(mark, '\u001b')),
    control: (sequence) => raw.write(sequence),
  });
  const stdout = toOutput(needs.stdout);
  const stderr = toOutput(needs.stderr);
  const tintFor = (output: Output, tone: Tone, text: string): string =>
    output.hasColor && options.color !== false
      ? styleText(STYLES[tone], toLines(text), { validateStream: false }).replaceAll('\u001b', mark)
      : text;
  const terminal: Terminal = {
    ...needs,
    stdout,
    stderr,
    get options() {
      return options;
    },
    get width() {
      return widthOn(stdout);
    },
    say: (line = '') => stdout.write(`${toLine(line)}\n`),
    sayJson: (value) => stdout.write(`${toJson(value)}\n`),
    sayExact: (text) => (stdout.isTTY ? stdout : needs.stdout).write(text),
    sayText(text, { indent = 2, tint } = {}) {
      const [first = '', ...more] = wrapText(text, indent, terminal.width);
      terminal.say(tint ? first.replace(tint.of, () => terminal.tint(tint.tone, tint.of)) : first);
      more.forEach(terminal.say);
    },
    note(text = '', tint) {
      if (options.quiet) return;
      // A file and a search want it whole.
      const lines = stderr.isTTY ? wrapText(text, 4, widthOn(stderr)) : [text];
      for (const line of lines) {
        const of = tint?.of ?? line;
        const said = tint ? line.replace(of, () => tintFor(stderr, tint.tone, of)) : line;
        stderr.write(`${toLine(said)}\n`);
      }
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
  return terminal;
}

/** Columns that lines may have there. */
export const widthOn = ({ isTTY, columns }: Pick<RawOutput, 'isTTY' | 'columns'>): number =>
  isTTY ? Math.max(MIN_WIDTH, columns) : WIDTH;

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
