import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PAGE, withNetworks } from '../../scripts/networks/section.ts';

test('the table of networks in docs/nodes.md is current; update it with `npm run networks`', () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(withNetworks(page)).toBe(page);
  expect(page).toContain('Avalanche `0xa86a`');
});
