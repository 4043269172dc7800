/**
 * Tests the history of deliveries, replays and totals on each engine. Run by `sqlite.test.ts` and
 * `postgres.suite.ts`.
 */
import { movedBy } from '../../src/store/live/movedBy.test-only.ts';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import {
  type DeliveryFilter,
  type DeliverySummary,
  matchesPath,
  readBodyQuery,
  timeOfId,
  toLowerAscii,
} from '@sluice/kit/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAddressChanges } from '../../src/store/addresses/addressChanges.ts';
import { packAddresses } from '../../src/store/addresses/packedAddresses.ts';
import { newMatch } from './newMatch.ts';
import { takeChain } from './takeChain.ts';
import type {
  AttemptOutcome,
  AttemptResult,
  AttemptedFilter,
} from '../../src/store/deliveries/contract.ts';
import type { BlockHeader, NewMatch } from '../../src/store/blocks/contract.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../../src/store/streams/contract.ts';
import { MAX_RUNNING_REPLAYS } from '../../src/store/replays/contract.ts';
import type { Store } from '../../src/store/store.ts';
import type { StreamTotals } from '../../src/store/stats/contract.ts';
import { plain } from './plain.ts';

const hashOf = (): string => `0x${randomBytes(32).toString('hex')}`;
let lastChain = 0x20_000;

const FAILED = { status: 500, error: 'HTTP 500' } as const;

