import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeliverySummary } from '@sluice/kit/contract';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../observe.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type Store,
  type StreamRecord,
} from '../store/store.ts';
import { type Deliver, createDeliver } from './deliver.ts';
import { createAddressGuard } from './guard.ts';
import { createSender } from './send.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-deliver-'));
let store: Store;
let sink: WebhookSink;
let deliver: Deliver | undefined;

beforeAll(async () => {
  store = await openSqliteStore(folder);
  sink = await startWebhookSink();
});
afterEach(async () => {
  await deliver?.stop(5_000);
  deliver = undefined;
  for (const { id } of (await store.listStreams({ limit: 100 })).rows) await store.deleteStream(id);
  sink.clear();
  sink.respond(200);
});
afterAll(async () => {
  await store.close();
  await sink.close();
  rmSync(folder, { recursive: true });
});

/** A deliverer with this schedule, and a promise of the first change that fits. */
async function start(schedule: readonly number[], timeoutMs = 5_000) {
  const changes: DeliverySummary[] = [];
  const waiting: { fits(change: DeliverySummary): boolean; found(): void }[] = [];
  deliver = createDeliver({
    store,
    schedule,
    sender: createSender({
      guard: createAddressGuard({ allowPrivate: true }),
      secret: () => 'secret',
      region: 'us-east-1',
      timeoutMs,
    }),
    log: createLog(() => {}),
    onChange(deliveries) {
      changes.push(...deliveries);
      for (const each of waiting) if (deliveries.some((change) => each.fits(change))) each.found();
    },
  });
  await deliver.start();
  return {
    changes,
    until: (fits: (change: DeliverySummary) => boolean): Promise<void> =>
      new Promise((found) => {
        if (changes.some(fits)) found();
        else waiting.push({ fits, found });
      }),
  };
}

let nextChain = 0x500;

/** A stream to this path of the sink with `count` deliveries due. */
async function queue(path: string, count = 1): Promise<StreamRecord> {
  const chain = `0x${(nextChain++).toString(16)}`;
  const stream = await store.createStream({
    tag: path,
    description: '',
    webhookUrl: sink.url + path,
    chainIds: [chain],
    options: { ...DEFAULT_OPTIONS, includeNativeTxs: true },
    ...DEFAULT_DELIVERY,
  });
  const header = (number: number) => ({
    number,
    hash: `${chain}-${number}`,
    parentHash: `${chain}-${number - 1}`,
    timestamp: number,
  });
  await store.startChain(chain, header(0), 'genesis');
  const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER);
  for (let number = 1; number <= count; number++) {
    const result = await store.commitBlock({
      chain,
      block: header(number),
      ruleRevision: revision,
      confirmUpTo: 0,
      windowBlocks: 256,
      matches: [
        {
          streamId: stream.id,
          tag: path,
          deliver: 'both',
          logs: 1,
          transactions: 0,
          internalTransactions: 0,
          transactionHashes: [],
          enrichment: null,
          bodyHead: `,"tag":${JSON.stringify(path)},"retries":`,
          bodyTail: ',"logs":[]}',
        },
      ],
    });
    if (result.outcome !== 'committed') throw new Error(result.outcome);
    deliver?.notice(result.deliveries);
  }
  return stream;
}

describe('delivering', () => {
  test('retries on its schedule with the same id and a body that counts, then gives up', async () => {
    const { until } = await start([20, 20]);
    sink.respond(500, { path: '/failing' });
    const stream = await queue('/failing');
    await until((change) => change.streamId === stream.id && change.state === 'failed');
    const requests = sink.requests.filter((request) => request.path === '/failing');
    expect(new Set(requests.map((request) => request.id)).size).toBe(1);
    expect(
      requests.map((request) => (JSON.parse(request.body) as { retries: number }).retries),
    ).toEqual([0, 1, 2]);
    const detail = await store.readDelivery(requests[0]!.id);
    expect(detail).toMatchObject({
      state: 'failed',
      attempts: 3,
      status: 500,
      nextAttemptAt: null,
    });
    expect(detail?.attemptList.map((attempt) => attempt.error)).toEqual([
      'HTTP 500',
      'HTTP 500',
      'HTTP 500',
    ]);
  });

  test.each([429, 503])(
    'waits as long as a %i asks, though the schedule would be sooner',
    async (status) => {
      const { until, changes } = await start([20]);
      sink.respond({ status, headers: { 'retry-after': '120' } }, { path: `/busy${status}` });
      const stream = await queue(`/busy${status}`);
      await until((change) => change.streamId === stream.id && change.state === 'pending');
      const wait = changes.at(-1)!.nextAttemptAt! - Date.now();
      expect(wait).toBeGreaterThan(110_000);
      expect(wait).toBeLessThanOrEqual(120_000);
    },
  );

  test('does not let another status change the schedule', async () => {
    const { until } = await start([20]);
    sink.respond([{ status: 500, headers: { 'retry-after': '120' } }, 200], { path: '/plain500' });
    const stream = await queue('/plain500');
    await until((change) => change.streamId === stream.id && change.state === 'succeeded');
  });

  test('succeeds after a failure and stops there', async () => {
    const { until, changes } = await start([20, 20]);
    sink.respond([500, 200], { path: '/once' });
    const stream = await queue('/once');
    await until((change) => change.streamId === stream.id && change.state === 'succeeded');
    expect(
      changes.filter((change) => change.streamId === stream.id).map((change) => change.state),
    ).toEqual(['pending', 'succeeded']);
  });

  test('goes to the address a stream has now, not the one it had', async () => {
    const { until } = await start([200]);
    sink.respond(500, { path: '/old' });
    const stream = await queue('/old');
    await until((change) => change.streamId === stream.id && change.state === 'pending');
    await store.updateStream(stream.id, { webhookUrl: `${sink.url}/new` });
    await until((change) => change.streamId === stream.id && change.state === 'succeeded');
    expect(sink.requests.at(-1)?.path).toBe('/new');
  });

  test('is not held back by a receiver that never answers', async () => {
    const { until, changes } = await start([60_000], 3_000);
    sink.respond({ silence: 'hang' }, { path: '/hung' });
    const hung = await queue('/hung', 200);
    const quick = await queue('/quick', 20);
    const started = Date.now();
    await until(() => changes.filter((change) => change.streamId === quick.id).length === 20);
    expect(Date.now() - started).toBeLessThan(2_500);
    expect(changes.some((change) => change.streamId === hung.id)).toBe(false);
  });

  test('stops taking work at once and lets what is under way end, each sent once', async () => {
    const { changes } = await start([60_000]);
    sink.respond({ delayMs: 400 }, { path: '/slow' });
    const stream = await queue('/slow', 50);
    await sink.waitFor(10);
    await deliver!.stop(5_000);
    const finished = changes.filter((change) => change.streamId === stream.id);
    const sent = sink.requests.filter((request) => request.path === '/slow');
    expect(finished.every((change) => change.state === 'succeeded')).toBe(true);
    expect(finished.map((change) => change.id).toSorted()).toEqual(
      sent.map((request) => request.id).toSorted(),
    );
    const { rows } = await store.listDeliveries({
      limit: 100,
      streamId: stream.id,
      state: 'leased',
    });
    expect(rows).toEqual([]);
  });

  test('says how many wait behind, and charges confirmed deliveries alone', async () => {
    await queue('/queue', 3);
    await start([60_000]);
    const requests = await sink.waitFor(3);
    expect(requests[0]?.headers).toMatchObject({ 'x-queue-size': '3', 'x-records-charged': '0' });
  });
});
