import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS, type EvmStreamRecord } from '../../../../store/streams/contract.ts';
import { createStreamValues } from './streamValues.ts';

const FACTORY = { address: `0x${'f'.repeat(40)}`, event: 'Created(address a)', parameter: 'a' };

test.each([
  { kind: 'a stream', factories: null, counts: [1, 1, 2, 3, 4] },
  { kind: 'a stream with factories', factories: [FACTORY], counts: [1, 2, 3, 4, 5] },
])('the addresses of $kind are read again if they may have changed', async (each) => {
  let reads = 0;
  const values = createStreamValues({
    readToken: () => Promise.resolve(undefined),
    addressesOf() {
      reads++;
      return Promise.resolve([`0x${String(reads).padStart(40, '0')}`]);
    },
  });
  const options = {
    ...DEFAULT_OPTIONS,
    factories: each.factories,
    reads: [{ balance: 'native', when: 'changes' as const }],
  };
  const record = { id: 's', options } as unknown as EvmStreamRecord;
  const found: number[] = [];
  // Without a revision, as in dry runs, the addresses may be others.
  for (const revision of [1, 1, 2, undefined, 3]) {
    const { reads: listed } = await values.list(record, 1, revision);
    found.push(Number([...listed.values()][0]!.about.of));
  }
  expect(found).toEqual(each.counts);
});