/** Returns whether a body matches a search. Text is searched before and after `retries`. */
function isIn(search: string, body: string): boolean {
  const query = readBodyQuery(search)!;
  return 'text' in query
    ? body
        .replace(/^\{"confirmed":(true|false)/, '')
        .split(/(?<="retries":)\d+/)
        .some((part) => toLowerAscii(part).includes(toLowerAscii(query.text)))
    : matchesPath(JSON.parse(body), query);
}

export function testHistory(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  const createStream = (chains: string[]) =>
    store.createStream(
      plain({
        family: 'evm',
        tag: 'tag',
        description: '',
        webhookUrl: 'http://127.0.0.1:1/hook',
        chainIds: chains,
        options: { ...DEFAULT_OPTIONS, includeContractLogs: true },
        ...DEFAULT_DELIVERY,
      }),
    );

  /** Starts a new chain. Each commit adds a block with the given matches. */
  const startChain = async () => {
    const chain = `0x${(++lastChain).toString(16)}`;
    let tip: BlockHeader = { number: 100, hash: hashOf(), parentHash: hashOf(), timestamp: 1 };
    const epoch = await takeChain(store, chain);
    await store.startChain({ chain, epoch, block: tip, genesisHash: hashOf() });
    return {
      chain,
      /** Arguments that all writes to the chain have in common. */
      held: { chain, epoch },
      tip: () => tip,
      async commit(matches: (Partial<NewMatch> & { streamId: string })[], confirmations = 1) {
        const block = { ...tip, number: tip.number + 1, hash: hashOf(), parentHash: tip.hash };
        const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
        const { result, moved } = await movedBy(store, () =>
          store.commitBlock({
            chain,
            epoch,
            block,
            ruleRevision: revision,
            confirmUpTo: block.number - confirmations,
            windowBlocks: 256,
            matches: matches.map((match) => newMatch(match.streamId, match)),
          }),
        );
        expect(result.outcome).toBe('committed');
        tip = block;
        return moved;
      },
    };
  };

  const claim = () =>
    store.claimDeliveries({
      maxBytes: 1e9,
      limit: 1000,
      perStream: 1000,
      taken: {},
      leaseMs: 40_000,
    });

  const complete = (
    claimed: { id: string; leaseToken: string },
    changes: Partial<AttemptOutcome> = {},
  ) =>
    store.completeDeliveries([
      {
        id: claimed.id,
        leaseToken: claimed.leaseToken,
        webhookUrl: 'http://127.0.0.1:1/tried',
        startedAt: Date.now(),
        durationMs: 5,
        status: 200,
        error: null,
        responseBody: '',
        transport: null,
        result: 'succeeded',
        retryInMs: 0,
        isFastRetry: false,
        ...changes,
      },
    ]);

  /** Creates a stream with one delivery, whose only attempt had this result. */
  const oneThat = async (result: AttemptOutcome['result']) => {
    const chain = await startChain();
    const { id: streamId } = await createStream([chain.chain]);
    const [delivery] = await chain.commit([{ streamId }]);
    const claimed = (await claim()).find((each) => each.id === delivery!.id)!;
    const failure = result === 'succeeded' ? {} : { ...FAILED, retryInMs: 3_600_000 };
    await complete(claimed, { result, ...failure });
    return { chain, streamId, id: delivery!.id };
  };

  const deliveriesOf = async (streamId: string): Promise<DeliverySummary[]> => {
    const rows: DeliverySummary[] = [];
    let after: string | undefined;
    do {
      const page = await store.listDeliveries({ limit: 100, after, streamId });
      rows.push(...page.rows);
      after = page.next;
    } while (after !== undefined);
    return rows;
  };

  const listAll = async (
    filter: Omit<AttemptedFilter, 'limit' | 'withBody'>,
    limit = 3,
  ): Promise<string[]> => {
    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.listAttempted({ ...filter, after, limit, withBody: false });
      ids.push(...page.rows.map((row) => row.id));
      after = page.next;
    } while (after !== undefined);
    return ids;
  };

  describe('many deliveries', () => {
    /**
     * Creates streams on two chains, with deliveries that wait, succeeded, failed or are
     * quarantined.
     */
    const makeVaried = async () => {
      const chains = [await startChain(), await startChain()];
      const streams: string[] = [];
      for (let n = 0; n < 3; n++) {
        streams.push((await createStream(chains.map((each) => each.chain))).id);
      }
      for (let n = 0; n < 24; n++) {
        const enrichment = n % 11 === 5 ? '{}' : null;
        await chains[n % 2]!.commit([{ streamId: streams[n % 3]!, enrichment }], 2);
      }
      const outcomes: Partial<AttemptOutcome>[] = [
        {},
        { result: 'failed', status: 404, error: 'HTTP 404' },
        { result: 'retry', status: 503, error: 'HTTP 503', retryInMs: 3_600_000 },
        { result: 'quarantined', status: null, error: 'ended by SIGABRT' },
        { result: 'retry', status: null, error: '100% of_it broke', retryInMs: 0 },
      ];
      for (let round = 0; round < 3; round++) {
        const claimed = (await claim()).filter((each) => streams.includes(each.streamId));
        for (const [n, each] of claimed.entries()) {
          if (n % 6 !== 5 || round === 2) await complete(each, outcomes[(n + round) % 5]);
        }
        await store.releaseLeases('all');
      }
      const all: DeliverySummary[] = [];
      for (const id of streams) all.push(...(await deliveriesOf(id)));
      return { chains: chains.map((each) => each.chain), streams, all, first: chains[0]! };
    };

    const listAllOf = async (filter: DeliveryFilter): Promise<string[]> => {
      const ids: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.listDeliveries({ ...filter, limit: 7, after });
        ids.push(...page.rows.map((row) => row.id));
        after = page.next;
      } while (after !== undefined);
      return ids;
    };

    test('property: a filter selects the same deliveries as a plain scan', async () => {
      const { chains, streams, all } = await makeVaried();
      const times = all.map((each) => timeOfId(each.id));
      const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
      const some = <T>(values: readonly T[]) =>
        fc.oneof(oneOf(values), fc.subarray([...values], { minLength: 1 }));
      const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
        fc.option(arbitrary, { nil: undefined, freq: 1 });
      const has = (given: string | readonly string[] | undefined, value: string): boolean =>
        given === undefined || [given].flat().includes(value);
      const within = (value: number, from = -Infinity, to = Infinity): boolean =>
        value >= from && value <= to;
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            id: maybe(some(all.map((each) => each.id))),
            streamId: some(streams),
            chainId: maybe(some(chains)),
            state: maybe(some([...new Set(all.map((each) => each.state))])),
            phase: maybe(some(['unconfirmed', 'confirmed'] as const)),
            status: maybe(some(['2xx', '404', '503', '5xx', 'none'])),
            error: maybe(oneOf(['http', 'SIGABRT', '%', '_', '!', '100% OF_'])),
            blockFrom: maybe(fc.integer({ min: 98, max: 115 })),
            blockTo: maybe(fc.integer({ min: 98, max: 115 })),
            createdFrom: maybe(oneOf(times)),
            createdTo: maybe(oneOf(times)),
            attemptsFrom: maybe(fc.integer({ min: 0, max: 3 })),
            attemptsTo: maybe(fc.integer({ min: 0, max: 3 })),
          }),
          async (filter) => {
            const answered = (each: DeliverySummary): string[] =>
              each.status === null
                ? each.attempts > 0
                  ? ['none']
                  : []
                : [`${each.status}`, `${String(each.status)[0]}xx`];
            const expected = all.filter(
              (each) =>
                has(filter.id, each.id) &&
                has(filter.streamId, each.streamId) &&
                has(filter.chainId, each.chainId) &&
                has(filter.state, each.state) &&
                has(filter.phase, each.phase) &&
                (filter.status === undefined ||
                  answered(each).some((status) => has(filter.status, status))) &&
                (filter.error === undefined ||
                  each.error?.toLowerCase().includes(filter.error.toLowerCase()) === true) &&
                within(each.blockNumber, filter.blockFrom, filter.blockTo) &&
                within(timeOfId(each.id), filter.createdFrom, filter.createdTo) &&
                within(each.attempts, filter.attemptsFrom, filter.attemptsTo),
            );
            const ids = expected.map((each) => each.id).toSorted();
            expect((await listAllOf(filter)).toReversed()).toEqual(ids);
            const replayable = expected.filter((each) =>
              ['pending', 'retrying', 'succeeded', 'failed', 'quarantined'].includes(each.state),
            );
            expect(await store.estimateReplay(filter)).toMatchObject({
              deliveries: replayable.length,
              isCapped: false,
            });
            expect(
              await store.listReplayable({ filter, after: '', lastId: 'g', limit: 1000 }),
            ).toEqual(replayable.map((each) => each.id).toSorted());
          },
        ),
        { numRuns: 60 },
      );
    });

    test('are found by transaction, by address in their body, by label and by summary', async () => {
      const chain = await startChain();
      const { id: streamId } = await createStream([chain.chain]);
      const wallet = `0x${'ab'.repeat(20)}`;
      const other = `0x${'c0'.repeat(20)}`;
      const account = `0x${'0d'.repeat(32)}`;
      const hash = hashOf();
      await createAddressChanges(store).add(streamId, {
        addresses: packAddresses([wallet, other]),
        labels: new Map([[wallet, 'Cold %wallet']]),
        keyId: 'key',
      });
      const bodyOf = (text: string): string => `,"logs":[{"topic1":"0x${'0'.repeat(24)}${text}"}]}`;
      await chain.commit([
        { streamId, bodyTail: bodyOf(wallet.slice(2)), transactionHashes: [hash] },
      ]);
      await chain.commit([{ streamId, bodyTail: bodyOf(other.slice(2)), about: 'Swap 5 USDC' }]);
      await chain.commit([{ streamId, bodyTail: `,"account":"${account}"}` }]);
      const found = async (filter: DeliveryFilter & { find?: string }): Promise<number[]> => {
        const { rows, next } = await store.listDeliveries({ streamId, limit: 10, ...filter });
        expect(next).toBeUndefined();
        return [...new Set(rows.map((each) => each.blockNumber - 100))];
      };
      expect(await found({ transactionHash: hash })).toEqual([1]);
      expect(await found({ transactionHash: hash.toUpperCase().replace('0X', '0x') })).toEqual([1]);
      expect(await found({ transactionHash: hashOf() })).toEqual([]);
      expect(await found({ find: hash.toUpperCase().replace('0X', '0x') })).toEqual([1]);
      expect(await found({ find: wallet.toUpperCase() })).toEqual([1]);
      expect(await found({ find: other })).toEqual([2]);
      expect(await found({ find: account })).toEqual([3]);
      expect(await found({ find: 'cold %w' })).toEqual([1]);
      expect(await found({ find: '%' })).toEqual([1]);
      expect(await found({ find: 'usdc' })).toEqual([2]);
      expect(await found({ find: 'usdt' })).toEqual([]);
      expect(await store.estimateReplay({ transactionHash: hash })).toMatchObject({
        deliveries: 2,
      });
      expect(await store.countByField({ transactionHash: hash })).toMatchObject({ total: 2 });
    });

    test('property: are found by text and by paths in their body, like in memory', async () => {
      const chain = await startChain();
      const { id: streamId } = await createStream([chain.chain]);
      const text = fc.constantFrom('Éa', 'éa', '%', 'a"b', '\\', '0xAB', '7', 'true', 'ß_b', '\n');
      const value = fc.oneof(text, fc.constantFrom(7, true, null, [], {}));
      const key = fc.constantFrom('a', 'A', 'logs');
      const entries = fc.array(fc.dictionary(key, value, { minKeys: 1, maxKeys: 3 }), {
        minLength: 1,
        maxLength: 3,
      });
      const path = fc
        .array(
          fc.oneof(
            key.map((each) => `.${each}`),
            fc.constantFrom('[*]', '[0]', '.*'),
          ),
          {
            minLength: 1,
            maxLength: 3,
          },
        )
        .map((steps) => `$${steps.join('')}`);
      const envelope = fc.constantFrom('$.confirmed = true', '$.retries = 0', '$.confirmed');
      const query = fc
        .oneof(
          text,
          path,
          envelope,
          fc.tuple(path, value).map(([at, it]) => `${at} = ${toText(it)}`),
        )
        .filter((each) => readBodyQuery(each) !== undefined);
      const toText = (it: unknown): string =>
        typeof it === 'string' ? JSON.stringify(it) : String(it);
      await fc.assert(
        fc.asyncProperty(
          fc.array(entries, { minLength: 1, maxLength: 3 }),
          query,
          async (bodies, body) => {
            const made = await chain.commit(
              bodies.map((logs, part) => ({
                streamId,
                part,
                parts: bodies.length,
                bodyTail: `,${JSON.stringify({ logs }).slice(1)}`,
              })),
            );
            const expected: string[] = [];
            for (const { id } of made) {
              if (isIn(body, (await store.readDeliveryBody(id))!)) expected.push(id);
            }
            const { rows, next } = await store.listDeliveries({
              id: made.map(({ id }) => id),
              limit: 100,
              body,
            });
            expect(rows.map(({ id }) => id)).toEqual(expected.toSorted().toReversed());
            expect(next).toBeUndefined();
          },
        ),
        { numRuns: 150, examples: [[[[{ a: 'a"b' }]], '$.logs[*].a = "a\\"b"']] },
      );
    });

    test('are searched by a path within a limit per page, and further pages continue', async () => {
      const chain = await startChain();
      const { id: streamId } = await createStream([chain.chain]);
      // Ten bodies of 1 MB with the key; the path exists only in the oldest.
      const large = 'x'.repeat(1024 * 1024);
      await chain.commit([{ streamId, bodyTail: `,"found":{"here":"${large}"}}` }]);
      for (let n = 0; n < 9; n++) {
        await chain.commit([{ streamId, bodyTail: `,"here":"${large}"}` }]);
      }
      const search = { streamId, phase: 'unconfirmed', body: '$.found.here', limit: 5 } as const;
      const first = await store.listDeliveries(search);
      expect(first).toMatchObject({ rows: [], searchedTo: first.next });
      const second = await store.listDeliveries({ ...search, after: first.next });
      expect(second.rows.map(({ blockNumber }) => blockNumber)).toEqual([101]);
      expect(second.next).toBeUndefined();
      // Rows beyond the limit of a page are on the next one.
      const all = { ...search, body: '"here":', limit: 6 };
      const page = await store.listDeliveries(all);
      const rest = await store.listDeliveries({ ...all, after: page.next });
      expect([...page.rows, ...rest.rows].map(({ blockNumber }) => blockNumber)).toEqual(
        Array.from({ length: 10 }, (_, n) => 110 - n),
      );
      const oldest = await store.listDeliveries({ ...all, order: 'oldest' });
      expect(oldest.rows.map(({ blockNumber }) => blockNumber)).toEqual([
        101, 102, 103, 104, 105, 106,
      ]);
    });

    test('are found by the end of their attempts', async () => {
      const chain = await startChain();
      const { id: streamId } = await createStream([chain.chain]);
      await chain.commit([{ streamId }]);
      const claimed = (await claim()).find((each) => each.streamId === streamId)!;
      const startedAt = Date.now();
      await complete(claimed, { startedAt, durationMs: 5_000 });
      const found = async (attemptedFrom?: number, attemptedTo?: number): Promise<string[]> =>
        (await store.listDeliveries({ streamId, limit: 10, attemptedFrom, attemptedTo })).rows.map(
          (each) => each.id,
        );
      const ended = startedAt + 5_000;
      expect(await found(ended)).toEqual([claimed.id]);
      expect(await found(ended, ended)).toEqual([claimed.id]);
      expect(await found(ended + 1)).toEqual([]);
      expect(await found(undefined, ended - 1)).toEqual([]);
    });

    test('property: a count equals the number of deliveries found with its value', async () => {
      const { chains, streams, all, first } = await makeVaried();
      const window = await store.readWindow(first.chain, 4);
      await store.rewindChain({ ...first.held, ancestor: window.at(-1)! });
      const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
      const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
        fc.option(arbitrary, { nil: undefined, freq: 1 });
      const countOf = async (filter: DeliveryFilter): Promise<number> =>
        (await listAllOf({ ...filter, streamId: filter.streamId ?? streams })).length;
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            streamId: oneOf(streams),
            chainId: maybe(oneOf(chains)),
            state: maybe(oneOf(['succeeded', 'failed', 'pending', 'cancelled'] as const)),
            phase: maybe(oneOf(['unconfirmed', 'confirmed'] as const)),
            status: maybe(oneOf(['2xx', '404', 'none'])),
            error: maybe(oneOf(['http'])),
            createdFrom: maybe(oneOf(all.map((each) => timeOfId(each.id)))),
            attemptsFrom: maybe(fc.integer({ min: 0, max: 2 })),
            reorged: maybe(fc.boolean()),
          }),
          async (filter) => {
            const counts = await store.countByField(filter);
            expect(counts).toMatchObject({ total: await countOf(filter), isCapped: false });
            const isOurs = ({ value }: { value: string }) => streams.includes(value);
            for (const { value, count } of counts.streamId.filter(isOurs)) {
              expect(count).toBe(await countOf({ ...filter, streamId: value }));
            }
            for (const field of ['state', 'status', 'chainId', 'phase'] as const) {
              for (const { value, count } of counts[field]) {
                expect(count, `${field} ${value}`).toBe(
                  await countOf({ ...filter, [field]: value }),
                );
              }
            }
            for (const { value, count } of counts.reorged) {
              expect(count).toBe(await countOf({ ...filter, reorged: value === 'true' }));
            }
            for (const { value, count } of counts.attempts) {
              const attempts = Number(value);
              expect(count).toBe(
                await countOf({ ...filter, attemptsFrom: attempts, attemptsTo: attempts }),
              );
            }
            // All deliveries are younger than 15 minutes, so the counts contain only one age.
            const { createdFrom: _, ...anyTime } = filter;
            const made = await countOf(anyTime);
            expect(counts.age).toEqual(made === 0 ? [] : [{ value: '15m', count: made }]);
          },
        ),
        { numRuns: 15 },
      );
      expect((await store.countByField({ streamId: streams })).reorged).toContainEqual({
        value: 'true',
        count: expect.any(Number) as number,
      });
    });

    test('are replayed step by step, each with its id, and totals stay correct', async () => {
      const { streams } = await makeVaried();
      const [streamId] = streams as [string];
      const filter = { streamId, state: ['failed', 'succeeded', 'quarantined'] } as const;
      const { deliveries: total, bytes } = await store.estimateReplay(filter);
      expect(total).toBeGreaterThan(3);
      expect(bytes).toBeGreaterThan(0);
      const replay = (await store.createReplay({
        name: 'all of it',
        filter,
        perSecond: 2,
        total,
        keyId: 'bootstrap',
      }))!;
      expect(replay).toMatchObject({ state: 'running', total, replayed: 0, waiting: 0 });
      const running = async () =>
        (await store.listRunningReplays()).find((each) => each.id === replay.id);
      const { position, lastId, ...rest } = (await running())!;
      expect(rest).toMatchObject({ filter, perSecond: 2, dueInMs: 0 });
      const ids = await store.listReplayable({ filter, after: position, lastId, limit: 2 });
      const step = { id: replay.id, after: position, ids, isLast: false };
      const { moved } = await movedBy(store, () => store.advanceReplay(step));
      expect(moved.map((each) => each.id).toSorted()).toEqual(ids);
      // A second process that is still at the old position changes nothing.
      expect(await store.advanceReplay(step)).toBe(false);
      expect((await running())!.dueInMs).toBeGreaterThan(800);
      expect(await store.readReplay(replay.id)).toMatchObject({ replayed: 2, waiting: 2 });
      // The last step replays the remaining deliveries and ends the replay.
      const left = await store.listReplayable({ filter, after: ids[1]!, lastId, limit: 100 });
      await store.advanceReplay({ id: replay.id, after: ids[1]!, ids: left, isLast: true });
      expect(await running()).toBeUndefined();
      for (const each of await claim()) {
        if (each.streamId === streamId) {
          await complete(each, each.id === ids[0] ? { result: 'failed', ...FAILED } : {});
        }
      }
      const done = await store.readReplay(replay.id);
      expect(done).toMatchObject({
        state: 'done',
        replayed: total,
        succeeded: total - 1,
        failed: 1,
        waiting: 0,
      });
      expect(await listAllOf({ replayId: replay.id, state: 'failed' })).toEqual([ids[0]]);
      expect((await store.listReplays(100))[0]).toEqual(done);
      const { succeeded, failed } = await store.readReplayProgress(done!);
      const sumOf = (steps: number[]) => steps.reduce((sum, step) => sum + step, 0);
      expect([sumOf(succeeded), sumOf(failed)]).toEqual([total - 1, 1]);
      await store.rollUpStats();
      const [totals] = await store.readTotals(streamId);
      const now = await deliveriesOf(streamId);
      const inState = (state: string) => now.filter((each) => each.state === state).length;
      expect(totals).toMatchObject({
        webhooksDelivered: inState('succeeded'),
        webhooksFailed: inState('failed'),
      });
    });

    test('are not replayed once their replay is canceled', async () => {
      const { streamId, id } = await oneThat('failed');
      const filter = { streamId };
      const replay = (await store.createReplay({
        name: 'no',
        filter,
        perSecond: 1,
        total: 1,
        keyId: 'bootstrap',
      }))!;
      expect(await store.cancelReplay(replay.id)).toBe(true);
      expect(await store.cancelReplay(replay.id)).toBe(false);
      const step = { id: replay.id, after: '', ids: [id], isLast: true };
      expect(await store.advanceReplay(step)).toBe(false);
      expect((await store.readDelivery(id))?.state).toBe('failed');
      expect((await store.readReplay(replay.id))?.state).toBe('cancelled');
    });

    test('are replayed by a limited number of replays at once', async () => {
      const { streamId } = await oneThat('failed');
      const create = () =>
        store.createReplay({
          name: '',
          filter: { streamId },
          perSecond: 1,
          total: 1,
          keyId: 'bootstrap',
        });
      const free = MAX_RUNNING_REPLAYS - (await store.countRunningReplays());
      expect(free).toBeGreaterThan(0);
      const made = await Promise.all(Array.from({ length: free + 10 }, create));
      const replays = made.filter((each) => each !== undefined);
      expect(replays).toHaveLength(free);
      expect(await store.countRunningReplays()).toBe(MAX_RUNNING_REPLAYS);
      for (const { id } of replays) await store.cancelReplay(id);
      const another = await create();
      expect(await store.cancelReplay(another!.id)).toBe(true);
    });
  });

  test('a pending delivery can be stopped, and replayed later', async () => {
    const { streamId, id } = await oneThat('retry');
    expect(await store.stopDelivery(id)).toMatchObject({
      state: 'failed',
      error: 'stopped by hand; the last attempt failed: HTTP 500',
      nextAttemptAt: null,
    });
    expect(await store.stopDelivery(id)).toBeUndefined();
    await store.rollUpStats();
    expect(await store.readTotals(streamId)).toMatchObject([{ webhooksFailed: 1 }]);
    await store.replayDelivery(streamId, id);
    expect((await store.readDelivery(id))?.state).toBe('retrying');
  });

  describe('attempted deliveries', () => {
    test('include the URL, the body and the last error', async () => {
      const { streamId, id } = await oneThat('retry');
      const page = await store.listAttempted({
        results: ['undelivered', 'delivered'],
        streamId,
        limit: 10,
        withBody: true,
      });
      expect(page).toMatchObject({
        rows: [
          {
            id,
            streamId,
            attempts: 1,
            error: 'HTTP 500',
            webhookUrl: 'http://127.0.0.1:1/tried',
            body: '{"confirmed":false,"chainId":"0x1","retries":0,"logs":[]}',
          },
        ],
        next: undefined,
      });
    });

    test('exclude those that wait for their first attempt', async () => {
      const chain = await startChain();
      const { id: streamId } = await createStream([chain.chain]);
      await chain.commit([{ streamId }]);
      const results = ['undelivered', 'delivered'] as const;
      expect(await listAll({ results, streamId })).toEqual([]);
      expect(await store.countAttempted({ results, streamId })).toBe(0);
    });

    test('a full page is followed by another one until all are listed', async () => {
      const chain = await startChain();
      const { id: streamId } = await createStream([chain.chain]);
      for (let n = 0; n < 3; n++) await chain.commit([{ streamId }], 1000);
      for (const claimed of await claim()) {
        if (claimed.streamId === streamId) await complete(claimed, { result: 'failed', ...FAILED });
      }
      const filter = { results: ['undelivered'], streamId, withBody: false } as const;
      const first = await store.listAttempted({ ...filter, limit: 2 });
      const second = await store.listAttempted({ ...filter, limit: 2, after: first.next });
      expect([first, second].map(({ rows }) => rows.length)).toEqual([2, 1]);
      expect(first.next).toBe(first.rows[1]!.id);
      expect(second.next).toBeUndefined();
      expect((await store.listAttempted({ ...filter, limit: 3 })).next).toBeUndefined();
    });

    test('a page ends early when its bodies are too large in total', async () => {
      const chain = await startChain();
      const { id: streamId } = await createStream([chain.chain]);
      const bodyTail = `,"logs":[],"data":"${'a'.repeat(3 * 1024 * 1024)}"}`;
      for (let n = 0; n < 4; n++) await chain.commit([{ streamId, bodyTail }], 1000);
      for (const claimed of await claim()) {
        if (claimed.streamId === streamId) await complete(claimed, { result: 'failed', ...FAILED });
      }
      const filter = { results: ['undelivered'], streamId, limit: 10 } as const;
      const first = await store.listAttempted({ ...filter, withBody: true });
      expect(first.rows).toHaveLength(2);
      const second = await store.listAttempted({ ...filter, withBody: true, after: first.next });
      expect(second.next).toBeUndefined();
      const ids = [...first.rows, ...second.rows].map(({ id }) => id);
      expect(new Set(ids).size).toBe(4);
      expect((await store.listAttempted({ ...filter, withBody: false })).rows).toHaveLength(4);
    });

    test('are listed and counted by any filter like a plain scan', async () => {
      const chains = [await startChain(), await startChain()] as const;
      const streams = await Promise.all([0, 1, 2].map(() => createStream(['0x1'])));
      const hashes = Array.from({ length: 6 }, hashOf);
      const hashesOf = new Map<string, readonly string[]>();
      for (let n = 0; n < 24; n++) {
        const transactionHashes = [hashes[n % 6]!, hashes[(n * 5 + 1) % 6]!];
        const { id: streamId } = streams[n % 3]!;
        for (const made of await chains[n % 2]!.commit([
          { streamId, transactionHashes: [...new Set(transactionHashes)] },
        ])) {
          if (made.phase === 'unconfirmed') hashesOf.set(made.matchId, transactionHashes);
        }
      }
      const claimed = await claim();
      for (const [n, each] of claimed.entries()) {
        if (n % 4 === 0) await complete(each);
        if (n % 4 === 1) await complete(each, { result: 'failed', ...FAILED });
        if (n % 4 === 2) await complete(each, { result: 'retry', retryInMs: 9e6, ...FAILED });
      }
      await store.deleteStream(streams[2]!.id);
      const all = (await Promise.all(streams.map(({ id }) => deliveriesOf(id))))
        .flat()
        .toSorted((a, b) => (a.id < b.id ? 1 : -1));
      const ours = new Set(streams.map(({ id }) => id));
      const resultOf = ({ attempts, error }: DeliverySummary): AttemptResult | undefined =>
        error !== null ? 'undelivered' : attempts > 0 ? 'delivered' : undefined;
      const times = all.map(({ id }) => timeOfId(id));
      // Half of the fields are absent, because few deliveries pass all of them.
      const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined, freq: 2 });
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            results: fc.constantFrom<AttemptResult[][]>(
              ['delivered'],
              ['undelivered'],
              ['undelivered', 'delivered'],
            ),
            streamId: maybe(fc.constantFrom(...streams.map(({ id }) => id), hashOf())),
            transactionHash: maybe(fc.constantFrom(...hashes, hashOf())),
            chains: maybe(fc.subarray([chains[0].chain, chains[1].chain, '0x1'], { minLength: 1 })),
            blockNumbers: maybe(fc.subarray([101, 103, 104, 112, 999], { minLength: 1 })),
            from: maybe(fc.constantFrom(0, ...times)),
            to: maybe(fc.constantFrom(9e15, ...times)),
          }),
          fc.integer({ min: 1, max: 40 }),
          async (filter, limit) => {
            const expected = all
              .filter((row) => filter.results.includes(resultOf(row)!))
              .filter((row) => filter.streamId === undefined || row.streamId === filter.streamId)
              .filter((row) => filter.chains?.includes(row.chainId) ?? true)
              .filter((row) => filter.blockNumbers?.includes(row.blockNumber) ?? true)
              .filter((row) => timeOfId(row.id) >= (filter.from ?? 0))
              .filter((row) => timeOfId(row.id) <= (filter.to ?? Infinity))
              .filter(
                (row) =>
                  filter.transactionHash === undefined ||
                  hashesOf.get(row.matchId)?.includes(filter.transactionHash),
              )
              .map((row) => row.id);
            // The store also contains streams of other tests, so the results are filtered by stream
            // id.
            const streamIds = filter.streamId === undefined ? [...ours] : [filter.streamId];
            const listed = new Set<string>();
            let counted = 0;
            for (const streamId of streamIds) {
              for (const id of await listAll({ ...filter, streamId }, limit)) listed.add(id);
              counted += await store.countAttempted({ ...filter, streamId });
            }
            expect([...listed].toSorted()).toEqual(expected.toSorted());
            expect(counted).toBe(expected.length);
            if (filter.chains === undefined || filter.chains.includes('0x1')) return;
            // Only this test uses these chains, so all results and their order are known.
            expect(await listAll(filter, limit)).toEqual(expected);
          },
        ),
        { numRuns: 25 },
      );
      const filter = {
        results: ['delivered', 'undelivered'] as const,
        chains: chains.map(({ chain }) => chain),
      };
      for (const at of new Set(times)) {
        const expected = all.filter((row) => resultOf(row) && timeOfId(row.id) === at);
        expect(await listAll({ ...filter, from: at, to: at }, 40)).toEqual(
          expected.map(({ id }) => id),
        );
      }
    });
  });

  describe('a replay', () => {
    test.each(['succeeded', 'failed', 'retry'] as const)(
      'of a delivery that ended as %s is due at once, and counts as a retry',
      async (result) => {
        const { streamId, id } = await oneThat(result);
        const replayed = await store.replayDelivery(streamId, id);
        expect(replayed).toMatchObject({
          before: { state: result === 'retry' ? 'retrying' : result },
          after: { id, state: 'retrying', attempts: 1 },
        });
        const again = (await claim()).find((each) => each.id === id);
        expect(again).toMatchObject({ attempts: 1 });
        expect(await complete(again!)).toMatchObject([{ state: 'succeeded', attempts: 2 }]);
        expect((await store.readDelivery(id))?.attemptList).toHaveLength(2);
        // The delivery succeeded, so it is no longer listed as undelivered.
        expect(await listAll({ results: ['undelivered'], streamId })).toEqual([]);
        expect(await listAll({ results: ['delivered'], streamId })).toEqual([id]);
      },
    );

    test('of a delivery in flight changes nothing', async () => {
      const { streamId, id } = await oneThat('failed');
      await store.replayDelivery(streamId, id);
      const under = (await claim()).find((each) => each.id === id)!;
      expect(await store.replayDelivery(streamId, id)).toMatchObject({
        after: { state: 'leased' },
      });
      expect(await complete(under)).toMatchObject([{ state: 'succeeded' }]);
    });

    test('waits while its stream is paused', async () => {
      const { streamId, id } = await oneThat('failed');
      await store.setStreamStatus(streamId, 'paused', '');
      await store.replayDelivery(streamId, id);
      expect((await claim()).map((each) => each.id)).not.toContain(id);
      await store.setStreamStatus(streamId, 'active', '');
      expect((await claim()).map((each) => each.id)).toContain(id);
    });

    test('skips canceled deliveries, and those of other or deleted streams', async () => {
      const chain = await startChain();
      const { id: streamId } = await createStream([chain.chain]);
      const ancestor = chain.tip();
      const [delivery] = await chain.commit([{ streamId }]);
      await store.rewindChain({ ...chain.held, ancestor });
      expect(await store.replayDelivery(streamId, delivery!.id)).toMatchObject({
        after: { state: 'cancelled' },
      });
      const other = await oneThat('failed');
      expect(await store.replayDelivery(streamId, other.id)).toBeUndefined();
      await store.deleteStream(other.streamId);
      expect(await store.replayDelivery(other.streamId, other.id)).toBeUndefined();
      expect((await store.readDelivery(other.id))?.state).toBe('failed');
    });
  });

  describe('totals', () => {
    type Counted = Omit<StreamTotals, 'streamId' | 'streamCreatedAt' | 'isDeleted'>;
    const NOTHING: Counted = {
      webhooksDelivered: 0,
      webhooksFailed: 0,
      logs: 0,
      transactions: 0,
      internalTransactions: 0,
    };
    const plus = (a: Counted, b: Counted, sign = 1): Counted =>
      Object.fromEntries(
        Object.entries(a).map(([name, n]) => [name, n + sign * b[name as keyof Counted]]),
      ) as unknown as Counted;

    test('equal the rows of the ledger plus those that retention deleted', async () => {
      const step = fc.oneof(
        { weight: 4, arbitrary: fc.record({ do: fc.constant('commit' as const), of: fc.nat(1) }) },
        {
          weight: 6,
          arbitrary: fc.record({
            do: fc.constant('attempt' as const),
            result: fc.constantFrom<AttemptOutcome['result'][]>('succeeded', 'retry', 'failed'),
            nth: fc.nat(20),
          }),
        },
        {
          weight: 3,
          arbitrary: fc.record({ do: fc.constant('replay' as const), nth: fc.nat(20) }),
        },
        {
          weight: 2,
          arbitrary: fc.record({ do: fc.constant('stop' as const), nth: fc.nat(20) }),
        },
        { weight: 2, arbitrary: fc.record({ do: fc.constant('roll up' as const) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const) }) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
          const chain = await startChain();
          const streams = [await createStream([chain.chain]), await createStream([chain.chain])];
          const ids = streams.map(({ id }) => id);
          const sizes = new Map<string, Counted>();
          const expired = new Map(ids.map((id) => [id, NOTHING]));
          let deleted: string | undefined;

          const ledgerOf = async (streamId: string): Promise<Counted> => {
            let counted = NOTHING;
            for (const { state, phase, blockNumber } of await deliveriesOf(streamId)) {
              if (state !== 'succeeded' && state !== 'failed') continue;
              const one = {
                ...(phase === 'confirmed' ? sizes.get(`${streamId} ${blockNumber}`)! : NOTHING),
                webhooksDelivered: state === 'succeeded' ? 1 : 0,
                webhooksFailed: state === 'failed' ? 1 : 0,
              };
              counted = plus(counted, one);
            }
            return counted;
          };

          for (const step of steps) {
            const all = (await Promise.all(ids.map(deliveriesOf))).flat();
            switch (step.do) {
              case 'commit': {
                const streamId = ids[step.of]!;
                if (streamId === deleted) break;
                const size = {
                  logs: sizes.size + 1,
                  transactions: (sizes.size * 7) % 3,
                  internalTransactions: sizes.size % 2,
                };
                await chain.commit([{ streamId, ...size }]);
                sizes.set(`${streamId} ${chain.tip().number}`, { ...NOTHING, ...size });
                break;
              }
              case 'stop': {
                const one = all[step.nth % Math.max(1, all.length)];
                if (one !== undefined) await store.stopDelivery(one.id);
                break;
              }
              case 'attempt': {
                const claimed = (await claim()).filter((each) => ids.includes(each.streamId));
                const one = claimed[step.nth % Math.max(1, claimed.length)];
                const failure = step.result === 'succeeded' ? {} : FAILED;
                if (one !== undefined) await complete(one, { result: step.result, ...failure });
                await store.releaseLeases('all');
                break;
              }
              case 'replay': {
                const one = all[step.nth % Math.max(1, all.length)];
                if (one !== undefined) await store.replayDelivery(one.streamId, one.id);
                break;
              }
              case 'roll up':
                await store.rollUpStats();
                break;
              case 'expire': {
                const before = await Promise.all(ids.map(ledgerOf));
                await store.deleteExpired({
                  deliveredMs: -9e6,
                  undeliveredMs: 9e9,
                  forMs: 1e6,
                  after: '',
                });
                for (const [n, id] of ids.entries()) {
                  const gone = plus(before[n]!, await ledgerOf(id), -1);
                  expired.set(id, plus(expired.get(id)!, gone));
                }
                break;
              }
              case 'delete':
                deleted ??= (await store.deleteStream(ids[1]!))?.id;
            }
            for (const id of ids) {
              const [totals] = await store.readTotals(id);
              const { streamId, streamCreatedAt, isDeleted, ...counted } = totals!;
              expect(counted).toEqual(plus(await ledgerOf(id), expired.get(id)!));
              expect([streamId, isDeleted]).toEqual([id, id === deleted]);
              expect(streamCreatedAt).toBeGreaterThan(0);
            }
          }
          // The totals of all streams include the totals of each stream.
          const together = (await store.readTotals()).filter(({ streamId }) =>
            ids.includes(streamId),
          );
          expect(together).toHaveLength(2);
          for (const totals of together) {
            expect(await store.readTotals(totals.streamId)).toEqual([totals]);
          }
          for (const id of ids) await store.deleteStream(id);
        }),
        { numRuns: 15 },
      );
    });

    test('of an unknown stream are empty', async () => {
      expect(await store.readTotals('00000000-0000-4000-8000-000000000000')).toEqual([]);
    });
  });
}
