/** Tests when an uncertain block is read again, by what the last reading returned. */
import { describe, expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import type { EvmBlock } from '../../families/evm/match/block.ts';
import type { Store } from '../../store/store.ts';
import type { UncertainBlock } from '../../store/uncertain/contract.ts';
import { NO_MATCHES } from '../noMatches.test-only.ts';
import { SourceError } from '../source.ts';
import { EVM_RECORDS } from '../../families/evm/ingest/recordIds.ts';
import { createRereading } from './rereading.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const AFTER_MS = [10 * MINUTE_MS, HOUR_MS, DAY_MS];
const HEADER = { number: 1, hash: '0x1', parentHash: '0x0', timestamp: 1 };
const BLOCK: EvmBlock = { ...HEADER, logs: [], transactions: [], internalTransactions: [] };
const UNCERTAIN: EvmBlock = {
  ...BLOCK,
  unverified: { codes: ['receipts'], witnesses: 1, isUncertain: true },
};

/** The result of a reading, as the ledger records it. */
type Outcome = { nextInMs: number | undefined } | { postponedMs: number } | 'ended';

/** Reads a block of which no record changed; `answer` is what the nodes return. */
async function readAgain(
  {
    step,
    ageMs,
    isHeld = false,
  }: Pick<UncertainBlock, 'step' | 'ageMs'> & Partial<Pick<UncertainBlock, 'isHeld'>>,
  answer: { block: EvmBlock; isComplete: boolean } | SourceError,
): Promise<Outcome> {
  const uncertain: UncertainBlock = {
    chain: '0x1',
    header: HEADER,
    jobId: null,
    streamId: null,
    codes: 'receipts',
    needs: { logs: true, transactions: true, traces: false },
    records: '',
    step,
    ageMs,
    isHeld,
  };
  const outcome = Promise.withResolvers<Outcome>();
  const due = [uncertain];
  const store: Partial<Store> = {
    nextUncertain: async () => due.pop(),
    commitReading: async ({ next }) => {
      outcome.resolve({ nextInMs: next?.dueInMs });
      return { children: [] };
    },
    postponeReading: async (_, postponedMs) => outcome.resolve({ postponedMs }),
    endReadings: async () => outcome.resolve('ended'),
  };
  const rereading = createRereading({
    chain: '0x1',
    epoch: 1,
    store: store as Store,
    log: createLog(() => {}),
    source: { readHeader: async () => HEADER },
    later: {
      afterMs: AFTER_MS,
      records: EVM_RECORDS,
      read: async () => {
        if (answer instanceof SourceError) throw answer;
        return answer;
      },
    },
    matcher: { ...NO_MATCHES, refresh: async () => 0 },
    openMatcher: async () => undefined,
    confirmedHeights: () => undefined,
  });
  rereading.start();
  const found = await outcome.promise;
  await rereading.stop();
  return found;
}

const complete = (block: EvmBlock) => ({ block, isComplete: true });
const partial = (block: EvmBlock) => ({ block, isComplete: false });
const lost = new SourceError('pruned', 'no longer kept');

describe('a block that stays uncertain', () => {
  test.each([
    ['first', 0, 10 * MINUTE_MS, 50 * MINUTE_MS],
    ['second', 1, HOUR_MS, 23 * HOUR_MS],
    ['last', 2, DAY_MS, undefined],
  ])('is read by the schedule after the %s reading', async (_, step, ageMs, nextInMs) => {
    expect(await readAgain({ step, ageMs }, complete(UNCERTAIN))).toEqual({ nextInMs });
  });

  test('is not read twice at once after an outage', async () => {
    const late = { step: 0, ageMs: 5 * HOUR_MS };
    expect(await readAgain(late, complete(UNCERTAIN))).toEqual({ nextInMs: 10 * MINUTE_MS });
  });

  test('is read again soon while a node is away, for a day', async () => {
    const soon = { postponedMs: MINUTE_MS };
    expect(await readAgain({ step: 1, ageMs: HOUR_MS }, partial(UNCERTAIN))).toEqual(soon);
    const almost = { step: 1, ageMs: HOUR_MS + DAY_MS - 1 };
    expect(await readAgain(almost, partial(UNCERTAIN))).toEqual(soon);
    const after = { step: 1, ageMs: HOUR_MS + DAY_MS };
    expect(await readAgain(after, partial(UNCERTAIN))).toEqual({ nextInMs: 10 * MINUTE_MS });
  });
});

test('a block that is certain now is not read again, whoever is away', async () => {
  const first = { step: 0, ageMs: 10 * MINUTE_MS };
  expect(await readAgain(first, complete(BLOCK))).toEqual({ nextInMs: undefined });
  expect(await readAgain(first, partial(BLOCK))).toEqual({ nextInMs: undefined });
});

test('a held block is read by the schedule until two witnesses returned it, or it is verified', async () => {
  const held = { step: 0, ageMs: 10 * MINUTE_MS, isHeld: true };
  const returnedBy = (witnesses: number): EvmBlock => ({
    ...BLOCK,
    unverified: { codes: ['header-hash'], witnesses, isUncertain: false },
  });
  expect(await readAgain(held, complete(returnedBy(1)))).toEqual({ nextInMs: 50 * MINUTE_MS });
  expect(await readAgain({ ...held, isHeld: false }, complete(returnedBy(1)))).toEqual({
    nextInMs: undefined,
  });
  expect(await readAgain(held, complete(returnedBy(2)))).toEqual({ nextInMs: undefined });
  expect(await readAgain(held, complete(BLOCK))).toEqual({ nextInMs: undefined });
});

test('a block that no node has is requested for a day', async () => {
  const soon = { postponedMs: MINUTE_MS };
  expect(await readAgain({ step: 0, ageMs: DAY_MS }, lost)).toEqual(soon);
  expect(await readAgain({ step: 0, ageMs: DAY_MS + 10 * MINUTE_MS }, lost)).toBe('ended');
});

test('a block that no node can be queried for is requested indefinitely', async () => {
  const away = new SourceError('unreachable', 'refused');
  const late = { step: 0, ageMs: 30 * DAY_MS };
  expect(await readAgain(late, away)).toEqual({ postponedMs: MINUTE_MS });
});
