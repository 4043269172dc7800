/** Tests the marks of matches in unverified blocks, and held deliveries. */
import type { DeliveryPhase } from '@sluice/kit/contract';
import { describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import type { BlockHeader, NewMatch, Unverified } from '../../src/store/blocks/contract.ts';
import { DEFAULT_LIMITS, type EvmStreamDraft } from '../../src/store/streams/contract.ts';
import { type StoreTools, draft } from './storeTools.ts';

const CODES = ['receipts-root', 'bloom'] as const;
const MARK = 'receipts-root, bloom';
const YEARS_MS = 100 * 365 * 86_400_000;
const NEEDS = { logs: true, transactions: false, traces: false, holds: true };

/** The marks of a block without a failed check, which is read again if a stream holds it. */
const marked = (witnesses: number): Unverified => ({
  codes: CODES,
  witnesses,
  isUncertain: false,
  reading: { needs: NEEDS, records: '', dueInMs: 0 },
});

export function testUnverified(tools: StoreTools): void {
  const { startChain, deliveriesOf, claimOf, outcomeOf } = tools;

  const startStream = async (changes: Partial<EvmStreamDraft> = {}) => {
    const chain = await startChain();
    const { id } = await tools.store.createStream(draft([chain.chain], changes));
    /** Commits a block that one witness returned, with a match of the stream. */
    const commitMarked = async (match: Partial<NewMatch> = {}, witnesses = 1) => {
      const block = chain.next();
      await chain.commit(block, [newMatch(id, match)], 2, [], witnesses, marked(witnesses));
      return block;
    };
    /** Commits a later reading of a block, which the nodes of this many operators returned. */
    const reread = (
      header: BlockHeader,
      witnesses: number,
      { step = 0, jobId = null }: { step?: number; jobId?: string | null } = {},
    ) =>
      tools.store.commitReading({
        block: {
          chain: chain.chain,
          header,
          jobId,
          streamId: null,
          codes: MARK,
          needs: NEEDS,
          records: '',
          step,
          ageMs: 0,
          isHeld: true,
        },
        epoch: chain.held.epoch,
        matches: [],
        removed: [],
        heights: undefined,
        unverified: marked(witnesses),
        next: witnesses > 1 ? undefined : { records: '', dueInMs: 0 },
      });
    /** Commits verified blocks without matches, which confirm the earlier ones. */
    const confirmAll = async (): Promise<void> => {
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
    };
    return { chain, id, commitMarked, reread, confirmAll };
  };
  const holding = (changes: Partial<EvmStreamDraft> = {}) =>
    startStream({ unverified: 'hold', ...changes });

  /** Returns the phase, state and block of each delivery, oldest first. */
  const listed = async (id: string): Promise<string[]> =>
    (await deliveriesOf(id))
      .toReversed()
      .map(({ phase, state, blockNumber }) => `${phase} ${state} ${blockNumber}`);
  /** Claims and completes the deliveries that are due, and returns their phases and marks. */
  const send = async (id: string): Promise<[DeliveryPhase, string | null][]> => {
    const sent: [DeliveryPhase, string | null][] = [];
    for (let claimed = await claimOf(id); claimed.length > 0; claimed = await claimOf(id)) {
      await tools.store.completeDeliveries(claimed.map((each) => outcomeOf(each)));
      for (const { phase, unverified } of claimed) sent.push([phase, unverified]);
    }
    return sent;
  };

  describe('webhooks of an unverified block', () => {
    test('have its codes in every phase and part, and in replays', async () => {
      const { chain, id, commitMarked } = await startStream({ notifyRemoved: true });
      await commitMarked();
      await chain.commit(
        chain.next(),
        [0, 1].map((part) => newMatch(id, { part, parts: 2 })),
        0,
        CODES,
        2,
      );
      const both = ['confirmed', 'unconfirmed'] as const;
      const expected = both.flatMap((phase) => [0, 1, 2].map(() => `${phase}: ${MARK}`));
      const sent = (await send(id)).map(([phase, mark]) => `${phase}: ${mark}`);
      expect(sent.toSorted()).toEqual(expected);
      const [last] = await deliveriesOf(id);
      await tools.store.replayDelivery(id, last!.id);
      expect(await send(id)).toEqual([['confirmed', MARK]]);
      await chain.rewind({ ...chain.tip(), number: 100 });
      expect(await send(id)).toEqual([
        ['removed', MARK],
        ['removed', MARK],
        ['removed', MARK],
      ]);
      expect(await tools.store.readDelivery(last!.id)).toMatchObject({
        unverified: CODES,
        witnesses: 2,
      });
    });

    test('have its codes if a backfill found the match or a block was sent on request', async () => {
      const { chain, id } = await startStream();
      const block = { ...chain.next(), number: 50 };
      const unverified = { codes: CODES, witnesses: 1, isUncertain: true };
      const job = await tools.store.createJob({
        streamId: id,
        chain: chain.chain,
        blockFrom: 50,
        blockTo: 50,
      });
      await tools.store.commitJob({
        ...chain.held,
        id: job!.id,
        from: 50,
        to: 50,
        blocks: [{ block, matches: [newMatch(id)], unverified }],
      });
      await tools.store.commitManual({
        chain: chain.chain,
        block,
        requestId: 'r',
        isConfirmed: true,
        unverified,
        matches: [newMatch(id)],
      });
      expect(await send(id)).toEqual([
        ['confirmed', MARK],
        ['confirmed', MARK],
      ]);
      const found = await tools.store.listMatchesOf(chain.chain, block.hash);
      expect(found.map(({ unverified: codes, witnesses }) => [codes, witnesses])).toEqual([
        [CODES, 1],
        [CODES, 1],
      ]);
    });

    test('have no codes if the block is verified', async () => {
      const { chain, id } = await startStream();
      const block = chain.next();
      await chain.commit(block, [newMatch(id)], 0);
      expect(await send(id)).toEqual([
        ['unconfirmed', null],
        ['confirmed', null],
      ]);
      expect(await tools.store.listMatchesOf(chain.chain, block.hash)).toMatchObject([
        { unverified: [], witnesses: null },
      ]);
    });
  });

  describe('a stream that holds unverified blocks', () => {
    test('gets blocks that two witnesses returned, and verified ones, at once', async () => {
      const { chain, id, commitMarked } = await holding();
      await commitMarked({}, 2);
      await chain.commit(chain.next(), [newMatch(id)]);
      expect(await send(id)).toEqual([
        ['unconfirmed', MARK],
        ['unconfirmed', null],
      ]);
    });

    test('gets both phases of another block once a second witness confirms it', async () => {
      const { chain, id, commitMarked, reread, confirmAll } = await holding();
      const block = await commitMarked();
      await confirmAll();
      expect(await listed(id)).toEqual(['unconfirmed held 101', 'confirmed held 101']);
      expect(await send(id)).toEqual([]);
      expect(await tools.store.countHeld()).toMatchObject({ [chain.chain]: 2 });
      expect(await tools.store.nextUncertain(chain.chain)).toMatchObject({
        header: block,
        isHeld: true,
      });
      await reread(block, 1);
      expect(await listed(id)).toEqual(['unconfirmed held 101', 'confirmed held 101']);
      await reread(block, 2, { step: 1 });
      expect(await listed(id)).toEqual(['unconfirmed pending 101', 'confirmed pending 101']);
      expect(await tools.store.nextUncertain(chain.chain)).toBeUndefined();
      expect(await send(id)).toEqual([
        ['unconfirmed', MARK],
        ['confirmed', MARK],
      ]);
      const [released] = await deliveriesOf(id);
      expect(await tools.store.readDelivery(released!.id)).toMatchObject({ witnesses: 2 });
    });

    test('has only blocks with held matches read again', async () => {
      const { chain, commitMarked } = await holding();
      await chain.commit(chain.next(), [], 2, [], 1, marked(1));
      await commitMarked({}, 2);
      expect(await tools.store.nextUncertain(chain.chain)).toBeUndefined();
    });

    test('gets a block that an operator releases, with the phases and parts that follow', async () => {
      const { id, chain, confirmAll } = await holding();
      const parts = [0, 1].map((part) => newMatch(id, { part, parts: 2 }));
      await chain.commit(chain.next(), parts, 2, CODES);
      const other = await tools.store.createStream(draft([chain.chain], { unverified: 'hold' }));
      await chain.commit(chain.next(), [newMatch(id), newMatch(other.id)], 2, CODES);
      const [first] = (await deliveriesOf(id)).toReversed();
      const released = await tools.store.releaseDelivery(first!.id);
      expect(released!.map(({ blockNumber }) => blockNumber)).toEqual([101, 101]);
      expect(await tools.store.releaseDelivery(first!.id)).toBeUndefined();
      await confirmAll();
      expect((await listed(id)).filter((each) => !each.includes('pending'))).toEqual([
        'unconfirmed held 102',
        'confirmed held 102',
      ]);
      expect(await listed(other.id)).toEqual(['unconfirmed held 102', 'confirmed held 102']);
      expect(await send(id)).toHaveLength(4);
    });

    test('gets its held deliveries once it no longer holds them', async () => {
      const { id, commitMarked } = await holding();
      await commitMarked();
      await tools.store.updateStream(id, { tag: 'other' });
      expect(await send(id)).toEqual([]);
      await tools.store.updateStream(id, { unverified: 'send' });
      expect(await send(id)).toEqual([['unconfirmed', MARK]]);
      await commitMarked();
      expect(await send(id)).toEqual([['unconfirmed', MARK]]);
    });

    test('in strict order, gets nothing before an earlier held delivery', async () => {
      const { id, chain, commitMarked, reread } = await holding({
        limits: { ...DEFAULT_LIMITS, strictOrder: true },
      });
      const first = await commitMarked();
      const second = await commitMarked();
      await chain.commit(chain.next(), [newMatch(id)]);
      await reread(second, 2);
      expect(await send(id)).toEqual([]);
      await reread(first, 2);
      const sent: number[] = [];
      for (let [next] = await claimOf(id); next !== undefined; [next] = await claimOf(id)) {
        sent.push((await tools.store.readDelivery(next.id))!.blockNumber);
        await tools.store.completeDeliveries([outcomeOf(next)]);
      }
      // The block 103 confirms the block 101, whose confirmed delivery is the newest.
      expect(sent).toEqual([101, 102, 103, 101]);
    });

    test('in strict order, gets no suspect before an earlier held delivery', async () => {
      const { id, chain, commitMarked, reread } = await holding({
        limits: { ...DEFAULT_LIMITS, strictOrder: true },
      });
      const block = await commitMarked();
      await chain.commit(chain.next(), [newMatch(id)]);
      const [later, earlier] = await deliveriesOf(id);
      await tools.store.stopDelivery(earlier!.id);
      for (let n = 0; n < 2; n++) {
        expect(await claimOf(id)).toMatchObject([{ id: later!.id }]);
        await tools.store.releaseLeases('all');
      }
      await tools.store.replayDelivery(id, earlier!.id);
      const claimSuspects = async (): Promise<string[]> => {
        const suspect = await tools.store.claimSuspect({ leaseMs: 40_000, notStreams: [] });
        return suspect === undefined ? [] : [suspect.id, ...(await claimSuspects())];
      };
      expect(await claimSuspects()).not.toContain(later!.id);
      await reread(block, 2);
      expect(await send(id)).toEqual([['unconfirmed', MARK]]);
      expect(await claimSuspects()).toContain(later!.id);
    });

    test('holds a delivery whose body was completed meanwhile, and a replayed one', async () => {
      const { id, chain, commitMarked, reread } = await holding();
      const block = await commitMarked({ enrichment: '{}' });
      const [delivery] = await deliveriesOf(id);
      expect(delivery?.state).toBe('enriching');
      await tools.store.completeEnrichments({
        ...chain.held,
        completed: [{ matchId: delivery!.matchId, bodyTail: '}', about: '' }],
      });
      expect(await deliveriesOf(id)).toMatchObject([{ state: 'held' }]);
      expect(await tools.store.stopDelivery(delivery!.id)).toMatchObject({ state: 'failed' });
      await tools.store.replayDelivery(id, delivery!.id);
      expect(await listed(id)).toEqual(['unconfirmed held 101']);
      expect(await tools.store.replayDelivery(id, delivery!.id)).toMatchObject({
        after: { state: 'held' },
      });
      await reread(block, 3);
      expect(await send(id)).toEqual([['unconfirmed', MARK]]);
    });

    test('holds what a backfill finds in a block, until a second witness confirms it', async () => {
      const { id, chain, reread } = await holding();
      const block = { ...chain.next(), number: 50 };
      const job = await tools.store.createJob({
        streamId: id,
        chain: chain.chain,
        blockFrom: 50,
        blockTo: 50,
      });
      await tools.store.commitJob({
        ...chain.held,
        id: job!.id,
        from: 50,
        to: 50,
        blocks: [{ block, matches: [newMatch(id)], unverified: marked(1) }],
      });
      expect(await listed(id)).toEqual(['confirmed held 50']);
      await reread(block, 2, { jobId: job!.id });
      expect(await send(id)).toEqual([['confirmed', MARK]]);
    });

    test('holds a delivery that a bulk replay sends again', async () => {
      const { id, commitMarked, reread } = await holding();
      const block = await commitMarked();
      const [delivery] = await deliveriesOf(id);
      await tools.store.stopDelivery(delivery!.id);
      const replay = (await tools.store.createReplay({
        name: '',
        filter: { streamId: id },
        perSecond: 1,
        total: 1,
        keyId: 'bootstrap',
      }))!;
      const step = { id: replay.id, after: '', ids: [delivery!.id], isLast: true };
      await tools.store.advanceReplay(step);
      expect(await deliveriesOf(id)).toMatchObject([{ state: 'held' }]);
      expect(await send(id)).toEqual([]);
      await reread(block, 2);
      expect(await send(id)).toEqual([['unconfirmed', MARK]]);
    });

    test('gets no removal webhook for a held delivery, and the new reading if the block returns', async () => {
      const { id, chain, commitMarked } = await holding({ notifyRemoved: true });
      const ancestor = chain.tip();
      const block = await commitMarked({ about: 'first reading' });
      await chain.rewind(ancestor);
      expect(await listed(id)).toEqual(['unconfirmed cancelled 101']);
      await chain.commit(block, [newMatch(id, { about: 'second reading' })], 2, CODES, 2);
      expect(await deliveriesOf(id)).toMatchObject([{ about: 'second reading', state: 'pending' }]);
      expect(await send(id)).toEqual([['unconfirmed', MARK]]);
      await chain.rewind(ancestor);
      expect(await send(id)).toEqual([['removed', MARK]]);
    });

    test('gets nothing while it is paused; deleting it cancels what is held', async () => {
      const { id, commitMarked, reread } = await holding();
      const block = await commitMarked();
      await tools.store.setStreamStatus(id, 'paused', '');
      await reread(block, 2);
      expect(await send(id)).toEqual([]);
      await tools.store.setStreamStatus(id, 'active', '');
      await commitMarked();
      await tools.store.deleteStream(id);
      expect((await listed(id)).map((each) => each.split(' ')[1])).toEqual([
        'cancelled',
        'cancelled',
      ]);
    });

    test('counts what is held as queued, and keeps it for the time of undelivered webhooks', async () => {
      const { id, commitMarked } = await holding();
      await commitMarked();
      const stats = await tools.store.readStreamStats();
      expect(stats.find(({ streamId }) => streamId === id)).toMatchObject({ queue: 1 });
      const atMs = Date.now() + 60_000;
      const { deliveries } = await tools.store.countExpiring({
        atMs,
        deliveredMs: 0,
        undeliveredMs: YEARS_MS,
      });
      const all = await tools.store.countExpiring({ atMs, deliveredMs: 0, undeliveredMs: 0 });
      expect(all.deliveries).toBeGreaterThan(deliveries);
    });

    test('breaks no integrity rule', async () => {
      const { commitMarked, confirmAll } = await holding();
      await commitMarked();
      await confirmAll();
      for (const invariant of ['matches', 'deliveries'] as const) {
        const scan = { keptMs: YEARS_MS, after: undefined, again: [] };
        const { violations } = await tools.store.findViolations(invariant, scan);
        expect(violations.filter(({ what }) => what.includes('held'))).toEqual([]);
      }
    });
  });
}
