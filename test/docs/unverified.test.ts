/** Tests that docs/nodes.md explains each code of unverified blocks, as the kit does. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { UNVERIFIED_CODES } from '../../packages/kit/src/contract/unverified.ts';

const page = readFileSync(new URL('../../docs/nodes.md', import.meta.url), 'utf8');

test('the table of codes has the words of the kit, in the same order', () => {
  const [, section = ''] = page.split('\n### Unverified blocks\n');
  const [table = ''] = section.split('\n\nThe codes appear in:');
  const rows = Object.entries(UNVERIFIED_CODES).map(
    ([code, { meaning, remedy }]) => `| \`${code}\` | ${meaning} | ${remedy} |`,
  );
  expect(table.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
});
