/** Tests counts per minute and per hour, and their breakdown. */
import { beforeAll, describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import type { Store } from '../../src/store/store.ts';
import { draft, useStore } from './storeTools.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';

/** @param open opens a new ledger, and a connection to it that bypasses the store */
export function testActivity(
  open: () => Promise<{ store: Store; execute(statement: string): Promise<void> }>,
): void {
  describe('counts over time', () => {
    let execute: (statement: string) => Promise<void>;
    const tools = useStore(async () => {
      const opened = await open();
      execute = opened.execute;
      return opened.store;
    });
    let streamId: string;
    beforeAll(async () => {
      streamId = (await tools.store.createStream(draft(['0x1']))).id;
    });
    const rollUp = async (): Promise<void> => {
      while (await tools.store.rollUpStats());
    };
    const delivered = async (stepMinutes: 1 | 5 | 60, points: number): Promise<number> => {
      const read = await tools.store.readActivity({ streamId, stepMinutes, points });
      return read.points.reduce((sum, point) => sum + point.delivered, 0);
    };

    test('keep minutes for two days, hours for 30 days, and totals without limit', async () => {
      const now = Math.floor((await tools.store.readLedgerTime()) / MINUTE_MS);
      const fill = (table: string, minute: number, n: number) =>
        execute(`insert into ${table} values ('${streamId}', ${minute}, '0x1', 'delivered', ${n})`);
      await execute(`insert into stat values ('${streamId}', 0, '0x1', 'webhooks_delivered', 7)`);
      await fill('stat_delta', now, 1);
      const threeDaysAgo = now - 3 * DAY_MINUTES;
      for (let minute = 0; minute < 61; minute++) {
        await fill('stat_delta', threeDaysAgo - minute, 10);
      }
      await fill('stat_delta', threeDaysAgo, 100);
      await fill('stat_delta', now - 29 * DAY_MINUTES, 1_000);
      await fill('stat_delta', now - 31 * DAY_MINUTES, 10_000);
      await rollUp();
      expect(await delivered(1, 1_500)).toBe(1);
      expect(await delivered(5, 576)).toBe(1);
      expect(await delivered(60, 720)).toBe(1_711);
      await fill('stat_delta', threeDaysAgo, 5);
      await rollUp();
      expect(await delivered(60, 720)).toBe(1_716);
      expect((await tools.store.readTotals(streamId))[0]?.webhooksDelivered).toBe(7);
    });

    test('cover exactly the last 24 hours, clock hours, and the last 60 minutes', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const now = Math.floor((await tools.store.readLedgerTime()) / MINUTE_MS);
      const fill = (ago: number, n: number) =>
        execute(
          `insert into stat_delta values ('${id}', ${now - ago}, '0x1', 'delivered', ${n}),
            ('${id}', ${now - ago}, '0x1', 'failed_attempts', ${n}),
            ('${id}', ${now - ago}, '0x1', 'answered_200', ${n})`,
        );
      // Ages near a limit are at least a minute away from it, because the clock may reach the next
      // minute during the test.
      await fill(DAY_MINUTES + 1, 100_000);
      await fill(DAY_MINUTES - 2, 10_000);
      await fill(12 * 60, 1_000);
      await fill(61, 100);
      await fill(57, 10);
      await fill(0, 1);
      await rollUp();
      const stats = (await tools.store.readStreamStats()).find((each) => each.streamId === id)!;
      expect(stats).toMatchObject({ delivered24h: 11_111, failedAttempts24h: 11_111 });
      expect(stats.hourlyDelivered).toHaveLength(24);
      expect(stats.hourlyDelivered).toEqual(stats.hourlyFailed);
      expect(stats.hourlyDelivered.at(-1)).toBe(11);
      expect(stats.hourlyDelivered).toContain(1_000);
      expect(stats.deliveredSeries.reduce((sum, n) => sum + n, 0)).toBe(111);
    });

    test('end with the step that contains the requested time', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const hour = Math.floor((await tools.store.readLedgerTime()) / MINUTE_MS / 60) * 60;
      for (const [minute, n] of [
        [hour - 61, 1],
        [hour - 60, 10],
        [hour - 1, 100],
        [hour, 1_000],
      ]) {
        await execute(
          `insert into stat_delta values ('${id}', ${minute}, '0x1', 'delivered', ${n}),
            ('${id}', ${minute}, '0x1', 'answered_200', ${n})`,
        );
      }
      await rollUp();
      for (const [minute, counts] of [
        [hour - 60, [1, 110]],
        [hour - 1, [1, 110]],
        [hour - 61, [0, 1]],
      ] as const) {
        const until = (minute + 1) * MINUTE_MS - 1;
        const asked = { streamId: id, stepMinutes: 60, points: 2, until } as const;
        const read = await tools.store.readActivity(asked);
        expect(read.points.map(({ delivered: n }) => n)).toEqual(counts);
        expect(read.points[1]!.at).toBe(Math.floor(minute / 60) * 60 * MINUTE_MS);
        expect(read.isPartial).toBe(false);
        const { statuses } = await tools.store.readBreakdown(asked);
        expect(statuses[0]!.attempts).toBe(counts[0] + counts[1]);
      }
      const future = { streamId: id, stepMinutes: 60, points: 2, until: 8.64e15 } as const;
      const last = await tools.store.readActivity(future);
      expect(last.points.at(-1)!.delivered).toBe(1_000);
      expect(last.isPartial).toBe(true);
    });

    test('are read by chain, of one stream or summed over all, and never counted twice', async () => {
      const first = (await tools.store.createStream(draft(['0x1']))).id;
      const second = (await tools.store.createStream(draft(['0x1']))).id;
      const hour = Math.floor((await tools.store.readLedgerTime()) / MINUTE_MS / 60) * 60;
      const fill = (id: string, minute: number, chain: string, metric: string, n: number) =>
        execute(
          `insert into stat_delta values ('${id}', ${minute}, '${chain}', '${metric}', ${n})`,
        );
      for (const [stream, n] of [
        [first, 1],
        [second, 10],
      ] as const) {
        await fill(stream, hour - 65, '0xa', 'delivered', n);
        await fill(stream, hour - 70, '0xa', 'delivered', n);
        await fill(stream, hour - 65, '0xa', 'failed_attempts', 2 * n);
        await fill(stream, hour - 65, '0xa', 'answered_200', n);
        await fill(stream, hour - 65, '0xa', 'latency_5', n);
        await fill(stream, hour - 65, '0xa', `matched_${TRANSFER}`, n);
        await fill(stream, hour - 65, '0xa', `matched_${APPROVAL}`, n);
        await fill(stream, hour, '0xb', 'matched_transaction', n);
      }
      await fill(first, 0, '0xa', 'webhooks_delivered', 100);
      await rollUp();
      const asked = { stepMinutes: 60, points: 3 } as const;
      const at = [hour - 120, hour - 60, hour].map((minute) => minute * MINUTE_MS);
      const stepsOf = async (streamId?: string) => {
        const { from, chains, ...rest } = await tools.store.readChainActivity({
          streamId,
          ...asked,
          until: hour * MINUTE_MS,
        });
        expect(rest).toEqual({ points: 3, isPartial: expect.any(Boolean) as boolean });
        expect(from).toBe(at[0]);
        return chains.filter(({ chainId }) => chainId === '0xa' || chainId === '0xb');
      };
      const expected = (n: number) => [
        {
          chainId: '0xa',
          matched: [2 * n, 0, 0],
          delivered: [2 * n, 0, 0],
          failedAttempts: [2 * n, 0, 0],
          slowestMs: [10, null, null],
        },
        {
          chainId: '0xb',
          matched: [0, 0, n],
          delivered: [0, 0, 0],
          failedAttempts: [0, 0, 0],
          slowestMs: [null, null, null],
        },
      ];
      expect(await stepsOf(first)).toEqual(expected(1));
      expect(await stepsOf()).toEqual(expected(11));
      const { chains } = await tools.store.readBreakdown(asked);
      expect(chains.find(({ chainId }) => chainId === '0xa')).toMatchObject({
        delivered: 22,
        matched: 22,
      });
    });

    test('a success without a status, as of a queue, is not a missing response', async () => {
      const chain = await tools.startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)], 1000);
      const [first] = await tools.claimOf(id);
      await tools.store.completeDeliveries([tools.outcomeOf(first!, { status: null })]);
      await rollUp();
      const asked = { streamId: id, stepMinutes: 5, points: 10 } as const;
      expect((await tools.store.readBreakdown(asked)).statuses).toEqual([]);
      const { points } = await tools.store.readActivity(asked);
      expect(points.at(-1)).toMatchObject({ delivered: 1, failures: { none: 0 } });
    });

    test('break down attempts and matches by response, chain and record type', async () => {
      const [one, two] = [await tools.startChain(), await tools.startChain()];
      const { id } = await tools.store.createStream(draft([one.chain, two.chain]));
      const both = { logs: 2, records: { [TRANSFER]: 1, [APPROVAL]: 1 } };
      await one.commit(one.next(), [newMatch(id)], 1000);
      await one.commit(one.next(), [newMatch(id, both)], 1000);
      await two.commit(two.next(), [newMatch(id, { records: { transaction: 1 } })], 1000);
      const claimed = await tools.claimOf(id);
      const ofTwo = (await tools.deliveriesOf(id)).find(({ chainId }) => chainId === two.chain);
      const [first, second] = claimed.filter((each) => each.id !== ofTwo?.id);
      const third = claimed.find((each) => each.id === ofTwo?.id);
      await tools.store.completeDeliveries([
        tools.outcomeOf(first!, { status: 202, durationMs: 12 }),
        tools.outcomeOf(second!, { result: 'retry', status: 503, error: 'HTTP 503', retryInMs: 0 }),
        tools.outcomeOf(third!, { result: 'failed', status: null, error: 'refused' }),
      ]);
      await tools.store.completeDeliveries([
        tools.outcomeOf((await tools.claimOf(id))[0]!, { status: 202, durationMs: 900 }),
      ]);
      await rollUp();
      const asked = { streamId: id, stepMinutes: 5, points: 10 } as const;
      const read = await tools.store.readBreakdown(asked);
      expect(read).toEqual({
        from: expect.any(Number) as number,
        statuses: [
          { status: 202, attempts: 2 },
          { status: 503, attempts: 1 },
          { status: null, attempts: 1 },
        ],
        chains: [
          {
            chainId: one.chain,
            delivered: 2,
            redelivered: 0,
            failedAttempts: 1,
            matched: 3,
            p95Ms: expect.any(Number) as number,
          },
          {
            chainId: two.chain,
            delivered: 0,
            redelivered: 0,
            failedAttempts: 1,
            matched: 1,
            p95Ms: null,
          },
        ],
        records: [
          { what: TRANSFER, matched: 2 },
          { what: APPROVAL, matched: 1 },
          { what: 'transaction', matched: 1 },
        ],
      });
      const { points, isPartial } = await tools.store.readActivity(asked);
      expect(read.from).toBe(points[0]!.at);
      expect(isPartial).toBe(true);
      const all = await tools.store.readBreakdown({ stepMinutes: 5, points: 10 });
      expect(all.chains.map(({ chainId }) => chainId)).toContain(one.chain);

      // A block that comes back after a reorg is not counted again.
      const [before, block] = [one.tip(), one.next()];
      const match = newMatch(id);
      await one.commit(block, [match], 1000);
      await one.rewind(before);
      await one.commit(block, [match], 1000);
      await rollUp();
      const { records } = await tools.store.readBreakdown(asked);
      expect(records[0]).toEqual({ what: TRANSFER, matched: 3 });
    });

    test('count attempts by duration and result, and each count equals the deliveries found', async () => {
      const chain = await tools.startChain();
      const receiver = 'times.example:8443';
      const webhookUrl = `https://${receiver}/hook`;
      const { id } = await tools.store.createStream(draft([chain.chain], { webhookUrl }));
      const twin = await tools.store.createStream(draft([chain.chain], { webhookUrl }));
      const other = await tools.store.createStream(draft([chain.chain]));
      const outcomes = [
        { status: 200, durationMs: 1 },
        { status: 202, durationMs: 12 },
        // A queue confirms without a status.
        { status: null, durationMs: 15 },
        { status: 200, durationMs: 40_000 },
        { status: 301, error: 'HTTP 301' },
        { status: 404, error: 'HTTP 404' },
        { status: 503, error: 'HTTP 503' },
        { status: null, error: 'no complete response within 30 s' },
        { status: 200, error: 'no complete response within 30 s' },
        { status: 500, error: 'no complete response within 30 s' },
        { status: null, error: 'connect ECONNREFUSED 127.0.0.1:1' },
      ];
      for (const outcome of outcomes) {
        await chain.commit(
          chain.next(),
          [newMatch(id), newMatch(twin.id), newMatch(other.id)],
          1000,
        );
        const result = 'error' in outcome ? 'failed' : 'succeeded';
        const claimed = await tools.store.claimDeliveries({
          limit: 1000,
          maxBytes: 1e9,
          perStream: 1000,
          taken: {},
          leaseMs: 40_000,
        });
        await tools.store.completeDeliveries(
          claimed.map((each) => tools.outcomeOf(each, { result, ...outcome })),
        );
      }
      await rollUp();
      const asked = { stepMinutes: 5, points: 3 } as const;
      const read = async (of: { lane: string } | { receiver: string }) => {
        const { rows, ...rest } = (await tools.store.readResponseTimes({ of, ...asked }))!;
        const sums = rows.map(({ attempts, ...row }) => ({
          ...row,
          attempts: attempts.reduce((sum, n) => sum + n, 0),
        }));
        return { ...rest, rows: sums };
      };
      const expected = (n: number) => [
        { result: 'succeeded', fromMs: 0, toMs: 1, attempts: n },
        { result: 'succeeded', fromMs: 11, toMs: 15, attempts: 2 * n },
        { result: 'succeeded', fromMs: 15_001, toMs: null, attempts: n },
        { result: '3xx', fromMs: 0, toMs: null, attempts: n },
        { result: '4xx', fromMs: 0, toMs: null, attempts: n },
        { result: '5xx', fromMs: 0, toMs: null, attempts: 2 * n },
        { result: 'timeout', fromMs: 0, toMs: null, attempts: 2 * n },
        { result: 'none', fromMs: 0, toMs: null, attempts: n },
      ];
      const ofStream = await read({ lane: id });
      expect(ofStream).toMatchObject({ points: 3, p50Ms: 13, p95Ms: 27_000 });
      expect(ofStream.rows).toEqual(expected(1));
      const ofReceiver = await read({ receiver });
      expect(ofReceiver.rows).toEqual(expected(2));
      for (const { result, fromMs, toMs, attempts } of ofReceiver.rows) {
        const found = await tools.store.listDeliveries({
          receiver,
          limit: 100,
          attemptResult: result,
          durationFrom: fromMs,
          durationTo: toMs ?? undefined,
        });
        expect(found.rows, `${result} from ${fromMs} ms`).toHaveLength(attempts);
      }
      const unknown = { receiver: 'other.example' };
      expect(await tools.store.readResponseTimes({ of: unknown, ...asked })).toBeUndefined();
      expect((await tools.store.listDeliveries({ ...unknown, limit: 10 })).rows).toEqual([]);
      for (let n = 0; n < 19; n++) {
        await tools.store.createStream(draft([chain.chain], { webhookUrl }));
      }
      const ofMany = await tools.store.readResponseTimes({
        of: { receiver },
        stepMinutes: 5,
        points: 13,
      });
      expect(ofMany).toMatchObject({ stepMinutes: 60, points: 2 });
      const both = { receiver, streamId: [id, other.id], limit: 100 };
      const listed = (await tools.store.listDeliveries(both)).rows;
      expect(new Set(listed.map(({ streamId: its }) => its))).toEqual(new Set([id]));
    });
  });
}
