import { expect, test } from 'vitest';
import { packAddresses } from '../../../../store/addresses/packedAddresses.ts';
import type { Store } from '../../../../store/store.ts';
import { DEFAULT_OPTIONS, type EvmStreamRecord } from '../../../../store/streams/contract.ts';
import { compileReads } from './compileReads.ts';
import { createStreamValues } from './streamValues.ts';
import { listWatched } from './watchedAddresses.ts';

const addressOf = (n: number): string => `0x${String(n).padStart(40, '0')}`;
const OPTIONS = {
  ...DEFAULT_OPTIONS,
  reads: [{ balance: 'native', when: 'changes' as const }],
  factories: [{ address: addressOf(9), event: 'Created(address child)', parameter: 'child' }],
};

/** Lists what a stream watches in block 10, with these addresses, and children created in blocks. */
async function list(options: object, listed: number, created: readonly number[]) {
  const record = { id: 's', options: { ...OPTIONS, ...options } } as unknown as EvmStreamRecord;
  const store: Pick<Store, 'readAddresses' | 'listChildren'> = {
    readAddresses: () =>
      Promise.resolve({
        addresses: packAddresses(Array.from({ length: listed }, (_, n) => addressOf(n + 1))),
        next: undefined,
      }),
    listChildren({ streamId, chain, factory }, { limit }) {
      const rows = created.map((blockNumber, n) => ({
        streamId,
        chain,
        factory,
        address: addressOf(50_000 + n),
        label: null,
        blockNumber,
      }));
      return Promise.resolve(rows.slice(0, limit));
    },
  };
  const values = createStreamValues({
    readToken: () => Promise.resolve(undefined),
    addressesOf: (stream, limits) => listWatched(store, '0x1', stream, limits),
  });
  const { reads, problem } = await values.list(record, 10);
  return { accounts: [...reads.values()].map(({ about: { of } }) => of), problem };
}

test('the children of a stream are read from the block that created them', async () => {
  const { accounts, problem } = await list({}, 1, [9, 10, 11]);
  expect(accounts).toEqual([1, 50_000, 50_001].map(addressOf));
  expect(problem).toBeUndefined();
  expect((await list({ factories: null }, 1, [9])).accounts).toEqual([addressOf(1)]);
});

test('a stream reads at most 1,000 values, with those of its children', async () => {
  const blocks = Array.from({ length: 1_000 }, () => 1);
  expect((await list({}, 0, blocks)).accounts).toHaveLength(1_000);
  const tooMany = await list({}, 1, blocks);
  expect(tooMany.accounts).toEqual([]);
  expect(tooMany.problem).toMatch(/children of its factories, have more than 1000 values/);
  // Other values of the stream are read, and count.
  const reads = [...OPTIONS.reads, { balance: 'native', of: [addressOf(3)], when: 'changes' }];
  expect((await list({ reads }, 0, blocks)).accounts).toEqual([addressOf(3)]);
  expect((await list({ reads }, 0, blocks.slice(1))).accounts).toHaveLength(1_000);
  const twice = [...OPTIONS.reads, { balance: addressOf(4), when: 'changes' as const }];
  expect(compileReads({ reads: twice, abi: null }).ofAddress).toHaveLength(2);
  expect((await list({ reads: twice }, 501, [])).accounts).toEqual([]);
});
