import { expect, test } from 'vitest';
import type { AptosMatch } from '../families/aptos/match/match.ts';
import type { Match } from '../families/evm/match/match.ts';
import { countAptosRecords } from '../families/aptos/match/recordCounts.ts';
import { countEvmRecords } from '../families/evm/match/recordCounts.ts';

const logs = (topics: string[][]) => topics.map((each) => ({ topics: each }));
const match = (changes: object): Match =>
  ({
    logs: [],
    transactions: [],
    internalTransactions: [],
    calls: [],
    reads: [],
    ...changes,
  }) as unknown as Match;

test('logs are counted by first topic, calls by selector, other records by type', () => {
  const given = match({
    logs: logs([['0xa', '0xb'], ['0xa'], ['0xb'], []]),
    transactions: [{}],
    internalTransactions: [{}, {}],
    calls: [{ input: '0xA9059CBB00' }, { input: '0xa9059cbb' }, { input: '0x' }],
    reads: [{}],
  });
  expect(countEvmRecords(given)).toEqual({
    '0xa': 2,
    '0xb': 1,
    anonymous: 1,
    transaction: 1,
    internalTransaction: 2,
    '0xa9059cbb': 2,
    call: 1,
    read: 1,
  });
});

test('the 20 most frequent kinds are counted separately, the others together', () => {
  const kinds = Array.from({ length: 25 }, (_, n) => `0x${n}`);
  const often = kinds.slice(5).flatMap((kind) => [[kind], [kind]]);
  const rare = kinds.slice(0, 5).map((kind) => [kind]);
  const counts = countEvmRecords(match({ logs: logs([...rare, ...often]) }));
  expect(counts).toEqual({
    ...Object.fromEntries(kinds.slice(5).map((kind) => [kind, 2])),
    other: 5,
  });
});

test('Aptos functions are counted, and events if the stream gets them', () => {
  const long = (end: string) => `0x${'0'.repeat(63)}${end}`;
  const transaction = (called: string | null) => ({
    transaction: {
      function: called,
      events: [{ type: `${long('1')}::coin::A<${long('a')}::b::C>` }],
    },
  });
  const given = (includeEvents: boolean): AptosMatch =>
    ({
      stream: { record: { options: { includeEvents } } },
      transactions: [transaction(`${long('12')}::m::f`), transaction(null)],
    }) as unknown as AptosMatch;
  const called = { [`${long('12')}::m::f`]: 1, transaction: 1 };
  expect(countAptosRecords(given(false))).toEqual(called);
  expect(countAptosRecords(given(true))).toEqual({ ...called, '0x1::coin::A<0xa::b::C>': 2 });
});
