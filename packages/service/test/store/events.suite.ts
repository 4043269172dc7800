/** Tests the live events of the ledger. Run by `sqlite.test.ts` and `postgres.suite.ts`. */
import type { LiveEvent } from '@sluice/kit/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAddressChanges } from '../../src/store/addresses/addressChanges.ts';
import type { EventFeed } from '../../src/store/live/eventFeed.ts';
import { newMatch } from './newMatch.ts';
import { packAddresses } from '../../src/store/addresses/packedAddresses.ts';
import { takeChain } from './takeChain.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../../src/store/streams/contract.ts';
import type { Store } from '../../src/store/store.ts';
import { plain } from './plain.ts';

/** Collects the events of a feed after its newest batch, or after the batch at `from`. */
export async function followFeed(feed: EventFeed, from?: string) {
  let position = from ?? (await feed.newest()).position;
  const received: LiveEvent[] = [];
  const readOn = async (): Promise<void> => {
    const batches = await feed.readFrom(position);
    if (batches === undefined) throw new Error(`${position} is no longer stored`);
    for (const { events } of batches.slice(1)) {
      received.push(...events.map((event) => JSON.parse(event) as LiveEvent));
    }
    position = batches.at(-1)!.position;
  };
  return {
    received,
    position: () => position,
    readOn,
    /**
     * Waits until events of all these types have arrived, and returns all events since the last
     * call.
     */
    async take(...kinds: readonly string[]): Promise<LiveEvent[]> {
      await expect
        .poll(
          async () => {
            await readOn();
            return received.map(({ type }) => type);
          },
          { timeout: 5_000, interval: 20 },
        )
        .toEqual(expect.arrayContaining([...kinds]));
      return received.splice(0);
    },
  };
}

export const eventStream = (store: Store, chain: string) =>
  store.createStream(
    plain({
      family: 'evm',
      tag: 'watched',
      description: '',
      webhookUrl: 'http://127.0.0.1:1/',
      chainIds: [chain],
      options: { ...DEFAULT_OPTIONS, includeNativeTxs: true },
      ...DEFAULT_DELIVERY,
    }),
  );

