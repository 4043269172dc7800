/**
 * Tests the headers of recorded blocks. We cannot publish the recordings; they are next to the
 * checkout, or in the folder named by SLUICE_FIXTURES.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createHeaderProver } from '../../packages/service/src/families/evm/ingest/headerLayout.ts';

const folder = join(
  process.env['SLUICE_FIXTURES'] ??
    fileURLToPath(new URL('../../../shared/fixtures', import.meta.url)),
  'evm-networks',
);
type Header = Record<string, unknown>;
const read = (file: string): Header =>
  JSON.parse(readFileSync(join(folder, file), 'utf8')) as Header;

const PROVEN = [
  'arbitrum/150000000/block.json',
  'ethereum/1000000/block.json',
  'ethereum/4369999/block.json',
  'ethereum/18000000/block.json',
  'glamsterdam-devnet/block.json',
  'hyperliquid/50000/block.json',
  'sepolia/11856337/header.json',
  'tempo-mainnet/17708868/block.json',
  'tempo-mainnet/20636966/block.json',
];
/** Chains whose block hashes are not the hashes of their headers. */
const OTHER_HASHES = ['cronos/10000/block.json', 'stable/13683593/block.json'];

if (!existsSync(folder)) {
  test('recorded headers are missing', () => {
    console.warn(`13 recorded tests did not run: no folder ${folder}`);
  });
} else {
  describe('a recorded header', () => {
    test.each(PROVEN)('%s is proven by a known layout', (file) => {
      expect(createHeaderProver().check(read(file)).result).toBe('passed');
    });

    test.each(OTHER_HASHES)('%s fails', (file) => {
      expect(createHeaderProver().check(read(file))).toEqual({ result: 'failed' });
    });

    test.each(['sepolia/11856337/header.json', 'glamsterdam-devnet/block.json'])(
      '%s is proven by a search if its fork is unknown',
      async (file) => {
        const { blockAccessListHash, slotNumber, ...rest } = read(file);
        const header = {
          size: '0x1',
          slot: slotNumber,
          note: 'text',
          bal: blockAccessListHash,
          ...rest,
        };
        const prover = createHeaderProver();
        expect(prover.check(header).result).toBe('not-applicable');
        expect((await prover.prove(header, 'node')).result).toBe('passed');
        expect(prover.check(header).result).toBe('passed');
      },
    );
  });
}
