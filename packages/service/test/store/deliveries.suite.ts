/** Tests how deliveries are claimed, completed, listed, canceled and quarantined. */
import { describe, expect, test } from 'vitest';
import type { AttemptTransport } from '../../src/store/deliveries/contract.ts';
import type { Store } from '../../src/store/store.ts';
import { newMatch } from './newMatch.ts';
import { type StoreTools, draft } from './storeTools.ts';

export function testDeliveries(tools: StoreTools): void {
  const { startChain, deliveriesOf, claimOf, outcomeOf } = tools;

  describe('deliveries', () => {
    const oneDue = async (changes: Parameters<typeof draft>[1] = {}) => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], changes));
      await chain.commit(chain.next(), [newMatch(id)]);
      return { chain, id };
    };

    test('are leased to one claimer, and completed only under that lease', async () => {
      const { id } = await oneDue();
      const [claimed] = await claimOf(id);
      expect(claimed).toMatchObject({
        phase: 'unconfirmed',
        attempts: 0,
        webhookUrl: 'http://127.0.0.1:1/hook',
      });
      expect(await claimOf(id)).toEqual([]);
      expect(
        await tools.store.completeDeliveries([outcomeOf(claimed!, { leaseToken: 'stale' })]),
      ).toEqual([]);
      expect(await tools.store.completeDeliveries([outcomeOf(claimed!)])).toMatchObject([
        { state: 'succeeded', attempts: 1, status: 200 },
      ]);
      expect(await tools.store.completeDeliveries([outcomeOf(claimed!)])).toEqual([]);
      const detail = await tools.store.readDelivery(claimed!.id);
      expect(detail?.attemptList).toMatchObject([{ number: 1, status: 200, responseBody: 'ok' }]);
    });

    test('have the origin of their match, or that of a replay', async () => {
      const { store } = tools;
      const { chain, id } = await oneDue();
      const [live] = await claimOf(id);
      await store.completeDeliveries([
        outcomeOf(live!, { status: 500, error: 'HTTP 500', result: 'retry', retryInMs: 60_000 }),
      ]);
      await store.replayDelivery(id, live!.id);
      const [hastened] = await claimOf(id);
      await store.completeDeliveries([outcomeOf(hastened!)]);
      await store.replayDelivery(id, live!.id);
      const [replayed] = await claimOf(id);
      expect([live, hastened, replayed].map((each) => each!.origin)).toEqual([
        'live',
        'live',
        'replay',
      ]);
      const job = await store.createJob({
        streamId: id,
        chain: chain.chain,
        blockFrom: 5,
        blockTo: 5,
      });
      const past = { ...chain.next(), number: 5 };
      await store.commitJob({
        ...chain.held,
        id: job!.id,
        from: 5,
        to: 5,
        blocks: [{ block: past, matches: [newMatch(id)] }],
      });
      expect(await claimOf(id)).toMatchObject([{ origin: 'backfill' }]);
      await store.commitManual({
        chain: chain.chain,
        block: past,
        requestId: 'again',
        isConfirmed: true,
        matches: [newMatch(id)],
      });
      expect(await claimOf(id)).toMatchObject([{ origin: 'replay' }]);
    });

    test('are due again some time after a failure, and record each attempt', async () => {
      const receiver = 'a.test';
      const { id } = await oneDue({ webhookUrl: `https://${receiver}/hook` });
      expect(await tools.store.readReceiverCertificate(receiver)).toEqual({
        certificate: null,
        seenAt: null,
      });
      const [first] = await claimOf(id);
      const failure = { status: 500, error: 'HTTP 500', result: 'retry', retryInMs: 0 } as const;
      expect(await tools.store.completeDeliveries([outcomeOf(first!, failure)])).toMatchObject([
        { state: 'retrying', attempts: 1, status: 500, error: 'HTTP 500' },
      ]);
      const [second] = await claimOf(id);
      expect(second).toMatchObject({ id: first!.id, attempts: 1 });
      const transport: AttemptTransport = {
        parts: { dnsMs: 2, connectMs: 1, tlsMs: 31, waitMs: null, bodyMs: null },
        address: '[::1]:443',
        certificate: {
          subject: 'CN=a.test',
          issuer: 'CN="an" authority',
          names: ['a.test', '*.b.test'],
          validFrom: 1_000,
          expiresAt: 2_000,
          expiresSoon: true,
        },
      };
      await tools.store.completeDeliveries([
        outcomeOf(second!, { ...failure, transport, retryInMs: 3_600_000 }),
      ]);
      expect(await claimOf(id)).toEqual([]);
      const detail = await tools.store.readDelivery(first!.id);
      expect(detail?.attemptList.map((attempt) => attempt.number)).toEqual([1, 2]);
      expect(detail?.attemptList).toMatchObject([
        {
          // Without a stored transport, the entire duration counts as waiting for the response.
          parts: { dnsMs: null, connectMs: null, tlsMs: null, waitMs: 5, bodyMs: 0 },
          address: null,
          certificate: null,
        },
        transport,
      ]);
      expect(await tools.store.readReceiverCertificate(receiver)).toEqual({
        certificate: transport.certificate,
        seenAt: detail?.attemptList[1]?.startedAt,
      });
      expect(await tools.store.readReceiverCertificate('b.test')).toBeUndefined();
      expect(detail?.nextAttemptAt).toBeGreaterThan(Date.now() + 3_500_000);
      expect(await tools.store.readDeliveryBody(first!.id)).toContain('"retries":1');
    });

    test('return to the queue when their lease expires, and the late owner changes nothing', async () => {
      const { id } = await oneDue();
      const [lost] = await claimOf(id, -1);
      await tools.store.releaseLeases('expired');
      expect(await tools.store.completeDeliveries([outcomeOf(lost!)])).toEqual([]);
      const [again] = await claimOf(id);
      expect(again?.id).toBe(lost?.id);
      expect(await tools.store.completeDeliveries([outcomeOf(lost!)])).toEqual([]);
      expect(await tools.store.completeDeliveries([outcomeOf(again!)])).toHaveLength(1);
    });

    test('wait while their stream is paused, and are canceled when it is deleted', async () => {
      const { id } = await oneDue();
      await tools.store.setStreamStatus(id, 'paused', '');
      expect(await claimOf(id)).toEqual([]);
      await tools.store.setStreamStatus(id, 'active', '');
      const [claimed] = await claimOf(id);
      await tools.store.completeDeliveries([
        outcomeOf(claimed!, { result: 'retry', retryInMs: 0, status: null, error: 'x' }),
      ]);
      await tools.store.deleteStream(id);
      expect(await claimOf(id)).toEqual([]);
      expect((await deliveriesOf(id))[0]?.state).toBe('cancelled');
    });

    test('are claimed fairly: a long queue leaves capacity for a short one', async () => {
      const chain = await startChain();
      const busy = await tools.store.createStream(draft([chain.chain]));
      const quiet = await tools.store.createStream(draft([chain.chain]));
      for (let n = 0; n < 30; n++) await chain.commit(chain.next(), [newMatch(busy.id)], 1000);
      await chain.commit(chain.next(), [newMatch(quiet.id)], 1000);
      const claimed = await tools.store.claimDeliveries({
        limit: 1000,
        maxBytes: 1e9,
        perStream: 8,
        taken: { [busy.id]: 3 },
        leaseMs: 40_000,
      });
      expect(claimed.filter((each) => each.streamId === busy.id)).toHaveLength(5);
      expect(claimed.filter((each) => each.streamId === quiet.id)).toHaveLength(1);
    });

    test('are counted once each, and only under a valid lease', async () => {
      const { id, chain } = await oneDue();
      await chain.commit(chain.next(), [newMatch(id)]);
      const [one, two] = await claimOf(id);
      await tools.store.completeDeliveries([
        outcomeOf(one!),
        outcomeOf(two!, { leaseToken: 'stale' }),
      ]);
      await tools.store.completeDeliveries([
        outcomeOf(two!, { result: 'failed', status: 500, error: 'HTTP 500' }),
      ]);
      await tools.store.rollUpStats();
      await tools.store.rollUpStats();
      const stats = (await tools.store.readStreamStats()).find((each) => each.streamId === id);
      expect(stats).toMatchObject({ delivered24h: 1, failedAttempts24h: 1, queue: 0 });
      expect(stats?.deliveredSeries.at(-1)).toBe(1);
    });

    test.each([0, 1])(
      'are counted as delivered once, and as redelivered after a replay, with %i failures before',
      async (failures) => {
        const { id } = await oneDue();
        const read = async () => {
          await tools.store.rollUpStats();
          const { points } = await tools.store.readActivity({
            streamId: id,
            stepMinutes: 60,
            points: 2,
          });
          const all = points.find(({ delivered }) => delivered > 0);
          const stats = (await tools.store.readStreamStats()).find((each) => each.streamId === id);
          return { all, stats };
        };
        const failed = { result: 'retry', status: 500, error: 'HTTP 500', retryInMs: 0 } as const;
        for (let n = 0; n < failures; n++) {
          await tools.store.completeDeliveries([outcomeOf((await claimOf(id))[0]!, failed)]);
        }
        const [first] = await claimOf(id);
        await tools.store.completeDeliveries([outcomeOf(first!)]);
        await tools.store.replayDelivery(id, first!.id);
        await tools.store.completeDeliveries([outcomeOf((await claimOf(id))[0]!)]);
        const { all, stats } = await read();
        const counted = { delivered: 1, redelivered: 1, failedAttempts: failures };
        expect(all).toMatchObject(counted);
        expect(stats).toMatchObject({
          delivered24h: 1,
          redelivered24h: 1,
          failedAttempts24h: failures,
        });
      },
    );

    test('are counted once each, even while counts are rolled up', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      for (let n = 0; n < 40; n++) await chain.commit(chain.next(), [newMatch(id)], 1000);
      const claimed = await claimOf(id);
      await Promise.all([
        ...claimed.map((each) => tools.store.completeDeliveries([outcomeOf(each)])),
        ...Array.from({ length: 10 }, () => tools.store.rollUpStats()),
      ]);
      const counted = async () => [
        (await tools.store.readTotals(id))[0]?.webhooksDelivered,
        (await tools.store.readStreamStats()).find((each) => each.streamId === id)?.delivered24h,
      ];
      expect((await counted())[0]).toBe(40);
      await tools.store.rollUpStats();
      expect(await counted()).toEqual([40, 40]);
    });

    test('of a split match have one part each, and are confirmed with the same parts', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const parts = [0, 1, 2].map((part) =>
        newMatch(id, { part, parts: 3, bodyTail: `,"logs":[${part}]}` }),
      );
      await chain.commit(chain.next(), parts);
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      const claimed = await claimOf(id);
      const bodiesOf = (phase: string) =>
        claimed
          .filter((each) => each.phase === phase)
          .map(({ part, parts: of, body }) => `${part}/${of} ${Buffer.from(body).toString()}`)
          .toSorted();
      const bodies = (confirmed: boolean) =>
        parts.map(
          ({ bodyHead, bodyTail }, n) => `${n}/3 {"confirmed":${confirmed}${bodyHead}0${bodyTail}`,
        );
      expect(bodiesOf('unconfirmed')).toEqual(bodies(false));
      expect(bodiesOf('confirmed')).toEqual(bodies(true));
      expect(new Set(claimed.map((each) => each.id)).size).toBe(6);
      // Each delivery is paired with the delivery of the same part in the other phase.
      for (const { id: one } of claimed) {
        const { pair, committedAt } = (await tools.store.readDelivery(one))!;
        const other = (await tools.store.readDelivery(pair!.id))!;
        expect(other.pair!.id).toBe(one);
        // Both have the commit of their match, before the confirmed one was created.
        expect(other.committedAt).toBe(committedAt);
        expect(Math.min(other.createdAt, pair!.createdAt)).toBeGreaterThanOrEqual(committedAt);
      }
    });

    test('are paged newest first with filters, each exactly once', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      for (let n = 0; n < 9; n++) await chain.commit(chain.next(), [newMatch(id)], 1000);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await tools.store.listDeliveries({
          limit: 4,
          after,
          streamId: id,
          state: 'pending',
        });
        seen.push(...page.rows.map((row) => row.id));
        after = page.next;
        await chain.commit(chain.next(), [newMatch(id)], 1000);
      } while (after !== undefined);
      expect(seen.length).toBe(new Set(seen).size);
      expect(seen.length).toBeGreaterThanOrEqual(9);
      const [oldest, older] = seen.toReversed();
      const first = await tools.store.listDeliveries({ limit: 1, streamId: id, order: 'oldest' });
      expect([first.rows.map((row) => row.id), first.next]).toEqual([[oldest], oldest]);
      const second = await tools.store.listDeliveries({
        limit: 1,
        after: first.next,
        streamId: id,
        order: 'oldest',
      });
      expect(second.rows.map((row) => row.id)).toEqual([older]);
      expect(
        (await tools.store.listDeliveries({ limit: 4, streamId: id, state: 'failed' })).rows,
      ).toEqual([]);
    });
  });

  describe('an obsolete retry is canceled', () => {
    const failing = { result: 'retry', status: 500, error: 'HTTP 500', retryInMs: 1 } as const;

    test('if its stream was deleted during the attempt', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)]);
      const [claimed] = await claimOf(id);
      await tools.store.deleteStream(id);
      const [changed] = await tools.store.completeDeliveries([outcomeOf(claimed!, failing)]);
      expect(changed).toMatchObject({ state: 'cancelled', attempts: 1 });
      expect((await deliveriesOf(id))[0]?.state).toBe('cancelled');
    });

    test('if it is a removal webhook whose block came back during the attempt', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const ancestor = chain.tip();
      const block = chain.next();
      await chain.commit(block, [newMatch(id)]);
      for (const claimed of await claimOf(id))
        await tools.store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      const [notice] = await claimOf(id);
      expect(notice?.phase).toBe('removed');
      const { pair } = (await tools.store.readDelivery(notice!.id))!;
      expect(pair).toMatchObject({ phase: 'unconfirmed', matchId: expect.any(String) as string });
      expect(await tools.store.readDelivery(pair!.id)).toMatchObject({ pair: { id: notice!.id } });
      await chain.commit(block, [newMatch(id)]);
      const [changed] = await tools.store.completeDeliveries([outcomeOf(notice!, failing)]);
      expect(changed).toMatchObject({ phase: 'removed', state: 'cancelled' });
    });
  });

  describe('a delivery that loses leases', () => {
    const loseLeases = async (): Promise<Awaited<ReturnType<Store['releaseLeases']>>> =>
      tools.store.releaseLeases('all');

    /** Claims the suspect of the stream, after claiming any suspects of other tests. */
    const claimSuspectOf = async (id: string) => {
      for (;;) {
        const suspect = await tools.store.claimSuspect({ leaseMs: 40_000, notStreams: [] });
        if (suspect === undefined || suspect.streamId === id) return suspect;
      }
    };

    /**
     * Releases all leases as lost. Returns the ids of the stream's newly quarantined deliveries.
     */
    const condemnedOf = async (streamId: string): Promise<string[]> => {
      const { quarantined } = await loseLeases();
      return quarantined.filter((each) => each.streamId === streamId).map(({ id }) => id);
    };

    const makeSuspect = async (): Promise<string> => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)]);
      for (let n = 0; n < 2; n++) {
        expect(await claimOf(id)).toHaveLength(1);
        await loseLeases();
      }
      return id;
    };

    test('is a suspect after two losses, and excluded from normal claims', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)]);
      await claimOf(id);
      expect(await loseLeases()).toMatchObject({ suspects: 0, quarantined: [] });
      expect(await claimOf(id)).toHaveLength(1);
      expect((await loseLeases()).suspects).toBeGreaterThanOrEqual(1);
      expect(await claimOf(id)).toEqual([]);
      expect(await claimSuspectOf(id)).toMatchObject({ streamId: id });
      expect(await claimSuspectOf(id)).toBeUndefined();
    });

    test('waits while its stream is excluded', async () => {
      const id = await makeSuspect();
      for (;;) {
        const suspect = await tools.store.claimSuspect({ leaseMs: 40_000, notStreams: [id] });
        if (suspect === undefined) break;
        expect(suspect.streamId).not.toBe(id);
      }
      expect(await claimSuspectOf(id)).toMatchObject({ streamId: id });
    });

    test('is not quarantined for leases lost while it is isolated', async () => {
      const id = await makeSuspect();
      for (let n = 0; n < 20; n++) {
        const suspect = await claimSuspectOf(id);
        await tools.store.recordIsolated(suspect!);
        expect(await condemnedOf(id)).toEqual([]);
        expect(await claimOf(id)).toEqual([]);
      }
    });

    test('is quarantined after the service crashes ten times in a row with it', async () => {
      const id = await makeSuspect();
      for (let lost = 3; lost <= 9; lost++) {
        expect(await claimSuspectOf(id)).toBeDefined();
        expect(await condemnedOf(id)).toEqual([]);
      }
      const suspect = await claimSuspectOf(id);
      expect(await condemnedOf(id)).toEqual([suspect!.id]);
      const [delivery] = await deliveriesOf(id);
      expect(delivery).toMatchObject({ state: 'quarantined', attempts: 0 });
      expect(delivery?.error).toMatch(/crashed 10 times in a row/);
      expect(await claimOf(id)).toEqual([]);
      expect(await claimSuspectOf(id)).toBeUndefined();

      await tools.store.replayDelivery(id, suspect!.id);
      expect(await claimOf(id)).toHaveLength(1);
    });

    test('is due again if its lease is released, but not if another lease is', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id), newMatch(id, { part: 1, parts: 2 })]);
      const [first, second] = await claimOf(id);
      const former = { id: second!.id, leaseToken: 'former' };
      expect(await tools.store.releaseLeases([first!, former])).toMatchObject({ released: 1 });
      const states = new Map((await deliveriesOf(id)).map((each) => [each.id, each.state]));
      expect([states.get(first!.id), states.get(second!.id)]).toEqual(['pending', 'leased']);
    });

    test('is quarantined with its attempt when its isolated process dies', async () => {
      const id = await makeSuspect();
      const suspect = await claimSuspectOf(id);
      const death = { result: 'quarantined', status: null, error: 'ended by SIGABRT' } as const;
      const [changed] = await tools.store.completeDeliveries([outcomeOf(suspect!, death)]);
      expect(changed).toMatchObject({ state: 'quarantined', attempts: 1, error: death.error });
      expect(await claimOf(id)).toEqual([]);
      expect(await claimSuspectOf(id)).toBeUndefined();
    });

    test('is no longer a suspect after a completed attempt', async () => {
      const id = await makeSuspect();
      const suspect = await claimSuspectOf(id);
      const failure = { result: 'retry', status: 500, error: 'HTTP 500', retryInMs: 0 } as const;
      await tools.store.completeDeliveries([outcomeOf(suspect!, failure)]);
      expect(await claimOf(id)).toHaveLength(1);
    });
  });

  test('claims are limited in bytes, but always include one delivery', async () => {
    const chain = await startChain();
    const { id } = await tools.store.createStream(draft([chain.chain]));
    const bodyTail = `,"logs":["${'x'.repeat(10_000)}"]}`;
    for (let n = 0; n < 5; n++)
      await chain.commit(chain.next(), [newMatch(id, { bodyTail })], 1000);
    const claimUpTo = async (maxBytes: number): Promise<number> => {
      const claimed = await tools.store.claimDeliveries({
        limit: 1000,
        maxBytes,
        perStream: 1000,
        taken: {},
        leaseMs: 40_000,
      });
      return claimed.filter((each) => each.streamId === id).length;
    };
    expect(await claimUpTo(25_000)).toBe(2);
    expect(await claimUpTo(10)).toBe(1);
    expect(await claimUpTo(1e9)).toBe(2);
  });

  test('claims are limited in bytes per stream, but a stream with nothing in flight gets one', async () => {
    const chain = await startChain();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      const { id } = await tools.store.createStream(draft([chain.chain]));
      ids.push(id);
      const bodyTail = `,"logs":["${'x'.repeat(10_000)}"]}`;
      const parts = [0, 1, 2, 3].map((part) => newMatch(id, { part, parts: 4, bodyTail }));
      await chain.commit(chain.next(), parts, 1000);
    }
    const [, partly, full] = ids as [string, string, string];
    const claimWith = async (perStream: number): Promise<number[]> => {
      const claimed = await tools.store.claimDeliveries({
        limit: 1000,
        maxBytes: 1e9,
        perStream: 1000,
        taken: {},
        leaseMs: 40_000,
        bytes: { perStream, taken: { [partly]: 5_000, [full]: 25_000 } },
      });
      return ids.map((id) => claimed.filter(({ streamId }) => streamId === id).length);
    };
    expect(await claimWith(25_000)).toEqual([2, 1, 0]);
    expect(await claimWith(10_000)).toEqual([1, 0, 0]);
  });
}
