import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { generated } from '../../scripts/generated.ts';

// After a change to the contract, run `npm run generate -w @sluice/kit`.
test.each(await generated())('$url is up to date', async ({ url, text }) => {
  expect(await readFile(url, 'utf8')).toBe(text);
});
