import { expect, test } from 'vitest';
import type { BlockHeader, BlockRef } from '../../../../store/blocks/contract.ts';
import { bloomOf } from '../bloom.ts';
import { toHeader } from '../header.ts';
import type { BlockBody, Provider } from '../provider.ts';
import { addByBloom, toBloomFilter } from './headerBlooms.ts';

const TOKEN = `0x${'70'.repeat(20)}`;
const EVENT = `0x${'0a'.repeat(32)}`;
const OTHER = `0x${'71'.repeat(20)}`;
const hashOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
const toHex = (bloom: Uint8Array): string => `0x${Buffer.from(bloom).toString('hex')}`;
const bloomWith = (address: string): string => toHex(bloomOf([{ address, topics: [EVENT] }]));
const ZEROS = `0x${'00'.repeat(256)}`;

/**
 * Reads the headers of blocks 1 to 3, of which block 2 has a matching log that the node hides, and
 * `third` changes block 3. Returns the numbers of the found blocks, and whether the rest is proven.
 */
async function read(
  third: Record<string, unknown>,
  proof: BlockBody['proof'] = { result: 'passed', encoded: Buffer.alloc(0) },
) {
  const blocks = [1, 2, 3].map((number) => ({
    number: `0x${number}`,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: '0x1',
    transactions: ['0x00'],
    logsBloom: bloomWith(OTHER),
    ...(number === 2 && { logsBloom: bloomWith(TOKEN) }),
    ...(number === 3 && third),
  }));
  const node = {
    name: 'node',
    readBodyAt: (at: number) => {
      const body = blocks[at - 1]!;
      return Promise.resolve({ header: toHeader(body), body, proof });
    },
  } as Partial<Provider> as Provider;
  const hits: BlockRef[] = [];
  const isProven = await addByBloom(node, {
    from: 1,
    anchor: { number: 3, hash: hashOf(3) } as BlockHeader,
    blooms: [toBloomFilter({ address: [TOKEN], topics: [[EVENT]] })],
    read: { logs: new Map() },
    hits,
  });
  return { found: hits.map(({ number }) => number), isProven };
}

test('blooms find a block whose log the node hides, and rule out the others', async () => {
  expect(await read({})).toEqual({ found: [2], isProven: true });
  expect(await read({ settledHeight: null })).toEqual({ found: [2], isProven: true });
  expect(await read({ logsBloom: ZEROS, transactions: [] })).toEqual({
    found: [2],
    isProven: true,
  });
});

test.each([
  ['covers the blocks that its block settles', { settledHeight: '0x1' }],
  ['contains everything', { logsBloom: `0x${'ff'.repeat(256)}` }],
  ['is missing', { logsBloom: undefined }],
  ['is null', { logsBloom: null }],
  ['is empty', { logsBloom: '0x' }],
  ['is a number', { logsBloom: '0x0' }],
])('a bloom that %s proves nothing', async (_what, third) => {
  expect(await read(third)).toEqual({ found: [2], isProven: false });
});

test('a bloom in a header that does not hash to the block hash proves nothing', async () => {
  expect(await read({}, { result: 'failed' })).toEqual({ found: [2], isProven: false });
});
