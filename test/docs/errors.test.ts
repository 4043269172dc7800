/**
 * Tests that docs/errors.md explains the codes of the kit, the command line and the service, and
 * that errors link to these explanations.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Readable } from 'node:stream';
import {
  COMMAND_ERRORS,
  CommandError,
  reportError,
} from '../../packages/cli/src/terminal/errors.ts';
import { sluice } from '../../packages/cli/src/terminal/scripted.test-only.ts';
import { createTerminal } from '../../packages/cli/src/terminal/terminal.ts';
import { ERROR_HINTS, SluiceError } from '../../packages/kit/src/errors.ts';
import {
  CALLER_CODES,
  INTERNAL_CODES,
  RETRYABLE_CODES,
} from '../../packages/service/src/base/errors.ts';
import { anchorsOf } from './anchors.ts';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/errors.md');
const kitCodes = Object.keys(ERROR_HINTS) as (keyof typeof ERROR_HINTS)[];

const commandCodes = Object.keys(COMMAND_ERRORS) as (keyof typeof COMMAND_ERRORS)[];

test('a section for each code, in the order of the tables, with cause and fix', () => {
  const sections = page.split(/^### /m).slice(1);
  const own = commandCodes.filter((code) => !(code in ERROR_HINTS));
  expect(sections.map((section) => section.split('\n', 1)[0])).toEqual([...kitCodes, ...own]);
  for (const section of sections) {
    expect(section).toMatch(/^\w+\n\n.+\n\n\*\*Do:\*\* .+\n/);
  }
});

test('the codes of the service have a section or a row', () => {
  for (const code of CALLER_CODES.filter((each) => each !== 'chain_halted')) {
    expect(page).toMatch(new RegExp(`^### ${code}$`, 'm'));
  }
  expect(page).toContain('`chain_halted`: ');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (retryable|internal) \|/gm)];
  expect(rows.map(([, code, kind]) => [code, kind])).toEqual([
    ...RETRYABLE_CODES.map((code) => [code, 'retryable']),
    ...INTERNAL_CODES.map((code) => [code, 'internal']),
  ]);
});

test.each(kitCodes)('%s: its docUrl leads to a section, with its hint', (code) => {
  const { docUrl, hint } = new SluiceError(code, '');
  const { origin, pathname, hash } = new URL(docUrl);
  // The page of a package on npm shows its README, so the anchor must exist there.
  expect(origin + pathname).toBe('https://www.npmjs.com/package/@sluice/kit');
  const readme = read('packages/kit/README.md');
  expect(anchorsOf(readme)).toContain(hash.slice(1));
  expect(readme).toContain(`### ${code}\n\n${hint}`);
});

const thrown = [
  ...kitCodes.map((code) => [code, new SluiceError(code, 'It failed')] as const),
  ...commandCodes.map((code) => [code, new CommandError(code, 'It failed')] as const),
];

test.each(thrown)('%s: the command line prints a fix, and documents it', async (code, error) => {
  let printed = '';
  const output = { isTTY: false, columns: 80, rows: 24, hasColor: false };
  const terminal = createTerminal({
    stdout: { ...output, write() {} },
    stderr: { ...output, write: (text) => void (printed += text) },
    stdin: Readable.from([]),
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
    stop() {},
  });
  expect(reportError(error, terminal, { command: 'sluice streams' })).toBeGreaterThan(0);
  expect(printed).toMatch(
    new RegExp(
      `^error\\[${code}\\]: It failed\n  fix: .+\n  docs: npm run -s sluice -- docs ${code}\n$`,
    ),
  );
  const { stdout } = await sluice(['docs', code]);
  expect(stdout).toMatch(new RegExp(`^### ${code}\n\n.+\n\n\\*\\*Do:\\*\\* .+\n$`));
});
