import { expect, test } from 'vitest';
import { packAddresses } from '../store/addresses/packedAddresses.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../store/streams/contract.ts';
import type { StreamOfFamily } from '../store/streams/contract.ts';
import { type RuleReads, createRuleIndex, refreshRules } from './ruleIndex.ts';

const CHAIN = '0x1';
const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const recordOf = (id: string): StreamOfFamily<'evm'> => ({
  id,
  family: 'evm',
  tag: '',
  description: '',
  webhookUrl: '',
  chainIds: [CHAIN],
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 2,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
  options: DEFAULT_OPTIONS,
  ...DEFAULT_DELIVERY,
});

test('a stream whose addresses fail to load is loaded again', async () => {
  let isAvailable = false;
  const reads = {
    readRules: async () => ({
      revision: 7,
      whole: false,
      gone: [],
      changed: [recordOf('a'), recordOf('b')],
    }),
    // The second page of stream `b` fails until `isAvailable` is true.
    async readAddresses(id: string, after?: string) {
      if (id === 'b' && after !== undefined && !isAvailable)
        throw new Error('the ledger is unavailable');
      const n = after === undefined ? 1 : 2;
      return { addresses: packAddresses([address(n)]), next: n === 1 ? address(1) : undefined };
    },
    readAddressChanges: async () => ({ changes: [], next: undefined }),
  } as unknown as RuleReads;
  const index = createRuleIndex({ family: 'evm', compile: () => ({}) });
  index.revision = 5;
  await expect(refreshRules(index, reads)).rejects.toThrow('the ledger is unavailable');
  expect([index.revision, index.matching(CHAIN)]).toEqual([5, []]);

  isAvailable = true;
  await refreshRules(index, reads);
  expect(index.revision).toBe(7);
  for (const n of [1, 2]) {
    const found: string[] = [];
    index.watching(CHAIN, address(n), 2, ({ record }) => found.push(record.id));
    expect(found.toSorted((a, b) => a.localeCompare(b))).toEqual(['a', 'b']);
  }
});
