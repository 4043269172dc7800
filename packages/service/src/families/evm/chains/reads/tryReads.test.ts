import type { StreamRead } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS, type EvmStreamRecord } from '../../../../store/streams/contract.ts';
import { createStreamValues } from './streamValues.ts';
import { createTryReads } from './tryReads.ts';

const ACCOUNT = `0x${'1'.repeat(40)}`;
const CONDITIONS: readonly StreamRead['when'][] = ['changes', { below: '5' }, { every: 10 }];

/** Tries reads of a balance in block 10; `states` has the balance by block. */
async function tryBlock(states: Readonly<Record<number, string>>, hasParent = true) {
  const header = (number: number) => ({
    number,
    hash: `0x${number}`,
    parentHash: `0x${number - 1}`,
    timestamp: number,
  });
  const tryReads = createTryReads({
    chain: '0x1',
    state: {
      isGone: () => false,
      read: ({ number }, requests) =>
        Promise.resolve(
          requests.map(() =>
            states[number] === undefined
              ? { outcome: 'refused' as const, message: '' }
              : { outcome: 'read' as const, value: states[number] },
          ),
        ),
    },
    valuesOf: () =>
      createStreamValues({
        readToken: () => Promise.resolve(undefined),
        addressesOf: () => Promise.resolve([]),
      }),
  });
  const reads = CONDITIONS.map((when) => ({ balance: 'native', of: [ACCOUNT], decimals: 0, when }));
  const record = { id: 's', options: { ...DEFAULT_OPTIONS, reads } } as unknown as EvmStreamRecord;
  const blocks = { parent: hasParent ? header(9) : undefined, block: header(10) };
  const { sent, values } = await tryReads(record, undefined, blocks);
  expect(values.filter(({ included }) => included)).toHaveLength(sent.length);
  return {
    sent: sent.map(({ when }) => when),
    reasons: values.map(({ reason: { outcome, message } }) => `${outcome}: ${message}`),
  };
}

test('the values of a block are compared with those of its parent', async () => {
  expect(await tryBlock({ 9: '7', 10: '4' })).toEqual({
    sent: CONDITIONS,
    reasons: [
      'passed: 4, after 7 in block 9',
      'passed: 4 is below 5, after 7 in block 9',
      'passed: read every 10 blocks: 4',
    ],
  });
  expect((await tryBlock({ 9: '4', 10: '4' })).sent).toEqual([{ every: 10 }]);
});

test('a state that no node has is reported as such', async () => {
  const missing = (number: number) => `no node has the state of block ${number}`;
  expect(await tryBlock({ 9: '7' })).toEqual({
    sent: [],
    reasons: CONDITIONS.map(() => `unknown: not read: ${missing(10)}`),
  });
  // The value may have been below the threshold before.
  expect(await tryBlock({ 10: '4' })).toEqual({
    sent: [{ every: 10 }],
    reasons: [
      `unknown: not compared: ${missing(9)}`,
      `unknown: not compared: ${missing(9)}`,
      'passed: read every 10 blocks: 4',
    ],
  });
});

test('the first block has no value before', async () => {
  const { sent } = await tryBlock({ 10: '4' }, false);
  expect(sent).toEqual([{ below: '5' }, { every: 10 }]);
});
