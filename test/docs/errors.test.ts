/** docs/errors.md explains every code that the kit and the command line have, and no other. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMAND_CODES } from '../../packages/cli/src/terminal/errors.ts';
import { ERROR_HINTS, SluiceError } from '../../packages/kit/src/errors.ts';
import { anchorsOf } from './anchors.ts';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/errors.md');
const kitCodes = Object.keys(ERROR_HINTS) as (keyof typeof ERROR_HINTS)[];

test('a section for each code, in the order of the tables, with why it comes and what to do', () => {
  const sections = page.split(/^### /m).slice(1);
  const commandCodes = Object.keys(COMMAND_CODES).filter((code) => !(code in ERROR_HINTS));
  expect(sections.map((section) => section.split('\n', 1)[0])).toEqual([
    ...kitCodes,
    ...commandCodes,
  ]);
  for (const section of sections) {
    expect(section).toMatch(/^\w+\n\n.+\n\n\*\*Do:\*\* .+\n/);
  }
});

test.each(kitCodes)('%s: its docUrl leads to a section, with its hint', (code) => {
  const { docUrl, hint } = new SluiceError(code, '');
  const { origin, pathname, hash } = new URL(docUrl);
  // The page of a package shows its README.
  expect(origin + pathname).toBe('https://www.npmjs.com/package/@sluice/kit');
  const readme = read('packages/kit/README.md');
  expect(anchorsOf(readme)).toContain(hash.slice(1));
  expect(readme).toContain(`### ${code}\n\n${hint}`);
});
