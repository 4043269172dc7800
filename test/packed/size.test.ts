/** What an import costs a page: minified and gzipped bytes, with everything it pulls in. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bundle } from '../runtimes/bundle.ts';

const gzipped = async (code: string): Promise<number> =>
  gzipSync(await bundle(code), { level: 9 }).length;

const kit = (names: string, entry = ''): string => `export { ${names} } from '@sluice/kit${entry}'`;

/** Ceilings in bytes; each a promise of the issue that asked for it, or little over what it was when set. */
test.each([
  ['the client, Keccak included', kit('createClient'), 12_000],
  ['verifySignature, Keccak included', kit('verifySignature'), 4_900],
  ['decodeLogs', kit('decodeLogs'), 7_500],
  ['unwrap', kit('unwrap'), 8_900],
  ['createHandler', kit('createHandler'), 15_800],
  ['toRecords', kit('toRecords', '/records'), 14_000],
])('%s', async (_, code, ceiling) => {
  const size = await gzipped(code);
  expect(size).toBeGreaterThan(500);
  expect(size).toBeLessThanOrEqual(ceiling);
});

test('verifySignature is at most 3 kB beyond Keccak', async () => {
  const keccak = await gzipped(
    "export { keccak256 } from '../../packages/kit/src/contract/hash.ts'",
  );
  const verify = await gzipped(kit('verifySignature'));
  expect(keccak).toBeGreaterThan(1_000);
  expect(verify - keccak).toBeLessThanOrEqual(3_000);
});
