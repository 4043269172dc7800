import { expect, test } from 'vitest';
import type {
  Confirmations,
  DeliverySummary,
  ExplainReason,
  ExplainedValue,
} from '@sluice/kit/contract';
import type { LedgerMatch } from '../../../store/blocks/contract.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import {
  type BlockFacts,
  toBlockStages,
  toStreamVerdict,
  toWatchVerdict,
} from './explainVerdict.ts';

const FACTS: BlockFacts = {
  chain: '0x1',
  number: 10,
  timestamp: undefined,
  committedAt: null,
  records: new Map(),
  values: new Map(),
  checkpoint: 10,
  confirmations: 12,
  heights: { chain: 3, latest: 15, depth: 15, safe: 9, finalized: -1 },
  isReplaced: false,
  halt: undefined,
  unverified: [],
};
const providers = [{ head: 9 }, { head: 10 }, { head: null }] as never;

const stagesOf = (facts: Partial<BlockFacts>, trouble?: string) =>
  toBlockStages({ ...FACTS, ...facts }, { providers }, trouble).map(
    ({ stage, outcome, message }) => `${stage} ${outcome}: ${message}`,
  );

test('a block is seen, fetched by the nodes that reached it, and committed', () => {
  expect(stagesOf({ checkpoint: 9 })).toEqual([
    'seen passed: the nodes of 0x1 have the block',
    'fetched passed: 1 of 3 nodes have reached block 10',
    'committed waiting: committed up to block 9',
  ]);
  expect(stagesOf({ checkpoint: 9, number: 12 })[1]).toBe(
    'fetched waiting: 0 of 3 nodes have reached block 12',
  );
});

test('a committed block was fetched, also while the heads of the nodes are not known', () => {
  const unknown = { providers: [{ head: null }] as never };
  expect(toBlockStages(FACTS, unknown, undefined)).toMatchObject([
    { stage: 'seen', outcome: 'passed' },
    { stage: 'fetched', outcome: 'passed', message: 'a node returned block 10' },
    { stage: 'committed', outcome: 'passed' },
  ]);
});

test.each([
  { facts: { number: 11 }, last: 'committed waiting: committed up to block 10' },
  { facts: { checkpoint: null }, last: 'committed waiting: nothing is committed yet' },
  {
    facts: { isReplaced: true },
    last: 'committed stopped: another block replaced this one',
  },
  {
    facts: { halt: 'block 0 differs', isReplaced: true },
    last: 'committed stopped: the chain is halted: block 0 differs',
  },
])('a block that is not committed has the reason: $last', ({ facts, last }) => {
  expect(stagesOf(facts).at(-1)).toBe(last);
});

test('a block that no node has is unknown, with the problem', () => {
  const facts = { number: undefined, records: undefined };
  expect(stagesOf(facts)).toEqual(['seen unknown: no node has the block']);
  expect(stagesOf(facts, 'the node is away')).toEqual(['seen unknown: the node is away']);
  expect(toBlockStages({ ...FACTS, ...facts }, undefined, undefined)).toMatchObject([
    { message: '0x1 is not read' },
  ]);
});

const SENT_AT = Date.UTC(2026, 0, 1);

/** Returns the verdict and its reason for a stream with one delivery in a block to be confirmed. */
const verdictOf = (
  delivery: Partial<DeliverySummary>,
  {
    status = 'active',
    backOffUntil,
    confirmations = null,
    destinations = [],
    state = 'frozen',
  }: {
    status?: string;
    backOffUntil?: number;
    confirmations?: Confirmations | null;
    destinations?: number[];
    state?: LedgerMatch['state'];
  } = {},
): string => {
  const { verdict, reason } = toStreamVerdict(
    { id: 's', tag: '', status, chainIds: ['0x1'] } as unknown as StreamRecord,
    FACTS,
    [
      {
        streamId: 's',
        state,
        confirmations,
        isEnriching: false,
        unverified: [],
        witnesses: null,
        deliveries: [
          { phase: 'unconfirmed', attempts: 0, error: null, nextAttemptAt: null, ...delivery },
        ] as DeliverySummary[],
      },
    ],
    {
      coverage: undefined,
      most: 1,
      backOffOf: () => (backOffUntil === undefined ? undefined : { until: backOffUntil }),
      destinations,
    },
  );
  return `${verdict}: ${reason.message}`;
};

test('each destination has its own reason, and the verdict is that of a failed one', () => {
  const delivery = { phase: 'unconfirmed', attempts: 1, error: null, nextAttemptAt: null };
  const { verdict, reason, stages } = toStreamVerdict(
    { id: 's', tag: '', status: 'active', chainIds: ['0x1'] } as unknown as StreamRecord,
    FACTS,
    [
      {
        streamId: 's',
        state: 'confirmed',
        confirmations: null,
        isEnriching: false,
        unverified: [],
        witnesses: null,
        deliveries: [
          { ...delivery, state: 'succeeded' },
          { ...delivery, state: 'failed', destination: 1, error: 'HTTP 500' },
          { ...delivery, state: 'retrying', destination: 3, nextAttemptAt: SENT_AT },
        ] as DeliverySummary[],
      },
    ],
    {
      coverage: undefined,
      most: 1,
      backOffOf: ({ destination }) => (destination === 3 ? { until: SENT_AT } : undefined),
      destinations: [1, 2, 3],
    },
  );
  const sent = stages.filter(({ stage }) => stage === 'delivery');
  expect(sent.map(({ outcome, message }) => `${outcome}: ${message}`)).toEqual([
    'passed: unconfirmed: delivered after 1 attempt',
    'stopped: unconfirmed to destination 1: failed after 1 attempt: HTTP 500',
    'waiting: unconfirmed to destination 3: retrying after 1 attempt while its receiver is backed off, until 2026-01-01T00:00:00.000Z',
    'unknown: nothing to destination 2: it was added later, or was terminated',
  ]);
  expect([verdict, reason.message]).toEqual(['failed', sent[1]!.message]);
});

