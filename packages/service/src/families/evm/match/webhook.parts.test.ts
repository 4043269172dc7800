import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../../../store/streams/contract.ts';
import type { EvmCall, EvmInternalTransaction, EvmLog, EvmTransaction } from './block.ts';
import type { Match } from './match.ts';
import { minBytes, splitMatch, toWebhookParts } from './webhook.ts';
import { compileRules } from './rules.ts';
import { createWatched } from './triggeredBy.ts';

const stream: Match['stream'] = {
  record: {
    family: 'evm',
    id: 'stream',
    tag: 'tag',
    description: '',
    webhookUrl: '',
    chainIds: ['0x1'],
    options: DEFAULT_OPTIONS,
    ...DEFAULT_DELIVERY,
    status: 'active',
    statusMessage: '',
    errorSince: null,
    addressCount: 0,
    childCount: 0,
    createdAt: 0,
    updatedAt: 0,
  },
  selection: compileRules(DEFAULT_OPTIONS),
};

const log = (transactionIndex: number, logIndex: number) =>
  ({ transactionIndex, logIndex }) as EvmLog;
const transaction = (transactionIndex: number) => ({ transactionIndex }) as EvmTransaction;
const internal = (transactionIndex: number) => ({ transactionIndex }) as EvmInternalTransaction;
const call = (transactionIndex: number) => ({ transactionIndex }) as EvmCall;

const records = (match: Match): number =>
  match.logs.length +
  match.transactions.length +
  match.internalTransactions.length +
  match.calls.length;

/**
 * Splits a match into parts of at most `limit` records. Each record takes 80 of the 100 bytes that
 * the limit allows for it, which leaves space for separators.
 */
const split = (match: Match, limit: number) =>
  splitMatch(match, limit * 100, (part) => records(part) * 80);

const calling: Match['stream'] = {
  ...stream,
  record: { ...stream.record, options: { ...DEFAULT_OPTIONS, functions: ['*'] } },
};

