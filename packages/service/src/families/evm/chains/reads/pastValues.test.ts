/**
 * Compares the values that backfills find, through kills, lost answers of the ledger and missing
 * states, with a plain model that reads the whole range again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebhookRead } from '@sluice/kit/contract';
import { type Postgres, startPostgres, until } from '@sluice/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../../../base/log.ts';
import { RetryableError } from '../../../../base/errors.ts';
import { createBackfill } from '../../../../ingest/backfill.ts';
import type { ChainSource } from '../../../../ingest/source.ts';
import type { BlockHeader } from '../../../../store/blocks/contract.ts';
import { openPostgresStore } from '../../../../store/engine/postgres/postgres.ts';
import { openSqliteStore } from '../../../../store/engine/sqlite/sqlite.ts';
import type { Store } from '../../../../store/store.ts';
import type { EvmBlock } from '../../match/block.ts';
import {
  type Made,
  STREAMS,
  type State,
  VALUES,
  answersOf,
  anyValue,
  draftOf,
  expectedOfStream,
  openMatching,
  toSent,
} from './readModel.test-only.ts';
import { createReadState } from './readState.ts';

const READS = STREAMS[0]!;
const anyState = fc.option(fc.tuple(anyValue, anyValue, anyValue), { nil: undefined, freq: 12 });
/** The outcomes of the commits of a backfill, in order. */
const anyOutcomes = fc.array(fc.constantFrom('ok', 'ok', 'lost', 'failed', 'killed'), {
  maxLength: 12,
});

const toHash = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
const headerOf = (number: number): BlockHeader => ({
  number,
  hash: toHash(number),
  parentHash: number === 0 ? '' : toHash(number - 1),
  timestamp: 10 * number,
});

let chains = 0x1000;

/** Creates a chain with these states, and a stream that begins after them. */
async function open(store: Store, states: State[]) {
  const chain = `0x${(++chains).toString(16)}`;
  const epoch = (await store.takeLease({ name: chain, holder: 'a test', forMs: 3_600_000 }))!;
  const block = headerOf(states.length);
  await store.startChain({ chain, epoch, block, genesisHash: toHash(0) });
  const { id } = await store.createStream(draftOf(READS, chain));
  const matching = openMatching(store);
  const source = {
    readHeader: (at: string | number) => Promise.resolve(headerOf(Number(at))),
    readBlockAt(number: number) {
      const found = { ...headerOf(number), logs: [], transactions: [], internalTransactions: [] };
      return Promise.resolve({ header: headerOf(number), block: found });
    },
  } as unknown as ChainSource<EvmBlock>;
  const heights = { chain: 1e6, latest: 1e6, depth: 1e6, safe: -1, finalized: -1 };

  /** Runs a backfill to its end, restarting after each kill. */
  async function run(from: number, to: number, given: readonly string[] = []): Promise<void> {
    const outcomes = [...given];
    const job = await store.createJob({ streamId: id, chain, blockFrom: from, blockTo: to });
    let backfill: ReturnType<typeof begin>;
    const commitJob: Store['commitJob'] = async (commit) => {
      const outcome = outcomes.shift();
      if (outcome === 'killed') {
        // The process ends before or after the commit.
        if (outcomes.length % 2 === 0) await store.commitJob(commit);
        void backfill.stop().then(() => (backfill = begin()));
        throw new RetryableError('unavailable', 'killed');
      }
      if (outcome === 'failed') throw new RetryableError('unavailable', 'failed');
      const done = await store.commitJob(commit);
      if (outcome === 'lost') throw new RetryableError('unavailable', 'lost');
      return done;
    };
    const begin = () => {
      const started = createBackfill({
        chain,
        epoch,
        source,
        store: Object.assign(Object.create(store) as Store, { commitJob }),
        openMatcher: (streamId) => matching.open(chain, streamId),
        readState: createReadState({
          // Old states are gone, so that a missing one is not read again.
          state: {
            isGone: () => true,
            read: ({ number }, requests) => Promise.resolve(answersOf(states[number], requests)),
          },
          values: VALUES,
        }),
        openFinder: () => Promise.resolve(undefined),
        matcher: undefined as never,
        confirmedHeights: () => heights,
        settledUpTo: () => null,
        retryMs: 0,
        log: createLog(() => {}),
      });
      started.start();
      return started;
    };
    backfill = begin();
    await until('the backfill is done', async () => {
      const [newest] = await store.listJobs({ streamId: id, limit: 1 });
      return newest!.id === job!.id && newest!.state === 'done';
    });
    await backfill.stop();
  }

  return {
    id,
    run,
    /** Returns what was sent since the last call. */
    async sent(): Promise<string[]> {
      const sent: string[] = [];
      for (;;) {
        const claimed = await store.claimDeliveries({
          limit: 1_000,
          maxBytes: 1e9,
          perStream: 1_000,
          taken: {},
          leaseMs: 3_600_000,
        });
        if (claimed.length === 0) return sent.toSorted();
        for (const { streamId, body } of claimed) {
          if (streamId !== id) continue;
          const { block, reads, confirmed } = JSON.parse(Buffer.from(body).toString()) as {
            block: { number: string };
            reads: WebhookRead[];
            confirmed: boolean;
          };
          expect(confirmed).toBe(true);
          sent.push(...reads.map((each) => JSON.stringify(toSent(Number(block.number), each))));
        }
      }
    },
    /** Returns the blocks of the range that the stream does not cover. */
    async missing(from: number, to: number): Promise<number[]> {
      const coverage = (await store.readCoverage(id))[0]!;
      const isCovered = (number: number): boolean =>
        coverage.from !== null &&
        coverage.from <= number &&
        number <= coverage.to! &&
        coverage.holes.every((hole) => number < hole.from || number > hole.to);
      return numbersOf(from, to).filter((number) => !isCovered(number));
    },
  };
}

