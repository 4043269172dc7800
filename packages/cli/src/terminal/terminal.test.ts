import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RawOutput, type Terminal, createTerminal } from './terminal.ts';

function open(shape: Partial<RawOutput> = {}): { terminal: Terminal; written(): string } {
  let written = '';
  const output = {
    isTTY: true,
    columns: 80,
    rows: 24,
    hasColor: true,
    ...shape,
    write: (text: string) => void (written += text),
  };
  const terminal = createTerminal({
    stdout: output,
    stderr: output,
    stdin: new PassThrough(),
    env: {},
    cwd: '/nowhere',
    signal: new AbortController().signal,
    stop: () => {},
  });
  return { terminal, written: () => written };
}

/** Matches the color sequences that `tint` writes. */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const COLORS = /\u001b\[(?:[12]|22|3[1-3]|39)m/g;
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const HOSTILE = [
  ...['\u001b[2J', '\u001b]52;c;aGk=\u0007', '\u009b31m', '\u001b[31m', '\r', '\b', '\u202e', '\n'],
];
const text = fc
  .array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...HOSTILE)), { maxLength: 8 })
  .map((parts) => parts.join(''));

test('property: untrusted text never controls the terminal, however it is printed', () => {
  const ways: ((terminal: Terminal, text: string) => void)[] = [
    ({ print }, said) => print(said),
    ({ note }, said) => note(said),
    ({ print, tint }, said) => print(`${tint('ok', said)} ${said}`),
    ({ note, tintNote }, said) => note(tintNote('faint', said)),
    ({ printJson }, said) => printJson({ [said]: said }),
  ];
  fc.assert(
    fc.property(text, fc.constantFrom(...ways), (said, way) => {
      const { terminal, written } = open();
      way(terminal, said);
      expect(written().replaceAll(COLORS, '')).not.toMatch(CONTROLS);
      // All lines of a long note except the first are indented, so that it cannot imitate other
      // output.
      const [, ...more] = written().replaceAll(COLORS, '').slice(0, -1).split('\n');
      expect(more.filter((line) => !/^ {4}|^ *\S+$/.test(line))).toEqual([]);
    }),
  );
});

test('color sequences in text are escaped; documents are escaped only on a terminal', () => {
  const { terminal, written } = open();
  terminal.print(`${terminal.tint('ok', 'mine')} \u001b[31mtheirs`);
  expect(written()).toBe('\u001b[32mmine\u001b[39m \ufffd[31mtheirs\n');

  const body = '{"tag":"\u009b2J"}\n';
  const screen = open();
  screen.terminal.printExact(body);
  expect(screen.written()).toBe('{"tag":"\ufffd2J"}\n');
  const pipe = open({ isTTY: false });
  pipe.terminal.printExact(body);
  expect(pipe.written()).toBe(body);
});

test('property: escaped JSON parses to the same value', () => {
  fc.assert(
    fc.property(text, (said) => {
      const { terminal, written } = open();
      terminal.printJson(said);
      expect(JSON.parse(written())).toBe(said);
    }),
  );
});