export function testEvents(open: () => Promise<Store>): void {
  const chain = '0xe7e7';
  let store: Store;
  beforeAll(async () => {
    store = await open();
    // On SQLite, this starts the writing thread before the first test.
    await store.checkWritable();
  });
  afterAll(() => store.close());

  const header = (number: number, fork = '') => ({
    number,
    hash: `event block ${number}${fork}`,
    parentHash: `event block ${number - 1}`,
    timestamp: 1_700_000_000 + number,
  });

  describe('watchers', () => {
    test('receive an event for each change of a stream', async () => {
      const feed = await followFeed(store.events);
      const { id } = await eventStream(store, chain);
      const event = { type: 'stream', streamId: id };
      expect(await feed.take('stream')).toEqual([event]);
      const changes = createAddressChanges(store);
      const none = { addresses: packAddresses([]), labels: new Map<string, string>(), keyId: '' };
      for (const change of [
        () => store.updateStream(id, { tag: 'other' }),
        () => store.setStreamStatus(id, 'active', ''),
        () => store.backOffStream(id, { reason: 'throttled', agoMs: 0, forMs: 60_000 }),
        () => store.endBackOff([id]),
        () => store.recordCertificate(id, 5_000),
        () => store.failStream(id, 'why'),
        () => store.recoverStream(id),
        () => changes.add(id, { ...none, addresses: packAddresses([`0x${'ab'.repeat(20)}`]) }),
        () => changes.replace(id, none),
        () => store.deleteStream(id),
      ]) {
        await change();
        expect(await feed.take('stream')).toEqual([event]);
      }
      // Writes that change nothing produce no events.
      await store.recoverStream(id);
      await store.endBackOff([id]);
      await store.recordCertificate(id, 5_000);
      await store.setStreamStatus(id, 'paused', '');
      await store.receiveInInbox({
        inbox: 'watched',
        webhookId: 'w',
        headers: {},
        body: '{}',
        verified: true,
        delivery: null,
      });
      expect(await feed.take('inbox')).toMatchObject([
        { type: 'inbox', request: { inbox: 'watched', webhookId: 'w' } },
      ]);
    });

    test('receive blocks, deliveries, reorgs and jobs in order', async () => {
      const feed = await followFeed(store.events);
      const stream = await eventStream(store, chain);
      const epoch = await takeChain(store, chain);
      await store.startChain({ chain, epoch, block: header(0), genesisHash: 'genesis' });
      await feed.take('stream');
      const commit = async (number: number): Promise<void> => {
        const { revision: ruleRevision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
        const outcome = await store.commitBlock({
          chain,
          epoch,
          block: header(number),
          ruleRevision,
          confirmUpTo: 0,
          windowBlocks: 9,
          matches: [newMatch(stream.id)],
          head: 7,
        });
        expect(outcome.outcome).toBe('committed');
      };
      const about = (events: readonly LiveEvent[]): string[] =>
        events.map((event) =>
          event.type === 'delivery'
            ? `${event.delivery.blockNumber} ${event.delivery.state}`
            : event.type,
        );

      await commit(1);
      expect(await feed.take('delivery')).toMatchObject([
        {
          type: 'block',
          chainId: chain,
          block: { number: 1, hash: header(1).hash, timestamp: 1_700_000_001_000, matches: 1 },
          head: 7,
        },
        { type: 'delivery', delivery: { streamId: stream.id, state: 'pending', blockNumber: 1 } },
      ]);
      const limits = { limit: 1e4, maxBytes: 1e9, perStream: 1e4, taken: {}, leaseMs: 40_000 };
      const claimed = await store.claimDeliveries(limits);
      const [mine] = claimed.filter(({ streamId }) => streamId === stream.id);
      await store.completeDeliveries([
        {
          id: mine!.id,
          leaseToken: mine!.leaseToken,
          webhookUrl: mine!.webhookUrl,
          result: 'succeeded',
          status: 200,
          error: null,
          durationMs: 1,
          startedAt: 1,
          responseBody: '',
          transport: null,
          retryInMs: 0,
          isFastRetry: false,
        },
      ]);
      expect(about(await feed.take('delivery'))).toEqual(['1 succeeded']);

      await commit(2);
      expect(about(await feed.take('delivery'))).toEqual(['block', '2 pending']);
      await store.rewindChain({ chain, epoch, ancestor: header(1) });
      expect(about(await feed.take('delivery'))).toEqual(['reorg', '2 cancelled']);

      const job = await store.createJob({ streamId: stream.id, chain, blockFrom: 1, blockTo: 1 });
      expect(about(await feed.take('job'))).toEqual(['job']);
      const blocks = [{ block: header(1), matches: [newMatch(stream.id)] }];
      await store.commitJob({ id: job!.id, chain, epoch, from: 1, to: 1, blocks });
      expect(about(await feed.take('delivery'))).toEqual(['job', '1 pending']);

      // Another process took the chain's lease, so the write is rejected and produces no events.
      await store.takeLease({ name: chain, holder: 'other', forMs: 60_000, force: true });
      expect(await store.rewindChain({ chain, epoch, ancestor: header(0) })).toBeUndefined();
      await store.events.publish([{ type: 'chain', chain: CHAIN_HEALTH }]);
      expect(await feed.take('chain')).toEqual([{ type: 'chain', chain: CHAIN_HEALTH }]);
    });

    test('continue from any stored batch, and learn when a batch is unknown', async () => {
      const feed = await followFeed(store.events);
      const from = feed.position();
      await eventStream(store, chain);
      await feed.take('stream');
      await eventStream(store, chain);
      const [second] = await feed.take('stream');
      const again = await followFeed(store.events, from);
      expect((await again.take('stream')).at(-1)).toEqual(second);
      for (const nowhere of ['', 'nonsense', '1', '1-1', '99999999999-1', '-1', '9e99-1']) {
        expect(await store.events.readFrom(nowhere)).toBeUndefined();
      }
    });

    test('lose no new events when the oldest are deleted', async () => {
      const feed = await followFeed(store.events);
      await eventStream(store, chain);
      await store.events.trim();
      expect(await feed.take('stream')).toHaveLength(1);
      // In memory, at least 5,000 and at most 10,000 events are kept.
      for (let batch = 0; batch < 12; batch++) {
        const events = Array.from({ length: 1_000 }, (_, n) => ({
          type: 'reorg' as const,
          chainId: chain,
          blockNumber: 1_000 * batch + n,
        }));
        await store.events.publish(events);
        expect(await feed.take('reorg')).toEqual(events);
      }
    });
  });
}

export const CHAIN_HEALTH = {
  id: '0xe7e7',
  name: 'a chain',
  code: 'x',
  state: 'live' as const,
  message: '',
  head: 7,
  headAgeMs: 0,
  checkpoint: 7,
  confirmations: 2,
  confirmedUpTo: 5,
  proof: null,
  trust: null,
  providers: [],
  progress: null,
  safe: 3,
  finalized: null,
  agreement: { blockNumber: 7, state: 'alone' as const },
};