test('a destination that was added later does not change the verdict', () => {
  const sent = { attempts: 1, state: 'succeeded' } as const;
  const confirmed = { state: 'confirmed' } as const;
  expect(verdictOf(sent, { ...confirmed, destinations: [1] })).toBe(verdictOf(sent, confirmed));
});

test('the verdict says why a delivery is held back, although its block is not confirmed either', () => {
  const retrying = {
    state: 'retrying',
    attempts: 2,
    error: 'refused',
    nextAttemptAt: SENT_AT,
  } as const;
  expect(verdictOf({ state: 'held' })).toBe(
    'held: unconfirmed: held until another node confirms the block, or until it is released',
  );
  expect(verdictOf(retrying)).toBe('waiting: unconfirmed: retrying after 2 attempts: refused');
  expect(verdictOf(retrying, { status: 'paused' })).toBe(
    'waiting: unconfirmed: retrying after 2 attempts until the stream is resumed: refused',
  );
  expect(verdictOf(retrying, { backOffUntil: SENT_AT })).toBe(
    'waiting: unconfirmed: retrying after 2 attempts while its receiver is backed off, until 2026-01-01T00:00:00.000Z: refused',
  );
  expect(verdictOf(retrying, { backOffUntil: SENT_AT - 1 })).not.toContain('backed off');
  expect(verdictOf({ state: 'leased' })).toBe('waiting: unconfirmed: sending');
  expect(verdictOf({ state: 'succeeded' })).toBe(
    'delivered: waits for 12 blocks to follow, now 5 of 12',
  );
});

test.each([
  [200, 'waits for 200 blocks to follow, now 5 of 200'],
  [2, 'waits for 2 blocks to follow, now 2 of 2'],
  ['safe', 'waits until the safe block of the chain, now 9, has reached 10'],
  ['finalized', 'waits for the finalized block of the chain, which no node has reported yet'],
  ['latest', 'waits for the next block'],
] as const)(
  'an unconfirmed match with the confirmations %s says what it waits for',
  (wish, why) => {
    expect(verdictOf({ state: 'succeeded' }, { confirmations: wish })).toBe(`delivered: ${why}`);
  },
);

/** Returns the verdict and its reason for a stream whose values have these outcomes. */
const verdictOfValues = (...outcomes: ExplainReason['outcome'][]): string => {
  const values = outcomes.map((outcome, n): ExplainedValue => ({
    chainId: '0x1',
    name: 'f()',
    block: 10,
    before: null,
    after: null,
    decimals: 0,
    included: outcome === 'passed',
    reason: { stage: 'value', outcome, message: `value ${n} ${outcome}` },
  }));
  const { verdict, reason, ...listed } = toStreamVerdict(
    { id: 's', status: 'active', chainIds: ['0x1'], addressCount: 0 } as unknown as StreamRecord,
    { ...FACTS, values: new Map([['s', values]]) },
    [],
    { coverage: undefined, most: 1, backOffOf: () => undefined, destinations: [] },
  );
  expect(listed.valueCount).toBe(outcomes.length);
  expect(listed.values.findLastIndex(({ included }) => included)).toBe(
    outcomes.filter((outcome) => outcome === 'passed').length - 1,
  );
  return `${verdict}: ${reason.message}`;
};

test('a value that is not known is never reported as not crossed', () => {
  expect(verdictOfValues('stopped')).toBe('not-matched: value 0 stopped');
  expect(verdictOfValues('stopped', 'stopped')).toBe(
    'not-matched: none of the 2 values that it reads met its condition',
  );
  expect(verdictOfValues('stopped', 'unknown')).toBe('not-evaluated: value 1 unknown');
  expect(verdictOfValues('waiting', 'stopped')).toBe('waiting: value 0 waiting');
  // The ledger has no match of the values that met their condition.
  expect(verdictOfValues('unknown', 'passed', 'passed')).toMatch(
    /^not-evaluated: .*run a backfill$/,
  );
});

test.each([
  {
    addressCount: 0,
    options: {},
    block: 'the stream has no addresses yet',
    address: "it is not among the stream's 0 addresses",
  },
  {
    addressCount: 1,
    options: {},
    block: 'no record involves its only address',
    address: "it is not the stream's only address",
  },
  {
    addressCount: 2,
    options: { factories: [{}] },
    block: 'no record involves its 2 addresses or the children of its factories',
    address: "it is not among the stream's 2 addresses or among the children of its factories",
  },
  {
    addressCount: 0,
    options: { factories: [{}] },
    block: 'no record involves the children of its factories',
    address: 'it is not among the children of its factories',
  },
  {
    addressCount: 0,
    options: { reads: [{}] },
    block: 'the stream watches no addresses, and only reads values',
    address: 'the stream watches no addresses, and reads no value of it',
  },
])('a stream that matches nothing explains what it watches: $block', (each) => {
  const { addressCount, options, block, address } = each;
  const stream = {
    id: 's',
    status: 'active',
    chainIds: ['0x1'],
    addressCount,
    options,
  } as unknown as StreamRecord;
  const more = { coverage: undefined, most: 1, backOffOf: () => undefined, destinations: [] };
  expect(toStreamVerdict(stream, FACTS, [], more).reason.message).toBe(block);
  expect(toWatchVerdict(stream, undefined, []).reason.message).toBe(address);
});