describe('a match that is too large', () => {
  test('is split between transactions, with parts as large as the limit allows', () => {
    const match: Match = {
      stream,
      logs: [log(0, 0), log(0, 1), log(1, 2), log(2, 3), log(2, 4), log(2, 5), log(2, 6)],
      transactions: [transaction(0), transaction(3)],
      internalTransactions: [internal(3)],
      calls: [call(0), call(3)],
      reads: [],
      watched: createWatched(),
    };
    const parts = split(match, 5).map(({ part }) => part);
    expect(parts.map((part) => part.logs.map((each) => each.logIndex))).toEqual([
      [0, 1, 2],
      [3, 4, 5, 6],
      [],
    ]);
    expect(parts.map((part) => part.transactions.length)).toEqual([1, 0, 1]);
    expect(parts.map((part) => part.internalTransactions.length)).toEqual([0, 0, 1]);
    expect(parts.map((part) => part.calls.length)).toEqual([1, 0, 1]);
  });

  test('property: loses, duplicates and reorders nothing, and splits only transactions that must be', () => {
    const index = fc.nat({ max: 12 });
    const bytes = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(index, bytes), { maxLength: 60 }),
        fc.uniqueArray(fc.tuple(index, bytes), { selector: ([at]) => at }),
        fc.array(fc.tuple(index, bytes), { maxLength: 20 }),
        fc.array(fc.tuple(index, bytes), { maxLength: 20 }),
        fc.integer({ min: 40, max: 200 }),
        (ofLogs, ofTransactions, ofInternal, ofCalls, limit) => {
          const weights = new Map<object, number>();
          const weighed = <T extends object>(record: T, weight: number): T => {
            weights.set(record, weight);
            return record;
          };
          const sorted = (them: [number, number][]) => them.toSorted(([a], [b]) => a - b);
          const match: Match = {
            stream,
            logs: sorted(ofLogs).map(([at, weight], n) => weighed(log(at, n), weight)),
            transactions: sorted(ofTransactions).map(([at, weight]) =>
              weighed(transaction(at), weight),
            ),
            internalTransactions: sorted(ofInternal).map(([at, weight]) =>
              weighed(internal(at), weight),
            ),
            calls: sorted(ofCalls).map(([at, weight]) => weighed(call(at), weight)),
            reads: [],
            watched: createWatched(),
          };
          const listsOf = (part: Match) => [
            part.logs,
            part.transactions,
            part.internalTransactions,
            part.calls,
          ];
          const all = (part: Match) => listsOf(part).flat();
          const commasOf = (length: number): number => Math.max(0, length - 1);
          const weigh = (part: Match): number =>
            10 +
            all(part).reduce((sum, record) => sum + weights.get(record)!, 0) +
            listsOf(part).reduce((sum, { length }) => sum + commasOf(length), 0);
          const parts = splitMatch(match, limit, weigh);
          expect(parts.flatMap(({ part }) => part.logs)).toEqual(match.logs);
          expect(parts.flatMap(({ part }) => part.transactions)).toEqual(match.transactions);
          expect(parts.flatMap(({ part }) => part.internalTransactions)).toEqual(
            match.internalTransactions,
          );
          expect(parts.flatMap(({ part }) => part.calls)).toEqual(match.calls);
          for (const { part, tooLarge } of parts) {
            if (tooLarge === undefined) expect(weigh(part)).toBeLessThanOrEqual(limit);
            else {
              expect(all(part)).toHaveLength(1);
              expect(weigh(part)).toBe(tooLarge);
              expect(tooLarge).toBeGreaterThan(limit);
            }
          }
          const byTransaction = Map.groupBy(all(match), (each) => each.transactionIndex);
          for (const [at, its] of byTransaction) {
            const partsOfIt = parts.filter(({ part }) =>
              all(part).some((each) => each.transactionIndex === at),
            );
            const whole = {
              ...match,
              logs: its as EvmLog[],
              transactions: [],
              internalTransactions: [],
              calls: [],
            };
            if (weigh(whole) <= limit) expect(partsOfIt).toHaveLength(1);
          }
        },
      ),
    );
  });

  test('is never estimated larger than its body', () => {
    const hash = `0x${'0'.repeat(64)}`;
    const address = `0x${'0'.repeat(40)}`;
    const match: Match = {
      stream: calling,
      logs: [
        {
          logIndex: 0,
          transactionHash: hash,
          transactionIndex: 0,
          address,
          topics: [],
          data: '0x',
        },
      ],
      transactions: [
        {
          hash,
          transactionIndex: 0,
          from: address,
          to: null,
          value: '0x0',
          gas: '0x0',
          gasPrice: null,
          nonce: '0x0',
          input: '0x',
          type: null,
          v: null,
          r: null,
          s: null,
          receipt: {
            cumulativeGasUsed: '0x0',
            gasUsed: '0x0',
            contractAddress: null,
            root: null,
            status: null,
            fee: null,
          },
        },
      ],
      internalTransactions: [
        {
          transactionHash: hash,
          transactionIndex: 0,
          index: 0,
          from: address,
          to: null,
          value: '0x0',
          gas: '0x0',
        },
      ],
      calls: [
        {
          transactionHash: hash,
          transactionIndex: 0,
          traceAddress: [],
          type: 'call',
          from: address,
          to: address,
          value: '0x0',
          input: '0x',
          isFailed: null,
        },
      ],
      reads: [],
      watched: createWatched(),
    };
    const block = {
      number: 1,
      hash,
      parentHash: hash,
      timestamp: 0,
      logs: [],
      transactions: [],
      internalTransactions: [],
    };
    const empty = { ...match, logs: [], transactions: [], internalTransactions: [], calls: [] };
    const sizeOf = (each: Match): number =>
      JSON.stringify(toWebhookParts('0x1', block, each).tail).length;
    expect(minBytes(match)).toBeLessThanOrEqual(sizeOf(match) - sizeOf(empty));
    expect(minBytes(empty)).toBe(0);
  });
});
