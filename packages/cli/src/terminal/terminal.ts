/**
 * The input and output of a command. Data goes to standard output; progress, hints, prompts and
 * errors go to standard error.
 */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { styleText } from 'node:util';
import { wrapText } from './text.ts';

/** The role of text, shown as a color, as dim or as bold. */
export type Tone = 'ok' | 'warn' | 'bad' | 'faint' | 'strong';

const STYLES = {
  ok: 'green',
  warn: 'yellow',
  bad: 'red',
  faint: 'dim',
  strong: 'bold',
} as const;

/** An output stream of a process; writes text unchanged. */
export interface RawOutput {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly hasColor: boolean;
  write(text: string): void;
}

/** An output stream for commands, on which untrusted text cannot control the terminal. */
export interface Output extends RawOutput {
  /** Writes text and replaces control characters other than line breaks and tabs. */
  write(text: string): void;
  /** Writes a control sequence, such as a cursor movement. Never pass untrusted text. */
  control(sequence: string): void;
}

/** Width of an output that is not a terminal, in columns. */
const WIDTH = 80;
/** Minimum width to which lines are fitted, in columns. Narrower terminals break the lines. */
const MIN_WIDTH = 40;

/** Options that every command accepts, before or after its name. */
export interface TerminalOptions {
  /** Whether to print each request, and the stack trace of an error. */
  debug?: boolean;
  /** Whether to hide progress and hints. */
  quiet?: boolean;
  /** Whether prompts are allowed. Default: true. */
  input?: boolean;
  /** Whether colors are allowed. Default: true. */
  color?: boolean;
}

export interface TextOptions {
  /** Indentation of all lines but the first, in columns. Default: 2. */
  indent?: number;
  tint?: { tone: Tone; of: string };
}

export interface TerminalNeeds {
  stdout: RawOutput;
  stderr: RawOutput;
  stdin: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Aborted by the first signal, such as Ctrl-C, and by `stop`. */
  signal: AbortSignal;
  /** Ends the command for a reason other than a signal, such as a key press, with exit code 0. */
  stop(): void;
}

export interface Terminal extends TerminalNeeds {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly options: TerminalOptions;
  /** Columns of standard output, at least 40; 80 if it is not a terminal. */
  readonly width: number;
  /** Prints one line of data and replaces control characters, including line breaks. */
  print(line?: string): void;
  /** Prints a value as one line of JSON. */
  printJson(value: unknown): void;
  /** Writes a document unchanged, except that control characters are replaced on a terminal. */
  printExact(text: string): void;
  /** Prints a wrapped sentence and colors the first occurrence of `tint.of` in its first line. */
  printText(text: string, options?: TextOptions): void;
  /**
   * Prints a hint to standard error, unless `--quiet` is set. With `tint`, colors `tint.of`, or the
   * complete hint if `tint.of` is omitted.
   */
  note(text?: string, tint?: { tone: Tone; of?: string }): void;
  /** Colors text for standard output. */
  tint(tone: Tone, text: string): string;
  /** Colors text for standard error. */
  tintNote(tone: Tone, text: string): string;
  /** Whether the command can prompt. */
  readonly canAsk: boolean;
  /** Applies the options that all commands share. */
  adopt(options: TerminalOptions): void;
}

/** Control characters, line separators, and characters that change the text direction. */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Replaces each control character, including line breaks, with U+FFFD. */
const toLine = (text: string): string => text.replaceAll(CONTROLS, '\u{fffd}');

/** Replaces control characters but keeps line breaks and tabs. */
const toLines = (text: string): string =>
  text.replaceAll(CONTROLS, (found) => (found === '\n' || found === '\t' ? found : '\u{fffd}'));

/** Serializes a value to JSON with all control characters escaped. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    CONTROLS,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export function createTerminal(needs: TerminalNeeds): Terminal {
  const { stdin, env } = needs;
  let options: TerminalOptions = {};
  // Replaces ESC in color sequences until other control characters are replaced. The random value
  // cannot occur in untrusted text.
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
    print: (line = '') => stdout.write(`${toLine(line)}\n`),
    printJson: (value) => stdout.write(`${toJson(value)}\n`),
    printExact: (text) => (stdout.isTTY ? stdout : needs.stdout).write(text),
    printText(text, { indent = 2, tint } = {}) {
      const [first = '', ...more] = wrapText(text, indent, terminal.width);
      terminal.print(
        tint ? first.replace(tint.of, () => terminal.tint(tint.tone, tint.of)) : first,
      );
      more.forEach(terminal.print);
    },
    note(text = '', tint) {
      if (options.quiet) return;
      // Lines for a file or a pipe are not wrapped, so that they can be searched.
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

/** Returns the maximum line width of an output, in columns. */
export const widthOn = ({ isTTY, columns }: Pick<RawOutput, 'isTTY' | 'columns'>): number =>
  isTTY ? Math.max(MIN_WIDTH, columns) : WIDTH;

/** Returns whether a boolean variable is on. Empty, `0`, `no`, `false` and `off` mean off. */
const isSet = (value: string): boolean => !/^(|0|no|false|off)$/i.test(value);

/** Reason with which `stop` aborts the signal, to distinguish it from Ctrl-C. */
export const STOPPED = 'stopped';

/** Resolves on Ctrl-C or another request to stop. */
export const untilInterrupted = ({ signal }: Pick<Terminal, 'signal'>): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
