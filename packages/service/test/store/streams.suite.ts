/** Tests streams, their limits and states, inboxes and settings. */
import type { DeliveryState, StreamLimits } from '@sluice/kit/contract';
import { DEFAULT_INBOX_RESPONSE } from '@sluice/kit/contract';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, DEFAULT_OPTIONS } from '../../src/store/streams/contract.ts';
import type { ClaimedDelivery } from '../../src/store/deliveries/contract.ts';
import { newMatch } from './newMatch.ts';
import { type StoreTools, draft } from './storeTools.ts';
import { plain } from './plain.ts';

export function testStreams(tools: StoreTools): void {
  const { add, startChain, deliveriesOf, claimOf, outcomeOf } = tools;

  describe('streams', () => {
    test('are created, read, changed, paused and deleted', async () => {
      const created = await tools.store.createStream(draft(['0x1', '0x89']));
      expect(created.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
      expect(created).toMatchObject({
        status: 'active',
        statusMessage: 'Stream is active',
        addressCount: 0,
      });
      expect(await tools.store.readStream(created.id)).toEqual(created);

      const renamed = await tools.store.updateStream(created.id, { description: 'renamed' });
      expect(renamed).toMatchObject({
        description: 'renamed',
        tag: 'tag',
        chainIds: ['0x1', '0x89'],
      });
      const paused = await tools.store.setStreamStatus(
        created.id,
        'paused',
        'Stream was paused by the user',
      );
      expect(paused?.status).toBe('paused');

      expect((await tools.store.deleteStream(created.id))?.id).toBe(created.id);
      expect(await tools.store.readStream(created.id)).toBeUndefined();
      expect(await tools.store.updateStream(created.id, { tag: 'x' })).toBeUndefined();
      expect(await tools.store.deleteStream(created.id)).toBeUndefined();
      expect(await add(created.id, [1])).toEqual({ outcome: 'unknown-stream' });
    });

    test('are listed newest first, each exactly once, even while new ones arrive', async () => {
      const mine: string[] = [];
      for (let n = 0; n < 7; n++) mine.push((await tools.store.createStream(draft(['0x1']))).id);
      const seen: string[] = [];
      let after: { at: number; id: string } | undefined;
      let total: number | undefined;
      do {
        const page = await tools.store.listStreams({ limit: 3, after });
        total ??= page.total;
        seen.push(...page.rows.map((row) => row.id));
        after = page.next;
        await tools.store.createStream(draft(['0x1'], { tag: 'late' }));
      } while (after !== undefined);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBe(total);
      expect(seen.filter((id) => mine.includes(id)).toSorted()).toEqual(mine.toSorted());
    });

    test('end a page early when they are too large in total', async () => {
      const abi = [{ type: 'event', name: 'x'.repeat(900_000), inputs: [] }];
      const options = { ...DEFAULT_OPTIONS, abi };
      const large: string[] = [];
      for (let n = 0; n < 5; n++) {
        large.unshift((await tools.store.createStream(draft(['0x1'], { options }))).id);
      }
      const first = await tools.store.listStreams({ limit: 5 });
      expect(first.rows.map(({ id }) => id)).toEqual(large.slice(0, 2));
      const second = await tools.store.listStreams({ limit: 5, after: first.next });
      expect(second.rows.map(({ id }) => id)).toEqual(large.slice(2, 4));
      for (const id of large) await tools.store.deleteStream(id);
    });
  });

  test('a deleted stream sends nothing more, and its queue is canceled in steps', async () => {
    const chain = await startChain();
    const { id } = await tools.store.createStream(draft([chain.chain]));
    const parts = Array.from({ length: 450 }, (_, part) => newMatch(id, { part, parts: 450 }));
    await chain.commit(chain.next(), parts);
    const count = async (state: DeliveryState): Promise<number> =>
      (await tools.store.countByField({ streamId: [id], state: [state] })).total;
    await tools.store.deleteStream(id);
    expect(await count('cancelled')).toBe(200);
    expect(await claimOf(id)).toEqual([]);

    // Each step cancels some deliveries, even with a time limit of 0.
    expect(await tools.store.cancelDeleted({ forMs: 0 })).toBe(true);
    expect(await count('cancelled')).toBe(400);
    while (await tools.store.cancelDeleted({ forMs: 0 }));
    expect([await count('cancelled'), await count('pending')]).toEqual([450, 0]);
  });

  describe('the limits of a stream', () => {
    /** Creates a stream with `count` due deliveries. Their `ids` are in block order. */
    const limited = async (limits: Partial<StreamLimits>, count = 5, blocks: object[] = []) => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(
        draft([chain.chain], { limits: { ...DEFAULT_LIMITS, ...limits } }),
      );
      const more = async (changes = {}): Promise<void> => {
        await chain.commit(chain.next(), [newMatch(id, changes)], 1000);
      };
      for (let n = 0; n < count; n++) await more(blocks[n]);
      const ids = (await deliveriesOf(id)).map((each) => each.id).toReversed();
      return { id, ids, more, held: chain.held };
    };
    const again = { result: 'retry', status: 500, error: 'HTTP 500' } as const;
    const idsOf = (claimed: { id: string }[]): string[] => claimed.map((each) => each.id);

    test('apply to deliveries in flight across processes', async () => {
      const { id } = await limited({ maxInFlight: 2 });
      const [first, second, ...more] = await claimOf(id);
      expect(more).toEqual([]);
      expect(await claimOf(id)).toEqual([]);
      await tools.store.completeDeliveries([outcomeOf(first!)]);
      expect(await claimOf(id)).toHaveLength(1);
      await tools.store.completeDeliveries([outcomeOf(second!)]);
      expect(await claimOf(id)).toHaveLength(1);
    });

    test('space deliveries evenly, and allow claims shortly ahead', async () => {
      const { id } = await limited({ maxPerSecond: 4 }, 8);
      const waits = async (): Promise<number[]> => (await claimOf(id)).map((each) => each.waitMs);
      expect(await waits()).toEqual([0, 250]);
      expect(await waits()).toEqual([]);
      await expect.poll(async () => (await waits()).length).toBeGreaterThan(0);
      const slow = await limited({ maxPerSecond: 0.1 });
      expect(await claimOf(slow.id)).toHaveLength(1);
      expect(await claimOf(slow.id)).toEqual([]);
    });

    test('keep a strict order: one at a time, and a failing delivery holds back the rest until it ends', async () => {
      const { id, ids } = await limited({ strictOrder: true }, 3);
      const [first, ...none] = await claimOf(id);
      expect(first?.id).toBe(ids[0]);
      expect(none).toEqual([]);
      expect(await claimOf(id)).toEqual([]);
      await tools.store.completeDeliveries([outcomeOf(first!, { ...again, retryInMs: 60_000 })]);
      expect(await claimOf(id)).toEqual([]);
      await tools.store.replayDelivery(id, ids[0]!);
      const [retried] = await claimOf(id);
      expect(retried?.id).toBe(ids[0]);
      await tools.store.completeDeliveries([
        outcomeOf(retried!, { result: 'failed', status: 500, error: 'HTTP 500' }),
      ]);
      const [second] = await claimOf(id);
      expect(second?.id).toBe(ids[1]);
      // A replayed delivery precedes newer ones, but waits for the one in flight.
      await tools.store.replayDelivery(id, ids[0]!);
      expect(await claimOf(id)).toEqual([]);
      await tools.store.completeDeliveries([outcomeOf(second!)]);
      expect(idsOf(await claimOf(id))).toEqual([ids[0]]);
    });

    test('keep the order while a body is completed, and while a suspect is retried', async () => {
      const { id, ids, held } = await limited({ strictOrder: true }, 2, [{ enrichment: '{}' }]);
      expect(await claimOf(id)).toEqual([]);
      const { matchId } = (await tools.store.readDelivery(ids[0]!))!;
      await tools.store.completeEnrichments({
        ...held,
        completed: [{ matchId, bodyTail: '}', about: '' }],
      });
      for (let n = 0; n < 2; n++) {
        expect(idsOf(await claimOf(id))).toEqual([ids[0]]);
        await tools.store.releaseLeases('all');
      }
      expect(await claimOf(id)).toEqual([]);
      let suspect: ClaimedDelivery | undefined;
      do suspect = await tools.store.claimSuspect({ leaseMs: 40_000, notStreams: [] });
      while (suspect !== undefined && suspect.streamId !== id);
      expect(suspect?.id).toBe(ids[0]);
      expect(await claimOf(id)).toEqual([]);
      await tools.store.completeDeliveries([outcomeOf(suspect!)]);
      expect(idsOf(await claimOf(id))).toEqual([ids[1]]);
    });

    test('change with their stream, even for queued deliveries', async () => {
      const { id, ids, more } = await limited({}, 3);
      const strict = { ...DEFAULT_LIMITS, strictOrder: true };
      expect((await tools.store.updateStream(id, { limits: strict }))?.limits).toEqual(strict);
      await more();
      const [first, ...none] = await claimOf(id);
      expect(first?.id).toBe(ids[0]);
      expect(none).toEqual([]);
      await tools.store.updateStream(id, { limits: DEFAULT_LIMITS });
      expect(await claimOf(id)).toHaveLength(3);
    });
  });

  describe('streams with confirmed deliveries only', () => {
    test('get no unconfirmed ones', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], { deliver: 'confirmed' }));
      const match = { ...newMatch(id), deliver: 'confirmed' as const };
      expect(await chain.commit(chain.next(), [match])).toMatchObject({ deliveries: [] });
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await deliveriesOf(id)).map((each) => each.phase)).toEqual(['confirmed']);
    });
  });

  describe('the state of a stream', () => {
    test('is error until it recovers, and terminated after too long', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      expect(await tools.store.recoverStream(id)).toBeUndefined();
      const failed = await tools.store.failStream(id, 'it is down');
      expect(failed).toMatchObject({ status: 'error', statusMessage: 'it is down' });
      expect(failed!.errorSince).toBeGreaterThan(Date.now() - 60_000);
      expect(await tools.store.failStream(id, 'it is still down')).toBeUndefined();
      // A stream in `error` is still matched.
      expect((await rulesOf(id))?.status).toBe('error');
      expect(await tools.store.recoverStream(id)).toMatchObject({
        status: 'active',
        errorSince: null,
      });

      await tools.store.failStream(id, 'it is down again');
      let signals = 0;
      const forget = tools.store.signals.on('rules', () => signals++);
      expect(await tools.store.terminateStreams(3_600_000)).toEqual([]);
      expect(signals).toBe(0);
      expect(await tools.store.terminateStreams(0)).toMatchObject([{ id, status: 'terminated' }]);
      expect(signals).toBe(1);
      forget();
      expect(await rulesOf(id)).toBeUndefined();
      expect(await tools.store.setStreamStatus(id, 'active', 'Stream is active')).toMatchObject({
        errorSince: null,
      });
      expect(await rulesOf(id)).toBeDefined();
      const changes = await tools.store.listStreamChanges(id);
      expect(changes.map(({ kind, by }) => [kind, by])).toEqual([
        ['terminated', null],
        ['failed', null],
        ['recovered', null],
        ['failed', null],
      ]);
      expect(changes[0]!.at).toBeGreaterThan(Date.now() - 60_000);
    });

    test('error collects deliveries, allows only probes, and releases all deliveries on recovery', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      for (let n = 0; n < 5; n++) await chain.commit(chain.next(), [newMatch(id)], 100);
      // A long queue alone does not put the stream in error.
      expect((await tools.store.readStream(id))?.status).toBe('active');
      await tools.store.failStream(id, 'HTTP 410');
      await chain.commit(chain.next(), [newMatch(id)], 100);
      const claimed = async () => (await claimOf(id)).map(({ isProbe }) => isProbe);
      expect(await claimed()).toEqual([]);
      const { rows } = await tools.store.listDeliveries({ limit: 10, streamId: id });
      expect(rows.map(({ state }) => state)).toEqual(Array(6).fill('pending'));
      await tools.store.recoverStream(id);
      expect(await claimed()).toEqual(Array(6).fill(false));
    });

    test('lists a backed-off receiver until it recovers or changes', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const read = async () =>
        (await tools.store.listBackOffs()).find(({ streamId }) => streamId === id);
      const spare = (reason: 'failures' | 'throttled', forMs: number) =>
        tools.store.backOffStream(id, { reason, agoMs: 5_000, forMs });
      expect(await read()).toBeUndefined();
      const until = await spare('failures', 60_000);
      const listed = await read();
      expect(listed).toMatchObject({ reason: 'failures', since: until! - 65_000, until });
      expect(listed!.leftMs).toBeGreaterThan(0);
      expect(listed!.leftMs).toBeLessThanOrEqual(60_000);

      // After its end, a back-off is listed for another 30 s, while the probe may be in flight.
      await spare('failures', -20_000);
      expect((await read())?.leftMs).toBeLessThan(0);
      await spare('failures', -30_001);
      expect(await read()).toBeUndefined();

      for (const end of [
        () => tools.store.endBackOff([id]),
        () => tools.store.updateStream(id, plain({ webhookUrl: 'https://example.com/other' })),
        () => tools.store.setStreamStatus(id, 'active', 'Stream is active'),
      ]) {
        await spare('throttled', 60_000);
        expect(await read()).toMatchObject({ reason: 'throttled' });
        await end();
        expect(await read()).toBeUndefined();
      }
      await spare('throttled', 60_000);
      await tools.store.updateStream(id, { description: 'the same receiver' });
      expect(await read()).toBeDefined();

      // When the stream enters `error`, its back-off is replaced by the wait for the next probe.
      const failed = await tools.store.failStream(id, 'it is down');
      expect(await read()).toMatchObject({ reason: 'failures', since: failed!.errorSince });
      expect((await read())!.leftMs).toBeGreaterThan(9 * 60_000);
      expect(await spare('failures', 60_000)).toBeUndefined();
      await tools.store.recoverStream(id);
      expect(await read()).toBeUndefined();
      await tools.store.setStreamStatus(id, 'paused', 'Stream was paused by the user');
      expect(await spare('failures', 60_000)).toBeUndefined();
    });

    test("includes the expiry of the receiver's certificate, until the receiver changes", async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const read = async () =>
        (await tools.store.listCertificates()).find(({ streamId }) => streamId === id)?.endsAt;
      expect(await read()).toBeUndefined();
      expect(await tools.store.recordCertificate(id, null)).toBe(false);
      expect(await tools.store.recordCertificate(id, 1_000)).toBe(true);
      expect(await tools.store.recordCertificate(id, 1_000)).toBe(false);
      await tools.store.setStreamStatus(id, 'active', 'Stream is active');
      expect(await read()).toBe(1_000);
      await tools.store.updateStream(id, plain({ webhookUrl: 'https://example.com/other' }));
      expect(await read()).toBeUndefined();
      await tools.store.recordCertificate(id, 1_000);
      expect(await tools.store.recordCertificate(id, null)).toBe(true);
      expect(await read()).toBeUndefined();
    });

    test('a manual replay probes a failing receiver at once, but not a throttling one', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)], 100);
      const [delivery] = await deliveriesOf(id);
      const leftMs = async () =>
        (await tools.store.listBackOffs()).find(({ streamId }) => streamId === id)?.leftMs;
      await tools.store.backOffStream(id, { reason: 'throttled', agoMs: 0, forMs: 60_000 });
      await tools.store.replayDelivery(id, delivery!.id);
      expect(await leftMs()).toBeGreaterThan(0);
      await tools.store.backOffStream(id, { reason: 'failures', agoMs: 0, forMs: 60_000 });
      await tools.store.replayDelivery(id, delivery!.id);
      expect(await leftMs()).toBeLessThanOrEqual(0);
      await tools.store.failStream(id, 'it is down');
      await tools.store.replayDelivery(id, delivery!.id);
      expect((await claimOf(id)).map(({ isProbe }) => isProbe)).toEqual([true]);
    });

    const rulesOf = async (id: string) =>
      (await tools.store.readRules(-1, 'evm')).changed.find((stream) => stream.id === id);
  });

  describe('inboxes', () => {
    const receive = (inbox: string, body = '{}') =>
      tools.store.receiveInInbox({
        inbox,
        webhookId: 'id',
        delivery: null,
        headers: { a: 'b' },
        body,
        verified: true,
      });

    test('respond as configured, here failing the first request and every third', async () => {
      await tools.store.setInbox('configured', {
        ...DEFAULT_INBOX_RESPONSE,
        failFirst: 1,
        failEvery: 3,
        failStatus: 418,
      });
      const statuses = [];
      for (let n = 0; n < 7; n++) statuses.push((await receive('configured'))!.request.status);
      expect(statuses).toEqual([418, 200, 418, 200, 200, 418, 200]);
    });

    test('store the details of a webhook and the response', async () => {
      const delivery = {
        streamId: crypto.randomUUID(),
        tag: 'a',
        chainId: '0x1',
        blockNumber: 7,
        about: 'Transfer 5 A',
        phase: 'removed',
      } as const;
      await tools.store.setInbox('said', {
        ...DEFAULT_INBOX_RESPONSE,
        body: 'thanks',
        delayMs: 20,
      });
      const received = await tools.store.receiveInInbox({
        inbox: 'said',
        webhookId: 'id',
        headers: {},
        body: '{}',
        verified: true,
        delivery,
      });
      const { request } = received!;
      expect(request.delivery).toEqual(delivery);
      expect(await tools.store.readInboxRequest('said', request.id)).toMatchObject({
        ...request,
        answer: { body: 'thanks', delayMs: 20 },
      });
      expect((await receive('said'))!.request.delivery).toBeNull();
    });

    test('keep the newest 500 requests, up to 16 MiB', async () => {
      for (let n = 0; n < 505; n++) await receive('many', String(n));
      const { rows } = await tools.store.listInboxRequests({ inbox: 'many', limit: 600 });
      expect(rows).toHaveLength(500);
      expect((await tools.store.readInboxRequest('many', rows[0]!.id))?.body).toBe('504');
      expect((await tools.store.readInboxRequest('many', rows.at(-1)!.id))?.body).toBe('5');

      const large = 'x'.repeat(7 * 1024 * 1024);
      for (let n = 0; n < 3; n++) await receive('large', large);
      expect(
        (await tools.store.listInboxRequests({ inbox: 'large', limit: 10 })).rows,
      ).toHaveLength(2);
      expect(await tools.store.listInboxes()).toContainEqual(
        expect.objectContaining({ name: 'large', received: 3, stored: 2 }),
      );
      await tools.store.deleteInbox('large');
      expect((await tools.store.listInboxRequests({ inbox: 'large', limit: 10 })).rows).toEqual([]);
    });

    test('are at most 100, whether set or created by a webhook', async () => {
      const set = (name: string) => tools.store.setInbox(name, DEFAULT_INBOX_RESPONSE);
      const existing = (await tools.store.listInboxes()).length;
      const names = Array.from({ length: 100 - existing }, (_, n) => `inbox-${n}`);
      for (const name of names) expect(await set(name)).toMatchObject({ name });
      expect(await set('another')).toBeUndefined();
      expect(await receive('another')).toBeUndefined();
      expect(await tools.store.listInboxes()).toHaveLength(100);
      const [first = ''] = names;
      expect(await set(first)).toMatchObject({ name: first });
      expect(await receive(first)).toBeDefined();
      await tools.store.deleteInbox(first);
      expect(await receive('another')).toBeDefined();
      for (const name of [...names, 'another']) await tools.store.deleteInbox(name);
    });
  });

  test('settings keep their last value', async () => {
    expect(await tools.store.readSetting('color')).toBeUndefined();
    await tools.store.saveSetting('color', 'green');
    await tools.store.saveSetting('color', 'blue');
    expect(await tools.store.readSetting('color')).toBe('blue');
  });

  test('settings are replaced only if they did not change', async () => {
    const { replaceSetting, readSetting } = tools.store;
    expect(await replaceSetting('shape', 'round', 'square')).toBe(false);
    const added = await Promise.all(['a', 'b'].map((it) => replaceSetting('shape', undefined, it)));
    expect(added.filter(Boolean)).toHaveLength(1);
    const before = await readSetting('shape');
    expect(await replaceSetting('shape', undefined, 'c')).toBe(false);
    expect(await replaceSetting('shape', 'c', 'd')).toBe(false);
    expect(await readSetting('shape')).toBe(before);
    const changed = await Promise.all(['e', 'f'].map((it) => replaceSetting('shape', before, it)));
    expect(changed.filter(Boolean)).toHaveLength(1);
    expect(['e', 'f']).toContain(await readSetting('shape'));
  });
}
