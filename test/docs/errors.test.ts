/** docs/kit/errors.md explains every code that the kit has, and no other. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_HINTS, SluiceError } from '../../packages/kit/src/errors.ts';

const page = readFileSync(new URL('../../docs/kit/errors.md', import.meta.url), 'utf8');
const [, ...sections] = page.split(/^### /m);

test('a section for each code, in the order of the table, with what it means and what to do', () => {
  expect(sections.map((section) => section.split('\n', 1)[0])).toEqual(Object.keys(ERROR_HINTS));
  for (const section of sections) {
    expect(section).toMatch(/^\w+\n\n.+\n\n\*\*Do:\*\* .+\n/);
  }
});

test('the anchor in docUrl is the one of the section', () => {
  const codes = Object.keys(ERROR_HINTS) as (keyof typeof ERROR_HINTS)[];
  for (const code of codes) {
    const { hash } = new URL(new SluiceError(code, '').docUrl);
    expect(page).toContain(`### ${hash.slice(1)}\n`);
  }
});