const numbersOf = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Returns what a backfill sends, and the blocks that it can't evaluate. */
function expectedOf(states: readonly State[], from: number, to: number) {
  const made: Made[] = states.map((state, number) => ({ header: headerOf(number), state }));
  // The block before the range has the values before.
  const chain = made.slice(Math.max(0, from - 1), to + 1);
  const isKnown = from === 0 || states[from - 1] !== undefined;
  const first = isKnown ? from : numbersOf(from, to).find((n) => states[n] !== undefined);
  const isSent = (text: string): boolean => {
    const { block, when, before } = JSON.parse(text) as {
      block: number;
      when: object;
      before: unknown;
    };
    // Values of the first state are not compared, if the one before is missing.
    const isCompared = before !== null || isKnown || block !== first || 'every' in when;
    return block >= from && isCompared;
  };
  return {
    sent: expectedOfStream(READS, chain).filter(isSent),
    missing: numbersOf(from, to).filter(
      (n) =>
        states[n] === undefined ||
        // A contract that reverts has no value to compare.
        (!isKnown && n === first && states[n].some((value) => value !== 'reverts')),
    ),
  };
}

const RUNS = Number(process.env['READ_RUNS'] ?? 6);

describe.each(['sqlite', 'postgres'] as const)('a backfill of values on %s', (engine) => {
  let folder: string;
  let postgres: Postgres | undefined;
  let store: Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-past-values-'));
    if (engine === 'sqlite') store = await openSqliteStore(folder);
    else {
      postgres = await startPostgres();
      store = await openPostgresStore(postgres.url);
    }
  });
  afterAll(async () => {
    await store.close();
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  test('sends each crossing once, whatever happens to its commits', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyState, { minLength: 30, maxLength: 70 }),
        fc.nat(3),
        anyOutcomes,
        async (states, from, outcomes) => {
          const to = states.length - 1;
          const world = await open(store, states);
          await world.run(from, to, outcomes);
          const expected = expectedOf(states, from, to);
          expect(await world.sent()).toEqual(expected.sent);
          expect(await world.missing(from, to)).toEqual(expected.missing);
          await store.deleteStream(world.id);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('does not compare the first state if no node has the one before the range', async () => {
    const states: State[] = [5, 1, 1, 5, 1].map((value) => [value, value, value]);
    states[0] = undefined;
    const world = await open(store, states);
    await world.run(1, 4);
    const expected = expectedOf(states, 1, 4);
    expect(await world.sent()).toEqual(expected.sent);
    expect(expected.sent.some((text) => text.includes('below'))).toBe(true);
    expect(await world.missing(1, 4)).toEqual([1]);
    await store.deleteStream(world.id);
  });

  test('closes a hole once a node has the state', async () => {
    const states: State[] = [1, 1, 1, 3, 3, 3].map((value) => [value, value, value]);
    const [, , second, third] = states;
    states[2] = states[3] = undefined;
    const world = await open(store, states);
    await world.run(1, 5);
    expect(await world.missing(1, 5)).toEqual([2, 3]);
    states[2] = second;
    states[3] = third;
    await world.run(3, 3);
    expect(await world.missing(1, 5)).toEqual([2]);
    await world.run(2, 2);
    expect(await world.missing(1, 5)).toEqual([]);
    await store.deleteStream(world.id);
  });
});
