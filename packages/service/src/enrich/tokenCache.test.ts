import { expect, test } from 'vitest';
import type { Token } from '../store/enrichment/contract.ts';
import { createTokenCache } from './tokenCache.ts';

const HOUR_MS = 60 * 60_000;
const token = (address: string, name = 'N'): Token => ({
  address,
  name,
  symbol: '',
  decimals: null,
  standard: '',
  blockNumber: 1,
});

test('the token cache evicts the least recently used tokens by bytes', () => {
  const cache = createTokenCache(3_000, () => 0);
  for (let n = 0; n < 8; n++) cache.save(token(`0x${n}`), 0);
  cache.find('0x0');
  // A name of a thousand characters takes the space of many tokens.
  cache.save(token('0xlong', 'x'.repeat(1_000)), 0);
  expect(cache.find('0xlong')?.name).toHaveLength(1_000);
  expect(cache.find('0x0')).toBeDefined();
  expect(cache.find('0x1')).toBeUndefined();
  cache.save(token('0xlong', 'short'), 0);
  for (let n = 10; n < 18; n++) cache.save(token(`0x${n}`), 0);
  expect(cache.find('0xlong')?.name).toBe('short');
});

test('the token cache keeps known tokens for a day, unknown ones for minutes', () => {
  let now = 0;
  const cache = createTokenCache(10_000, () => now);
  cache.save(token('0xknown'), 0);
  cache.save(token('0xunknown', ''), 0);
  expect(cache.find('0xunknown')).toBeDefined();
  now = HOUR_MS;
  expect(cache.find('0xunknown')).toBeUndefined();
  expect(cache.find('0xknown')).toBeDefined();
  now = 25 * HOUR_MS;
  expect(cache.find('0xknown')).toBeUndefined();
});
