/** What every engine of the store must do. Run by `sqlite.test.ts` and `postgres.test.ts`. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type AttemptOutcome,
  type BlockHeader,
  type NewMatch,
  type Store,
  type StreamDraft,
} from './store.ts';

const hashOf = (): string => `0x${randomBytes(32).toString('hex')}`;
let lastChain = 0x10_000;
const newChain = (): string => `0x${(++lastChain).toString(16)}`;

const draft = (chainIds: string[], changes: Partial<StreamDraft> = {}): StreamDraft => ({
  tag: 'tag',
  description: 'a stream',
  webhookUrl: 'http://127.0.0.1:1/hook',
  chainIds,
  options: { ...DEFAULT_OPTIONS, includeContractLogs: true },
  ...DEFAULT_DELIVERY,
  ...changes,
});

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;

export function testStore(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  /** A chain with a first checkpoint, and a way to extend it. */
  const startChain = async () => {
    const chain = newChain();
    let tip: BlockHeader = {
      number: 100,
      hash: hashOf(),
      parentHash: hashOf(),
      timestamp: 1_700_000_000,
    };
    await store.startChain(chain, tip, hashOf());
    return {
      chain,
      tip: () => tip,
      next: (parent = tip): BlockHeader => ({
        number: parent.number + 1,
        hash: hashOf(),
        parentHash: parent.hash,
        timestamp: parent.timestamp + 12,
      }),
      async commit(block: BlockHeader, matches: NewMatch[], confirmations = 2) {
        const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER);
        const result = await store.commitBlock({
          chain,
          block,
          ruleRevision: revision,
          confirmUpTo: block.number - confirmations,
          windowBlocks: 256,
          matches,
        });
        if (result.outcome === 'committed') tip = block;
        return result;
      },
      async rewind(to: BlockHeader) {
        const cancelled = await store.rewindChain(chain, to);
        tip = to;
        return cancelled;
      },
    };
  };

  const matchOf = (streamId: string, tag = 'tag'): NewMatch => ({
    streamId,
    tag,
    deliver: 'both',
    logs: 1,
    transactions: 0,
    internalTransactions: 0,
    transactionHashes: [hashOf()],
    bodyHead: ',"chainId":"0x1","retries":',
    bodyTail: ',"logs":[]}',
    enrichment: null,
  });

  const deliveriesOf = async (streamId: string) =>
    (await store.listDeliveries({ limit: 100, streamId })).rows;

  const claimOf = async (streamId: string, leaseMs = 40_000) => {
    const claimed = await store.claimDeliveries({
      limit: 1000,
      perStream: 1000,
      inFlight: {},
      leaseMs,
    });
    return claimed.filter((each) => each.streamId === streamId);
  };

  const outcomeOf = (
    claimed: { id: string; leaseToken: string },
    changes: Partial<AttemptOutcome> = {},
  ): AttemptOutcome => ({
    id: claimed.id,
    leaseToken: claimed.leaseToken,
    webhookUrl: 'http://127.0.0.1:1/hook',
    startedAt: Date.now(),
    durationMs: 5,
    status: 200,
    error: null,
    responseBody: 'ok',
    result: 'succeeded',
    retryInMs: 0,
    ...changes,
  });

  describe('streams', () => {
    test('are created, read, changed, paused and deleted', async () => {
      const created = await store.createStream(draft(['0x1', '0x89']));
      expect(created.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
      expect(created).toMatchObject({
        status: 'active',
        statusMessage: 'Stream is active',
        addressCount: 0,
      });
      expect(await store.readStream(created.id)).toEqual(created);

      const renamed = await store.updateStream(created.id, { description: 'renamed' });
      expect(renamed).toMatchObject({
        description: 'renamed',
        tag: 'tag',
        chainIds: ['0x1', '0x89'],
      });
      const paused = await store.setStreamStatus(
        created.id,
        'paused',
        'Stream was paused by the user',
      );
      expect(paused?.status).toBe('paused');

      expect((await store.deleteStream(created.id))?.id).toBe(created.id);
      expect(await store.readStream(created.id)).toBeUndefined();
      expect(await store.updateStream(created.id, { tag: 'x' })).toBeUndefined();
      expect(await store.deleteStream(created.id)).toBeUndefined();
      expect(await store.addAddresses(created.id, [address(1)])).toBeUndefined();
    });

    test('list newest first, each exactly once while new ones arrive', async () => {
      const mine: string[] = [];
      for (let n = 0; n < 7; n++) mine.push((await store.createStream(draft(['0x1']))).id);
      const seen: string[] = [];
      let after: { at: number; id: string } | undefined;
      let total: number | undefined;
      do {
        const page = await store.listStreams({ limit: 3, after });
        total ??= page.total;
        seen.push(...page.rows.map((row) => row.id));
        after = page.next;
        await store.createStream(draft(['0x1'], { tag: 'late' }));
      } while (after !== undefined);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBe(total);
      expect(seen.filter((id) => mine.includes(id)).toSorted()).toEqual(mine.toSorted());
    });
  });

  describe('addresses', () => {
    test('are added once, listed in order and removed all or nothing', async () => {
      const { chain, tip } = await startChain();
      const { id } = await store.createStream(draft([chain, '0xffffff']));
      expect(await store.addAddresses(id, [address(3), address(1), address(2)])).toEqual({
        [chain]: tip().number + 1,
      });
      await store.addAddresses(id, [address(2), address(4)]);
      expect((await store.readStream(id))?.addressCount).toBe(4);
      const first = await store.listAddresses(id, { limit: 3 });
      expect(first).toEqual({
        addresses: [address(1), address(2), address(3)],
        total: 4,
        next: address(3),
      });
      expect(await store.listAddresses(id, { limit: 3, after: first.next })).toEqual({
        addresses: [address(4)],
        total: 4,
        next: undefined,
      });
      expect(await store.removeAddresses(id, [address(1), address(9)])).toEqual({
        missing: address(9),
      });
      expect((await store.readStream(id))?.addressCount).toBe(4);
      expect(await store.removeAddresses(id, [address(1), address(3)])).toEqual({
        [chain]: tip().number + 1,
      });
      expect((await store.listAddresses(id, { limit: 9 })).addresses).toEqual([
        address(2),
        address(4),
      ]);
    });

    test('a hundred thousand go in with one call', async () => {
      const { id } = await store.createStream(draft(['0x1']));
      const many = Array.from({ length: 100_000 }, (_, n) => address(n + 1));
      await store.addAddresses(id, many);
      expect((await store.readStream(id))?.addressCount).toBe(100_000);
    });
  });

  describe('rules', () => {
    test('come whole at first, then only what changed since', async () => {
      const active = await store.createStream(draft(['0x1']));
      const paused = await store.createStream(draft(['0x1']));
      await store.addAddresses(active.id, [address(7)]);
      await store.setStreamStatus(paused.id, 'paused', '');
      const all = await store.readRules(-1);
      expect(all.changed.find((rule) => rule.stream.id === active.id)?.addresses).toEqual([
        address(7),
      ]);
      expect(all.gone).toContain(paused.id);
      expect(await store.readRules(all.revision)).toEqual({
        revision: all.revision,
        changed: [],
        gone: [],
      });
      await store.deleteStream(active.id);
      const later = await store.readRules(all.revision);
      expect(later.revision).toBeGreaterThan(all.revision);
      expect(later.gone).toEqual([active.id]);
    });

    test('a block matched with older rules is refused', async () => {
      const chain = await startChain();
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER);
      await store.createStream(draft([chain.chain]));
      const block = chain.next();
      expect(
        await store.commitBlock({
          chain: chain.chain,
          block,
          ruleRevision: revision,
          confirmUpTo: 99,
          windowBlocks: 256,
          matches: [],
        }),
      ).toEqual({ outcome: 'stale-rules' });
      expect((await store.readCheckpoint(chain.chain))?.number).toBe(100);
    });
  });

  describe('blocks', () => {
    test('commit checkpoint, match and delivery together, and only onto their parent', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const block = chain.next();
      const result = await chain.commit(block, [matchOf(id)]);
      expect(result).toMatchObject({
        outcome: 'committed',
        deliveries: [{ streamId: id, phase: 'unconfirmed', state: 'pending', blockNumber: 101 }],
      });
      expect(await store.readCheckpoint(chain.chain)).toMatchObject({
        number: 101,
        hash: block.hash,
      });
      expect((await store.readWindow(chain.chain, 1))[0]).toMatchObject({
        hash: block.hash,
        matches: 1,
      });

      const stranger = { ...chain.next(), parentHash: hashOf() };
      expect(await chain.commit(stranger, [matchOf(id)])).toEqual({ outcome: 'not-next' });
      expect(await chain.commit(block, [matchOf(id)])).toEqual({ outcome: 'not-next' });
      expect(await deliveriesOf(id)).toHaveLength(1);
    });

    test('confirm a match once its blocks have followed, with the same body', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      await chain.commit(chain.next(), []);
      expect(await deliveriesOf(id)).toHaveLength(1);
      const result = await chain.commit(chain.next(), []);
      expect(result).toMatchObject({
        deliveries: [{ streamId: id, phase: 'confirmed', blockNumber: 101 }],
      });
      const [one, two] = await deliveriesOf(id);
      expect(one?.matchId).toBe(two?.matchId);
      expect(one?.id).not.toBe(two?.id);
      const bodies = await Promise.all([one, two].map((each) => store.readDelivery(each!.id)));
      expect(bodies.map((each) => each!.body).toSorted()).toEqual([
        '{"confirmed":false,"chainId":"0x1","retries":0,"logs":[]}',
        '{"confirmed":true,"chainId":"0x1","retries":0,"logs":[]}',
      ]);
    });

    test('of a deleted stream are not confirmed', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const kept = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id), matchOf(kept.id)]);
      await store.deleteStream(id);
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await deliveriesOf(id)).map((each) => each.phase)).toEqual(['unconfirmed']);
      expect((await deliveriesOf(kept.id)).map((each) => each.phase).toSorted()).toEqual([
        'confirmed',
        'unconfirmed',
      ]);
    });

    test('with no confirmations asked for, both deliveries come at once', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const result = await chain.commit(chain.next(), [matchOf(id)], 0);
      expect(result.outcome === 'committed' && result.deliveries.map((each) => each.phase)).toEqual(
        ['unconfirmed', 'confirmed'],
      );
    });

    test('leave the chain in a reorg: unsent deliveries are cancelled, sent ones stay, none is confirmed', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const ancestor = chain.tip();
      await chain.commit(chain.next(), [matchOf(id)]);
      for (const claimed of await claimOf(id)) await store.completeDeliveries([outcomeOf(claimed)]);
      await chain.commit(chain.next(), [matchOf(id)]);
      const cancelled = await chain.rewind(ancestor);
      expect(cancelled).toMatchObject([{ blockNumber: 102, state: 'cancelled' }]);
      for (let n = 0; n < 5; n++) await chain.commit(chain.next(), []);
      expect(
        (await deliveriesOf(id))
          .map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)
          .toSorted(),
      ).toEqual(['101 unconfirmed succeeded', '102 unconfirmed cancelled']);
    });

    test('of a chain that is started over are neither confirmed nor sent for the first time', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      const [sent] = await claimOf(id);
      await store.completeDeliveries([outcomeOf(sent!)]);
      await chain.commit(chain.next(), [matchOf(id)]);
      const fresh: BlockHeader = { number: 50, hash: hashOf(), parentHash: hashOf(), timestamp: 1 };
      expect(await store.startChain(chain.chain, fresh, hashOf())).toMatchObject([
        { blockNumber: 102, state: 'cancelled' },
      ]);
      let block = fresh;
      for (let n = 0; n < 60; n++) {
        block = chain.next(block);
        await chain.commit(block, []);
      }
      expect((await store.readCheckpoint(chain.chain))?.number).toBe(110);
      expect(
        (await deliveriesOf(id)).map((each) => `${each.phase} ${each.state}`).toSorted(),
      ).toEqual(['unconfirmed cancelled', 'unconfirmed succeeded']);
    });

    test('come back (A, B, A): the cancelled delivery is due again, nothing is announced twice', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const ancestor = chain.tip();
      const a = chain.next();
      await chain.commit(a, [matchOf(id)]);
      const [first] = await deliveriesOf(id);
      await chain.rewind(ancestor);
      const b = chain.next();
      await chain.commit(b, [matchOf(id)]);
      await chain.rewind(ancestor);
      const back = await chain.commit(a, [matchOf(id)]);
      expect(back).toMatchObject({ deliveries: [{ id: first?.id, state: 'pending' }] });
      await chain.commit(chain.next(), []);
      await chain.commit(chain.next(), []);
      const all = await deliveriesOf(id);
      expect(all.map((each) => `${each.phase} ${each.state}`).toSorted()).toEqual([
        'confirmed pending',
        'unconfirmed cancelled',
        'unconfirmed pending',
      ]);
    });
  });

  describe('removal notices', () => {
    /** A sent and an unsent match above an ancestor, of a stream that asks for notices. */
    const twoMatches = async (changes: Partial<StreamDraft> = {}) => {
      const chain = await startChain();
      const stream = await store.createStream(
        draft([chain.chain], { notifyRemoved: true, ...changes }),
      );
      const ancestor = chain.tip();
      const sent = chain.next();
      await chain.commit(sent, [matchOf(stream.id)]);
      for (const claimed of await claimOf(stream.id))
        await store.completeDeliveries([outcomeOf(claimed)]);
      const unsent = chain.next();
      await chain.commit(unsent, [matchOf(stream.id)]);
      return { chain, id: stream.id, ancestor, sent, unsent };
    };

    const told = async (id: string): Promise<string[]> =>
      (await deliveriesOf(id))
        .map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)
        .toSorted();

    test('are made for what was sent, and say so in the body', async () => {
      const { chain, id, ancestor } = await twoMatches();
      const changed = await chain.rewind(ancestor);
      expect(changed.map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)).toEqual([
        '102 unconfirmed cancelled',
        '101 removed pending',
      ]);
      const notice = changed[1]!;
      const original = (await deliveriesOf(id)).find((each) => each.state === 'succeeded')!;
      expect(notice.matchId).toBe(original.matchId);
      expect(notice.id).not.toBe(original.id);
      expect((await store.readDelivery(notice.id))!.body).toBe(
        '{"confirmed":false,"removed":true,"chainId":"0x1","retries":0,"logs":[]}',
      );
    });

    test('are not made for streams that do not ask, or were deleted', async () => {
      const silent = await twoMatches({ notifyRemoved: false });
      expect((await silent.chain.rewind(silent.ancestor)).map((each) => each.phase)).toEqual([
        'unconfirmed',
      ]);
      const deleted = await twoMatches();
      await store.deleteStream(deleted.id);
      expect(await deleted.chain.rewind(deleted.ancestor)).toEqual([]);
    });

    test('are one for a match, though both of its deliveries were sent', async () => {
      const { chain, id, ancestor } = await twoMatches();
      await chain.commit(chain.next(), []);
      for (const claimed of await claimOf(id)) await store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      expect(await told(id)).toEqual([
        '101 confirmed succeeded',
        '101 removed pending',
        '101 unconfirmed succeeded',
        '102 removed pending',
        '102 unconfirmed succeeded',
      ]);
    });

    test('are followed, when the block comes back, by a new announcement with ids of its own', async () => {
      const { chain, id, ancestor, sent, unsent } = await twoMatches();
      await chain.rewind(ancestor);
      await chain.commit(sent, [matchOf(id)]);
      await chain.commit(unsent, [matchOf(id)]);
      expect(await told(id)).toEqual([
        '101 removed pending',
        '101 unconfirmed pending',
        '101 unconfirmed succeeded',
        '102 unconfirmed pending',
      ]);
      // And once more round: the newest announcement is the one that is taken back and made anew.
      for (const claimed of await claimOf(id)) await store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      await chain.commit(sent, [matchOf(id)]);
      const all = await deliveriesOf(id);
      expect(all.filter((each) => each.blockNumber === 101).map((each) => each.phase)).toEqual([
        'unconfirmed',
        'removed',
        'unconfirmed',
        'removed',
        'unconfirmed',
      ]);
      expect(
        new Set(all.filter((each) => each.blockNumber === 101).map((each) => each.matchId)).size,
      ).toBe(3);
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await told(id)).filter((each) => each === '101 confirmed pending')).toHaveLength(1);
    });
  });

  describe('streams that want confirmed deliveries alone', () => {
    test('get no unconfirmed one', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain], { deliver: 'confirmed' }));
      const match = { ...matchOf(id), deliver: 'confirmed' as const };
      expect(await chain.commit(chain.next(), [match])).toMatchObject({ deliveries: [] });
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await deliveriesOf(id)).map((each) => each.phase)).toEqual(['confirmed']);
    });
  });

  describe('deliveries', () => {
    const oneDue = async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      return { chain, id };
    };

    test('are leased to one claimer, and completed under that lease alone', async () => {
      const { id } = await oneDue();
      const [claimed] = await claimOf(id);
      expect(claimed).toMatchObject({
        phase: 'unconfirmed',
        attempts: 0,
        webhookUrl: 'http://127.0.0.1:1/hook',
      });
      expect(await claimOf(id)).toEqual([]);
      expect(
        await store.completeDeliveries([outcomeOf(claimed!, { leaseToken: 'stale' })]),
      ).toEqual([]);
      expect(await store.completeDeliveries([outcomeOf(claimed!)])).toMatchObject([
        { state: 'succeeded', attempts: 1, status: 200 },
      ]);
      expect(await store.completeDeliveries([outcomeOf(claimed!)])).toEqual([]);
      const detail = await store.readDelivery(claimed!.id);
      expect(detail?.attemptList).toMatchObject([{ number: 1, status: 200, responseBody: 'ok' }]);
    });

    test('that fail are due again after their wait, and each attempt is recorded', async () => {
      const { id } = await oneDue();
      const [first] = await claimOf(id);
      const failure = { status: 500, error: 'HTTP 500', result: 'retry', retryInMs: 0 } as const;
      expect(await store.completeDeliveries([outcomeOf(first!, failure)])).toMatchObject([
        { state: 'pending', attempts: 1, status: 500, error: 'HTTP 500' },
      ]);
      const [second] = await claimOf(id);
      expect(second).toMatchObject({ id: first!.id, attempts: 1 });
      await store.completeDeliveries([outcomeOf(second!, { ...failure, retryInMs: 3_600_000 })]);
      expect(await claimOf(id)).toEqual([]);
      const detail = await store.readDelivery(first!.id);
      expect(detail?.attemptList.map((attempt) => attempt.number)).toEqual([1, 2]);
      expect(detail?.nextAttemptAt).toBeGreaterThan(Date.now() + 3_500_000);
      expect(detail?.body).toContain('"retries":1');
    });

    test('whose lease ran out go back to the queue; its late owner changes nothing', async () => {
      const { id } = await oneDue();
      const [lost] = await claimOf(id, -1);
      await store.releaseLeases('expired');
      const [again] = await claimOf(id);
      expect(again?.id).toBe(lost?.id);
      expect(await store.completeDeliveries([outcomeOf(lost!)])).toEqual([]);
      expect(await store.completeDeliveries([outcomeOf(again!)])).toHaveLength(1);
    });

    test('of a paused stream wait for its return, those of a deleted one are cancelled', async () => {
      const { id } = await oneDue();
      await store.setStreamStatus(id, 'paused', '');
      expect(await claimOf(id)).toEqual([]);
      await store.setStreamStatus(id, 'active', '');
      const [claimed] = await claimOf(id);
      await store.completeDeliveries([
        outcomeOf(claimed!, { result: 'retry', retryInMs: 0, status: null, error: 'x' }),
      ]);
      await store.deleteStream(id);
      expect(await claimOf(id)).toEqual([]);
      expect((await deliveriesOf(id))[0]?.state).toBe('cancelled');
    });

    test('are claimed fairly: a long queue leaves room for a short one', async () => {
      const chain = await startChain();
      const busy = await store.createStream(draft([chain.chain]));
      const quiet = await store.createStream(draft([chain.chain]));
      for (let n = 0; n < 30; n++) await chain.commit(chain.next(), [matchOf(busy.id)], 1000);
      await chain.commit(chain.next(), [matchOf(quiet.id)], 1000);
      const claimed = await store.claimDeliveries({
        limit: 1000,
        perStream: 8,
        inFlight: { [busy.id]: 3 },
        leaseMs: 40_000,
      });
      expect(claimed.filter((each) => each.streamId === busy.id)).toHaveLength(5);
      expect(claimed.filter((each) => each.streamId === quiet.id)).toHaveLength(1);
    });

    test('are counted once each, and only when they were ours to complete', async () => {
      const { id, chain } = await oneDue();
      await chain.commit(chain.next(), [matchOf(id)]);
      const [one, two] = await claimOf(id);
      await store.completeDeliveries([outcomeOf(one!), outcomeOf(two!, { leaseToken: 'stale' })]);
      await store.completeDeliveries([
        outcomeOf(two!, { result: 'failed', status: 500, error: 'HTTP 500' }),
      ]);
      await store.rollUpStats();
      await store.rollUpStats();
      const stats = (await store.readStreamStats()).find((each) => each.streamId === id);
      expect(stats).toMatchObject({ delivered24h: 1, failedAttempts24h: 1, queue: 0 });
      expect(stats?.deliveredSeries.at(-1)).toBe(1);
    });

    test('page through newest first, filtered, each exactly once', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      for (let n = 0; n < 9; n++) await chain.commit(chain.next(), [matchOf(id)], 1000);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.listDeliveries({
          limit: 4,
          after,
          streamId: id,
          state: 'pending',
        });
        seen.push(...page.rows.map((row) => row.id));
        after = page.next;
        await chain.commit(chain.next(), [matchOf(id)], 1000);
      } while (after !== undefined);
      expect(seen.length).toBe(new Set(seen).size);
      expect(seen.length).toBeGreaterThanOrEqual(9);
      expect(
        (await store.listDeliveries({ limit: 4, streamId: id, state: 'failed' })).rows,
      ).toEqual([]);
    });
  });

  test('settings keep their last value', async () => {
    expect(await store.readSetting('colour')).toBeUndefined();
    await store.saveSetting('colour', 'green');
    await store.saveSetting('colour', 'blue');
    expect(await store.readSetting('colour')).toBe('blue');
  });
}
