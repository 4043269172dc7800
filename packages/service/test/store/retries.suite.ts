/** Tests that retries and first attempts of a stream do not delay each other. */
import { describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import { DEFAULT_LIMITS } from '../../src/store/streams/contract.ts';
import type { ClaimedDelivery } from '../../src/store/deliveries/contract.ts';
import type { StreamLimits } from '@sluice/kit/contract';
import { type StoreTools, draft } from './storeTools.ts';

export function testRetries(tools: StoreTools): void {
  const { startChain, claimOf, outcomeOf } = tools;

  /** Creates a stream with `retries` due retries, followed by `first` due first attempts. */
  const queue = async (retries: number, first: number, limits: StreamLimits = DEFAULT_LIMITS) => {
    const chain = await startChain();
    const { id } = await tools.store.createStream(draft([chain.chain], { limits }));
    const add = async (count: number): Promise<void> => {
      const parts = Array.from({ length: count }, (_, part) =>
        newMatch(id, { part, parts: count, transactionHashes: [] }),
      );
      if (count > 0) await chain.commit(chain.next(), parts, 1000);
    };
    await add(retries);
    for (let left = retries; left > 0;) {
      const claimed = await claim({ retries: { limit: 0, maxBytes: 0, taken: {} } });
      await fail(claimed);
      left -= kindsOf(id, claimed).first;
    }
    await add(first);
    return id;
  };
  const fail = (claimed: readonly ClaimedDelivery[]) =>
    tools.store.completeDeliveries(
      claimed.map((each) =>
        outcomeOf(each, { result: 'retry', status: 500, error: 'HTTP 500', retryInMs: 0 }),
      ),
    );
  const claim = (changes: Partial<Parameters<typeof tools.store.claimDeliveries>[0]> = {}) =>
    tools.store.claimDeliveries({
      limit: 1000,
      maxBytes: 1e9,
      perStream: 16,
      taken: {},
      leaseMs: 40_000,
      ...changes,
    });
  /** Counts the first attempts and the retries of the stream among these deliveries. */
  const kindsOf = (id: string, claimed: readonly ClaimedDelivery[]) => {
    const own = claimed.filter(({ streamId }) => streamId === id);
    const first = own.filter(({ attempts }) => attempts === 0).length;
    return { first, retries: own.length - first };
  };

  describe('retries', () => {
    test('get a quarter of a claim when both kinds are due', async () => {
      const id = await queue(40, 40);
      expect(kindsOf(id, await claim())).toEqual({ first: 12, retries: 4 });
    });

    test('use at most three quarters of what the stream may have in flight', async () => {
      const id = await queue(40, 0);
      const limited = await queue(40, 0, { ...DEFAULT_LIMITS, maxInFlight: 4 });
      const claimed = await claim();
      expect(kindsOf(id, claimed)).toEqual({ first: 0, retries: 12 });
      expect(kindsOf(limited, claimed)).toEqual({ first: 0, retries: 3 });
      const taken = { [id]: 12, [limited]: 3 };
      const none = { first: 0, retries: 0 };
      const again = await claim({ taken, retries: { limit: 1000, maxBytes: 1e9, taken } });
      expect([id, limited].map((each) => kindsOf(each, again))).toEqual([none, none]);
    });

    test('of other processes count against the capacity of a stream', async () => {
      const id = await queue(40, 0, { ...DEFAULT_LIMITS, maxInFlight: 4 });
      expect(kindsOf(id, await claim())).toEqual({ first: 0, retries: 3 });
      // The next claim of another process, which has none of these retries in flight.
      expect(kindsOf(id, await claim())).toEqual({ first: 0, retries: 0 });
    });

    test('of all streams share the limits of their number and size', async () => {
      for (let n = 0; n < 4; n++) await queue(40, 0);
      const retriesOf = async (limits: { limit: number; maxBytes: number }) =>
        (await claim({ retries: { ...limits, taken: {} } })).filter(({ attempts }) => attempts > 0);
      const limited = await retriesOf({ limit: 17, maxBytes: 1e9 });
      expect(limited).toHaveLength(17);
      const maxBytes = limited.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
      const sizes = (await retriesOf({ limit: 1000, maxBytes })).map(({ bodyBytes }) => bodyBytes);
      const bytes = sizes.reduce((sum, each) => sum + each, 0);
      expect(bytes).toBeLessThanOrEqual(maxBytes);
      expect(bytes).toBeGreaterThan(maxBytes / 2);
    });

    test.each([
      ['number', { limit: 0, maxBytes: 1e9 }],
      ['size', { limit: 1000, maxBytes: 0 }],
    ])('leave first attempts alone at the limit of their %s', async (_, limits) => {
      const id = await queue(40, 40);
      const claimed = await claim({ retries: { ...limits, taken: {} } });
      expect(kindsOf(id, claimed)).toEqual({ first: 16, retries: 0 });
    });

    test('are claimed beside first attempts by a stream with one delivery in flight', async () => {
      const id = await queue(50, 50, { ...DEFAULT_LIMITS, maxInFlight: 1 });
      const seen = { first: 0, retries: 0 };
      // Makes at most 50 claims, so that the test fails if all deliveries of one kind come first.
      for (let n = 0; n < 50 && (seen.first < 3 || seen.retries < 3); n++) {
        const claimed = await claim();
        const { first, retries } = kindsOf(id, claimed);
        expect(first + retries).toBe(1);
        seen.first += first;
        seen.retries += retries;
        await tools.store.completeDeliveries(claimed.map((each) => outcomeOf(each)));
      }
      expect(Math.min(seen.first, seen.retries)).toBeGreaterThanOrEqual(3);
    });

    test('keep their turn in a strict order', async () => {
      const id = await queue(0, 2, { ...DEFAULT_LIMITS, strictOrder: true });
      const [one] = await claimOf(id);
      await fail([one!]);
      expect(await claimOf(id)).toMatchObject([{ id: one!.id, attempts: 1 }]);
    });
  });
}
