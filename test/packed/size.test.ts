/**
 * Tests the size of each import from the kit: minified and gzipped bytes, with all dependencies.
 */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bundle } from '../runtimes/bundle.ts';

const gzipped = async (code: string): Promise<number> =>
  gzipSync(await bundle(code), { level: 9 }).length;

const kit = (names: string, entry = ''): string => `export { ${names} } from '@sluice/kit${entry}'`;

const keccakAlone = "export { keccak256 } from '../../packages/kit/src/contract/rules/hash.ts'";
const page = readFileSync(new URL('../../docs/kit/README.md', import.meta.url), 'utf8');

/** Returns the documented limit of an import, in bytes. */
const promised = (name: string): number =>
  Number(new RegExp(`^\\| ${name} \\| ([\\d.]+) kB`, 'm').exec(page)?.[1]) * 1000;

test.each([
  ['Keccak alone', keccakAlone],
  ['`verifySignature`', kit('verifySignature')],
  ['`createClient`', kit('createClient')],
  ['`decodeLogs`', kit('decodeLogs')],
  ['`unwrap`', kit('unwrap')],
  ['`unwrapWithPublicKey`', kit('unwrapWithPublicKey')],
  ['`createHandler`', kit('createHandler')],
  ['`createHandlerWithPublicKey`', kit('createHandlerWithPublicKey')],
  ['`verifyLogProof`', kit('verifyLogProof')],
  ['`createTables`', kit('createTables', '/postgres')],
  ['`toRecords`, `toRemovedIds`', kit('toRecords, toRemovedIds', '/records')],
  ['`createSluiceClient`', kit('createSluiceClient', '/sluice')],
])('%s is within its documented size', async (name, code) => {
  const size = await gzipped(code);
  expect(size).toBeGreaterThan(500);
  expect(size).toBeLessThanOrEqual(promised(name));
});

test('the documentation promises at most 12 kB for the client', () => {
  expect(promised('`createClient`')).toBeLessThanOrEqual(12_000);
});

test('verifyLogProof adds at most 6 kB to Keccak', async () => {
  const added = (await gzipped(kit('verifyLogProof'))) - (await gzipped(keccakAlone));
  expect(added).toBeLessThanOrEqual(6_000);
});

test('verifySignature adds at most 3 kB to Keccak', async () => {
  const keccak = await gzipped(keccakAlone);
  const verify = await gzipped(kit('verifySignature'));
  expect(keccak).toBeGreaterThan(1_000);
  expect(verify - keccak).toBeLessThanOrEqual(3_000);
});
