import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type DeliverySummary, type StreamLimits, signWebhook } from '@sluice/kit/contract';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import { newMatch } from '../../test/store/newMatch.ts';
import { openSqliteStore } from '../store/engine/sqlite/sqlite.ts';
import { takeChain } from '../../test/store/takeChain.ts';
import type { NewMatch, Unverified } from '../store/blocks/contract.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_LIMITS,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
} from '../store/streams/contract.ts';
import type { Store } from '../store/store.ts';
import { type Deliverer, createDeliverer } from './deliver.ts';
import {
  type AddressGuard,
  ALL_NETWORKS,
  INSECURE_URL,
  createAddressGuard,
} from './destinations/http/guard.ts';
import { createHostPace } from './hostPace.ts';
import { createIsolation } from './send/isolation.ts';
import { createHttpSender } from './send/httpSender.test-only.ts';
import { plain } from '../../test/store/plain.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-deliver-'));
let store: Store;
let sink: WebhookSink;
let deliver: Deliverer | undefined;

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

/** Starts a deliverer. The returned `until` resolves when a matching change is reported. */
async function start(
  schedule: readonly number[],
  timeoutMs = 5_000,
  fastRetryMs?: number,
  {
    ledger = store,
    maxPerHost,
    guard = createAddressGuard({ allowCidrs: ALL_NETWORKS }),
  }: { ledger?: Store; maxPerHost?: number; guard?: AddressGuard } = {},
) {
  const changes: DeliverySummary[] = [];
  const localFailures: string[] = [];
  const waiting: { fits(change: DeliverySummary): boolean; found(): void }[] = [];
  const signing = { secret: () => 'secret', region: () => 'us-east-1', timeoutMs };
  deliver = createDeliverer({
    store: ledger,
    schedule,
    fastRetryMs,
    hostPace: createHostPace(maxPerHost, (url) => new URL(url).host),
    sender: createHttpSender({ guard, ...signing }),
    isolation: createIsolation({ allowCidrs: ALL_NETWORKS, ...signing }),
    log: createLog(() => {}),
    onAttempts(deliveries) {
      changes.push(...deliveries);
      for (const each of waiting) if (deliveries.some((change) => each.fits(change))) each.found();
    },
    onLostLeases: () => {},
    onLostOutcomes: () => {},
    onLocalFailure: (cause) => localFailures.push(cause),
    openEndpoint: (delivery) => delivery,
    openSecrets: () => [],
  });
  await deliver.start();
  return {
    changes,
    localFailures,
    until: (fits: (change: DeliverySummary) => boolean): Promise<void> =>
      new Promise((found) => {
        if (changes.some(fits)) found();
        else waiting.push({ fits, found });
      }),
  };
}

/** Simulates that the ten minutes until the next probe have passed. */
function letProbe(streamId: string): void {
  const ledger = new DatabaseSync(join(folder, 'sluice.db'), { timeout: 5_000 });
  ledger.prepare('update stream set probe_at = 0 where id = ?').run(streamId);
  ledger.close();
}

let nextChain = 0x500;

const listAll = async (streamId: string): Promise<DeliverySummary[]> => {
  const rows: DeliverySummary[] = [];
  let after: string | undefined;
  do {
    const page = await store.listDeliveries({ limit: 100, streamId, after });
    rows.push(...page.rows);
    after = page.next;
  } while (after !== undefined);
  return rows;
};

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('the condition did not hold within 10 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Creates a stream that sends to this path of the sink, with `count` due deliveries. */
async function queue(
  path: string,
  count = 1,
  limits: StreamLimits = DEFAULT_LIMITS,
): Promise<EvmStreamRecord> {
  const chain = `0x${(nextChain++).toString(16)}`;
  const stream = await store.createStream(
    plain({
      tag: path,
      description: '',
      webhookUrl: sink.url + path,
      chainIds: [chain],
      options: { ...DEFAULT_OPTIONS, includeNativeTxs: true },
      family: 'evm',
      ...DEFAULT_DELIVERY,
      limits,
    }),
  );
  const epoch = await takeChain(store, chain);
  await store.startChain({ chain, epoch, block: headerOf(chain, 0), genesisHash: 'genesis' });
  await extend(stream, count);
  return stream;
}

/** Adds `count` more blocks that match the stream, with `parts` webhooks each. */
async function extend(
  stream: EvmStreamRecord,
  count = 1,
  parts = 1,
  { unverified, ...changes }: Partial<NewMatch> & { unverified?: Unverified } = {},
): Promise<void> {
  const [chain] = stream.chainIds as [string];
  const path = stream.tag;
  const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
  const { number: tip } = (await store.readCheckpoint(chain))!;
  for (let number = tip + 1; number <= tip + count; number++) {
    const result = await store.commitBlock({
      chain,
      epoch: 1,
      block: headerOf(chain, number),
      ruleRevision: revision,
      confirmUpTo: 0,
      windowBlocks: 256,
      unverified,
      matches: Array.from({ length: parts }, (_, part) =>
        newMatch(stream.id, {
          tag: path,
          part,
          parts,
          transactionHashes: [],
          bodyHead: `,"tag":${JSON.stringify(path)},"retries":`,
          ...changes,
        }),
      ),
    });
    if (result.outcome !== 'committed') throw new Error(result.outcome);
  }
}

/** Returns the largest number of `times` within any span of `spanMs`. */
const mostWithin = (times: number[], spanMs: number): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + spanMs).length));

const headerOf = (chain: string, number: number) => ({
  number,
  hash: `${chain}-${number}`,
  parentHash: `${chain}-${number - 1}`,
  timestamp: number,
});

describe('delivering', () => {
  test('retries on its schedule with the same id and a retry count in the body, then gives up', async () => {
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
    'waits as long as a %i requests, even if the schedule is shorter',
    async (status) => {
      const { until, changes } = await start([20]);
      sink.respond({ status, headers: { 'retry-after': '120' } }, { path: `/busy${status}` });
      const stream = await queue(`/busy${status}`);
      await until((change) => change.streamId === stream.id && change.state === 'retrying');
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
    ).toEqual(['retrying', 'succeeded']);
  });

  test('sends to the current URL of a stream, not to the earlier one', async () => {
    const { until } = await start([200]);
    sink.respond(500, { path: '/old' });
    const stream = await queue('/old');
    await until((change) => change.streamId === stream.id && change.state === 'retrying');
    await store.updateStream(stream.id, plain({ webhookUrl: `${sink.url}/new` }));
    await until((change) => change.streamId === stream.id && change.state === 'succeeded');
    expect(sink.requests.at(-1)?.path).toBe('/new');
  });

  test('is not delayed by a receiver that never responds', async () => {
    sink.respond({ silence: 'hang' }, { path: '/hung' });
    const hung = await queue('/hung', 0);
    // More deliveries than the process may have in flight for all streams.
    for (let n = 0; n < 3; n++) await extend(hung, 1, 1_000);
    const { until, changes } = await start([60_000], 30_000);
    const asked = () => sink.requests.filter(({ path }) => path === '/hung').length;
    await eventually(() => Promise.resolve(asked() === 64));
    const quick = await queue('/quick', 20);
    await until(() => changes.filter((change) => change.streamId === quick.id).length === 20);
    expect(changes.some((change) => change.streamId === hung.id)).toBe(false);
    expect(asked()).toBe(64);
    await deliver!.stop(0);
  });

  test('is not delayed by large webhooks to a receiver that never responds', async () => {
    sink.respond({ silence: 'hang' }, { path: '/large' });
    const large = await queue('/large', 0);
    // The process may have 32 MiB in flight for all slow streams.
    const bodyTail = `,"text":"${'x'.repeat(3 * 1024 * 1024)}"}`;
    for (let n = 0; n < 3; n++) await extend(large, 1, 8, { bodyTail });
    const { until, changes } = await start([60_000], 30_000);
    const asked = () => sink.requests.filter(({ path }) => path === '/large').length;
    await eventually(() => Promise.resolve(asked() === 1));
    const quick = await queue('/quick', 20);
    await until(() => changes.filter((change) => change.streamId === quick.id).length === 20);
    expect(asked()).toBe(1);
    await deliver!.stop(0);
  });

  test('is not delayed by many receivers that never respond', async () => {
    sink.respond({ silence: 'hang' }, { path: '/hung' });
    for (let n = 0; n < 33; n++) await queue('/hung', 64);
    const { until, changes } = await start([60_000], 60_000);
    // Waits until no more are claimed for a second.
    let seen = { inFlight: 0, at: Date.now() };
    await eventually(() => {
      const inFlight = deliver!.inFlight();
      if (inFlight !== seen.inFlight) seen = { inFlight, at: Date.now() };
      return Promise.resolve(inFlight > 900 && Date.now() - seen.at > 1_000);
    });
    const streams = [await queue('/quick', 20), await queue('/quick', 20)];
    for (const { id } of streams) {
      await until(() => changes.filter((change) => change.streamId === id).length === 20);
    }
    expect(changes).toHaveLength(40);
    expect(deliver!.inFlight()).toBeLessThan(1_500);
    await deliver!.stop(0);
  }, 40_000);

  test('retries on the schedule of the stream, within its timeout for each attempt', async () => {
    const { until, changes } = await start([60_000], 30_000, 30_000);
    sink.respond({ delayMs: 1_500 }, { path: '/impatient' });
    const limits = { ...DEFAULT_LIMITS, timeoutSeconds: 1, retries: [1] };
    const stream = await queue('/impatient', 1, limits);
    await until(({ streamId, state }) => streamId === stream.id && state === 'failed');
    expect(changes.filter(({ streamId }) => streamId === stream.id)).toMatchObject([
      { state: 'retrying', attempts: 1, error: 'no complete response within 1 s' },
      { state: 'failed', attempts: 2, error: 'no complete response within 1 s' },
    ]);
  });

  test('respects the limits of a stream in flight and per second', async () => {
    const limits = { ...DEFAULT_LIMITS, maxInFlight: 2, maxPerSecond: 20 };
    const stream = await queue('/gentle', 15, limits);
    sink.respond({ delayMs: 70 }, { path: '/gentle' });
    const { until, changes } = await start([60_000]);
    await until(
      () =>
        changes.filter(({ state, streamId }) => state === 'succeeded' && streamId === stream.id)
          .length === 15,
    );
    const times = sink.requests.map((request) => request.receivedAt).toSorted((a, b) => a - b);
    expect(times).toHaveLength(15);
    expect(mostWithin(times, 500)).toBeLessThanOrEqual(12);
    expect(times.at(-1)! - times[0]!).toBeGreaterThanOrEqual(14 * 45);
    expect(mostWithin(times, 65)).toBeLessThanOrEqual(2);
  });

  test('limits the rate per host across streams', async () => {
    await queue('/one', 3);
    await queue('/two', 3);
    await start([60_000], 5_000, undefined, { maxPerHost: 10 });
    await eventually(() => Promise.resolve(sink.requests.length === 6));
    const times = sink.requests.map((request) => request.receivedAt);
    // Six turns are 100 ms apart and take 500 ms, but connecting may delay the first one.
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(300);
  });

  test('a delivery that is quarantined after lost leases does not count as an attempt', async () => {
    const { id } = await queue('/crashing');
    const [delivery] = await listAll(id);
    let released = 0;
    const ledger: Store = {
      ...store,
      // Only on PostgreSQL can another process have leases that expire.
      isShared: true,
      claimDeliveries: () => Promise.resolve([]),
      releaseLeases() {
        released++;
        const quarantined = [{ ...delivery!, state: 'quarantined' as const }];
        return Promise.resolve({ released: 0, suspects: 0, quarantined, canceled: [] });
      },
    };
    const { changes } = await start([60_000], 5_000, undefined, { ledger });
    await eventually(() => Promise.resolve(released > 1));
    expect(changes).toEqual([]);
  });

  test.each([
    ['not sent if its lease was lost', [], 0],
    ['sent if its lease is held', ['held'], 1],
  ])('a delivery that waits for its turn while the process stalls is %s', async (_, held, sent) => {
    await queue('/stalled');
    const now = performance.now.bind(performance);
    let stalledMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + stalledMs);
    let isAsked = false;
    const ledger: Store = {
      ...store,
      async claimDeliveries(claim) {
        const claimed = await store.claimDeliveries(claim);
        if (claimed.length > 0) setTimeout(() => (stalledMs = 9_500), 10);
        return claimed.map((each) => ({ ...each, waitMs: 1_500 }));
      },
      extendLeases(leases) {
        isAsked = true;
        return Promise.resolve(held.length > 0 ? leases.map(({ id }) => id) : []);
      },
    };
    await start([60_000], 5_000, undefined, { ledger });
    await eventually(() => Promise.resolve(isAsked && deliver!.inFlight() === 0));
    vi.restoreAllMocks();
    expect(sink.requests).toHaveLength(sent);
    // A dropped delivery does not delay the outcomes of other deliveries.
    const later = await queue('/later');
    await eventually(async () => (await listAll(later.id))[0]?.state === 'succeeded');
    await deliver!.stop(5_000);
  });

  test('keeps a strict order, and continues after a permanent failure', async () => {
    const stream = await queue('/ordered', 6, { ...DEFAULT_LIMITS, strictOrder: true });
    sink.respond([200, 500, 500, 500, 200], { path: '/ordered' });
    const { until } = await start([100, 100]);
    const ids = (await listAll(stream.id)).map((each) => each.id).toReversed();
    await until((change) => change.id === ids[5] && change.state === 'succeeded');
    expect(sink.requests.map((request) => request.id)).toEqual([
      ids[0],
      ...[ids[1], ids[1], ids[1]],
      ...ids.slice(2),
    ]);
    expect((await store.readDelivery(ids[1]!))?.state).toBe('failed');
  });

  test.each([
    ['a connection that broke', { silence: 'reset' } as const],
    ['a 5xx', 503],
  ])('retries fast once after %s, then by the schedule', async (_, answer) => {
    const { until, changes } = await start([60_000], 5_000, 30);
    sink.respond([answer, answer, 200], { path: '/soon' });
    const stream = await queue('/soon');
    await until((change) => change.streamId === stream.id && change.attempts === 2);
    const [first, second] = changes.filter((change) => change.streamId === stream.id);
    const soon = first!.nextAttemptAt! - first!.updatedAt;
    expect(soon).toBeGreaterThanOrEqual(30);
    expect(soon).toBeLessThanOrEqual(33);
    expect(second!.nextAttemptAt! - second!.updatedAt).toBeGreaterThanOrEqual(60_000);
  });

  test('does not retry fast when the receiver rejected the delivery', async () => {
    const { until, changes } = await start([60_000], 5_000, 30);
    sink.respond(404, { path: '/refused' });
    const stream = await queue('/refused');
    await until((change) => change.streamId === stream.id);
    const [first] = changes.filter((change) => change.streamId === stream.id);
    expect(first!.nextAttemptAt! - first!.updatedAt).toBeGreaterThanOrEqual(60_000);
  });

  test('gives up after the schedule, not counting the fast retry', async () => {
    const { until } = await start([20, 20], 5_000, 10);
    sink.respond(500, { path: '/over' });
    const stream = await queue('/over');
    await until((change) => change.streamId === stream.id && change.state === 'failed');
    expect(sink.requests.filter((request) => request.path === '/over')).toHaveLength(4);
  });

  test('delays no first attempt by a backlog of retries whose receiver hangs', async () => {
    const backlog = await queue('/backlog', 0);
    for (let n = 0; n < 4; n++) await extend(backlog, 1, 1_000);
    for (let left = 4_000; left > 0;) {
      const claimed = await store.claimDeliveries({
        limit: 5_000,
        maxBytes: 1e9,
        perStream: 5_000,
        taken: {},
        leaseMs: 40_000,
        retries: { limit: 0, maxBytes: 0, taken: {} },
      });
      left -= claimed.length;
      const failure = { status: 500, error: 'HTTP 500', responseBody: '', transport: null };
      await store.completeDeliveries(
        claimed.map(({ id, leaseToken, webhookUrl }) => ({
          id,
          leaseToken,
          webhookUrl,
          startedAt: 0,
          durationMs: 1,
          isFastRetry: false,
          ...failure,
          result: 'retry',
          retryInMs: 0,
        })),
      );
    }
    const isRetry = ({ body }: { body: string }) => !body.includes('"retries":0');
    const hung = () => sink.requests.filter(isRetry).length;
    sink.respond((request) => (isRetry(request) ? { silence: 'hang' } : 200), { path: '/backlog' });
    const { until, changes } = await start([60_000], 30_000);
    // Retries fill their share of the 64 deliveries that the stream may have in flight: 48.
    await eventually(() => Promise.resolve(hung() === 48));
    const other = await queue('/other', 50);
    await extend(backlog, 50);
    const firstOf = (stream: EvmStreamRecord): number =>
      changes.filter((each) => each.streamId === stream.id && each.attempts === 1).length;
    await until(() => firstOf(other) === 50 && firstOf(backlog) === 50);
    expect(hung()).toBe(48);
    sink.respond(200, { path: '/backlog' });
    await deliver!.stop(0);
  }, 60_000);

  /** Simulates that the service died twice while sending everything that is due. */
  const loseLeasesTwice = async (): Promise<void> => {
    for (let n = 0; n < 2; n++) {
      await store.claimDeliveries({
        limit: 100,
        maxBytes: 1e9,
        perStream: 100,
        taken: {},
        leaseMs: 40_000,
      });
      await store.releaseLeases('all');
    }
  };

  test('sends suspects from an isolated process, even after a paused stream resumes', async () => {
    const paused = await queue('/suspect');
    await loseLeasesTwice();
    await store.setStreamStatus(paused.id, 'paused', '');
    const { until } = await start([60_000]);
    const other = await queue('/other');
    await until((change) => change.streamId === other.id && change.state === 'succeeded');
    expect((await listAll(paused.id)).map((each) => each.state)).toEqual(['pending']);
    await store.setStreamStatus(paused.id, 'active', '');
    await until((change) => change.streamId === paused.id && change.state === 'succeeded');
    const [request, ...more] = sink.requests.filter(({ path }) => path === '/suspect');
    expect(more).toEqual([]);
    // The webhook is signed like every other webhook, although another process sends it.
    expect(request!.headers['x-signature']).toBe(signWebhook(request!.body, 'secret'));
  });

  test.each([
    ['not sent if its lease was lost', [], 0],
    ['sent if its lease is held', ['held'], 1],
  ])('a suspect that is claimed while the process stalls is %s', async (_, held, sent) => {
    await queue('/suspect');
    await loseLeasesTwice();
    const now = performance.now.bind(performance);
    let stalledMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + stalledMs);
    let isAsked = false;
    const ledger: Store = {
      ...store,
      async claimSuspect(claim) {
        const claimed = await store.claimSuspect(claim);
        if (claimed !== undefined) stalledMs = 60_000;
        return claimed;
      },
      // Leaves the suspect to the isolated process.
      claimDeliveries: () => Promise.resolve([]),
      extendLeases(leases) {
        isAsked = true;
        return Promise.resolve(held.length > 0 ? leases.map(({ id }) => id) : []);
      },
    };
    await start([60_000], 5_000, undefined, { ledger });
    await eventually(() => Promise.resolve(isAsked && deliver!.inFlight() === 0));
    await deliver!.stop(5_000);
    vi.restoreAllMocks();
    expect(sink.requests).toHaveLength(sent);
  });

  test('records that the isolated process has a suspect, which then cannot be at fault', async () => {
    const { id } = await queue('/suspect');
    await loseLeasesTwice();
    const isolated: string[] = [];
    const ledger: Store = {
      ...store,
      recordIsolated(suspect) {
        isolated.push(suspect.id);
        return store.recordIsolated(suspect);
      },
    };
    const { until } = await start([60_000], 5_000, undefined, { ledger });
    await until((change) => change.streamId === id && change.state === 'succeeded');
    expect(isolated).toEqual((await listAll(id)).map((each) => each.id));
  });

  test('delays no other delivery while the receiver of a suspect hangs', async () => {
    sink.respond({ silence: 'hang' }, { path: '/hung' });
    const hung = await queue('/hung');
    await loseLeasesTwice();
    const { until, changes } = await start([60_000], 3_000);
    const quick = await queue('/quick', 20);
    await sink.waitFor(21);
    await until(() => changes.filter((change) => change.streamId === quick.id).length === 20);
    expect(changes.some((change) => change.streamId === hung.id)).toBe(false);
    await until((change) => change.streamId === hung.id);
    expect(changes.at(-1)).toMatchObject({
      state: 'retrying',
      error: 'no complete response within 3 s',
    });
  });

  test('delays no suspect of another stream by many suspects whose receiver hangs', async () => {
    sink.respond({ silence: 'hang' }, { path: '/hung' });
    await queue('/hung', 40);
    const other = await queue('/other');
    await loseLeasesTwice();
    const { until } = await start([60_000], 200);
    await until((change) => change.streamId === other.id && change.state === 'succeeded');
    // Once the receiver has failed ten times, its circuit breaker pauses its suspects.
    expect(sink.requests.filter(({ path }) => path === '/hung').length).toBeLessThan(20);
    await deliver!.stop(0);
  });

  test('quarantines only the outcome that the ledger rejects, and records the others', async () => {
    const sizes: number[] = [];
    const picky: Store = {
      ...store,
      completeDeliveries(outcomes) {
        sizes.push(outcomes.length);
        const isRefused = outcomes.some(
          ({ webhookUrl, result }) => webhookUrl.endsWith('/odd') && result !== 'quarantined',
        );
        return isRefused
          ? Promise.reject(new Error('invalid value'))
          : store.completeDeliveries(outcomes);
      },
    };
    sink.respond({ delayMs: 200 });
    const fine = await queue('/fine', 40);
    const odd = await queue('/odd');
    const { until } = await start([60_000], 5_000, undefined, { ledger: picky });
    await until((change) => change.streamId === odd.id);
    await eventually(async () =>
      (await listAll(fine.id)).every((each) => each.state === 'succeeded'),
    );
    const [set] = await listAll(odd.id);
    expect(set).toMatchObject({ state: 'quarantined', status: null, attempts: 1 });
    expect(set?.error).toMatch(/returned 200, but the ledger rejected .*invalid value/);
    // The rejected outcome is found by halving the batch, not by writing outcomes one by one.
    expect(Math.max(...sizes)).toBeGreaterThan(1);
    expect(sizes.length).toBeLessThan(25);
    expect(sink.requests.filter((request) => request.path === '/odd')).toHaveLength(1);
  });

  test('calls a failing receiver less often, without using up attempts of waiting deliveries', async () => {
    const { until } = await start([60_000, 60_000]);
    sink.respond(500, { path: '/down' });
    const stream = await queue('/down', 200);
    await until((change) => change.streamId === stream.id && change.attempts === 1);
    const untouched = async (): Promise<number> =>
      (await listAll(stream.id)).filter((each) => each.attempts === 0 && each.state === 'pending')
        .length;
    // Waits for attempts that were in flight when the breaker opened; other deliveries stay queued.
    await eventually(async () =>
      (await listAll(stream.id)).every((each) => each.state !== 'leased'),
    );
    const left = await untouched();
    expect(left).toBeGreaterThanOrEqual(200 - 10 - 64);
    const seen = sink.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(sink.requests.length).toBe(seen);
    expect(await untouched()).toBe(left);
    expect((await store.readStream(stream.id))?.status).toBe('active');
  });

  test('reports a failing receiver as backed off; a manual replay probes it and resumes delivery', async () => {
    const { until } = await start([60_000, 60_000]);
    sink.respond(500, { path: '/spared' });
    const stream = await queue('/spared', 200);
    await until((change) => change.streamId === stream.id && change.attempts === 1);
    const backOff = async () =>
      (await store.listBackOffs()).find(({ streamId }) => streamId === stream.id);
    await eventually(async () => (await backOff()) !== undefined);
    expect(await backOff()).toMatchObject({ reason: 'failures' });
    await eventually(async () =>
      (await listAll(stream.id)).every((each) => each.state !== 'leased'),
    );
    // Deliveries that were claimed before the failure was detected do not extend the back-off.
    expect((await backOff())!.leftMs).toBeLessThanOrEqual(30_000);
    const seen = sink.requests.length;
    const waiting = (await listAll(stream.id)).find((each) => each.attempts === 0)!;

    // The receiver still fails, so one probe fails and the back-off doubles.
    await store.replayDelivery(stream.id, waiting.id);
    await eventually(async () => ((await backOff())?.leftMs ?? 0) > 30_000);
    expect(sink.requests.length).toBe(seen + 1);

    sink.respond(200, { path: '/spared' });
    await store.replayDelivery(stream.id, waiting.id);
    await eventually(async () => (await backOff()) === undefined);
    await until((change) => change.id === waiting.id && change.state === 'succeeded');
  });

  test('reports that a receiver is throttling, unless the pause is short', async () => {
    const { until } = await start([60_000]);
    const throttle = (seconds: number, path: string) =>
      sink.respond({ status: 429, headers: { 'retry-after': String(seconds) } }, { path });
    throttle(2, '/brief');
    throttle(300, '/patient');
    const brief = await queue('/brief');
    await until((change) => change.streamId === brief.id && change.status === 429);
    const patient = await queue('/patient');
    const find = async (id: string) =>
      (await store.listBackOffs()).find(({ streamId }) => streamId === id);
    await eventually(async () => (await find(patient.id)) !== undefined);
    expect((await find(patient.id))!.leftMs).toBeGreaterThan(290_000);
    expect(await find(patient.id)).toMatchObject({ reason: 'throttled' });
    expect(await find(brief.id)).toBeUndefined();
    // When a process stops, it removes its back-offs from the ledger.
    await deliver!.stop(5_000);
    expect(await find(patient.id)).toBeUndefined();
  });

  test('calls a new receiver at once, whatever the state of the previous one', async () => {
    const { until } = await start([60_000]);
    sink.respond(500, { path: '/wrong' });
    const stream = await queue('/wrong', 100);
    await eventually(async () =>
      (await store.listBackOffs()).some((each) => each.streamId === stream.id),
    );
    await store.updateStream(stream.id, plain({ webhookUrl: `${sink.url}/right` }));
    await until((change) => change.streamId === stream.id && change.state === 'succeeded');
  });

  test('puts a stream whose receiver is gone into error, where it collects deliveries', async () => {
    const { until } = await start([60_000]);
    sink.respond(410, { path: '/gone' });
    const stream = await queue('/gone');
    await until((change) => change.streamId === stream.id && change.state === 'retrying');
    await eventually(async () => (await store.readStream(stream.id))?.status === 'error');
    const failed = await store.readStream(stream.id);
    expect(failed?.statusMessage).toMatch(/410 Gone/);
    expect(failed?.errorSince).toBeGreaterThan(Date.now() - 60_000);
    // No more deliveries are sent, because the next probe is minutes away.
    await extend(stream);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(sink.requests.filter((request) => request.path === '/gone')).toHaveLength(1);
    expect((await listAll(stream.id)).map((each) => each.state).toSorted()).toEqual([
      'pending',
      'retrying',
    ]);
    // The user fixes the receiver and activates the stream.
    sink.respond(200, { path: '/gone' });
    await store.setStreamStatus(stream.id, 'active', 'Stream is active');
    await until((change) => change.streamId === stream.id && change.state === 'succeeded');
    expect((await store.readStream(stream.id))?.errorSince).toBeNull();
  });

  test('with --https-only, puts a stream with an http: URL into error and keeps its deliveries', async () => {
    const guard = createAddressGuard({ allowCidrs: ALL_NETWORKS, httpsOnly: true });
    const { until } = await start([1_000], 5_000, undefined, { guard });
    const stream = await queue('/plain');
    await until((change) => change.streamId === stream.id && change.attempts === 1);
    await eventually(async () => (await store.readStream(stream.id))?.status === 'error');
    expect((await store.readStream(stream.id))?.statusMessage).toMatch(/--https-only.*https:/);
    expect(await listAll(stream.id)).toMatchObject([{ state: 'retrying', error: INSECURE_URL }]);
    expect(sink.requests).toEqual([]);

    await deliver!.stop(5_000);
    const allowing = await start([60_000]);
    await store.setStreamStatus(stream.id, 'active', 'Stream is active');
    await allowing.until((change) => change.streamId === stream.id && change.state === 'succeeded');
  });

  test('probes a stream in error every ten minutes, and a 2xx recovers it', async () => {
    const { until, changes } = await start([60_000]);
    sink.respond(410, { path: '/back' });
    const stream = await queue('/back');
    await eventually(async () => (await store.readStream(stream.id))?.status === 'error');
    await extend(stream, 5);
    sink.respond(503, { path: '/back' });
    letProbe(stream.id);
    await until((change) => change.streamId === stream.id && change.status === 503);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(sink.requests.filter((request) => request.path === '/back')).toHaveLength(2);
    expect((await store.readStream(stream.id))?.status).toBe('error');

    sink.respond(200, { path: '/back' });
    letProbe(stream.id);
    await eventually(async () => (await store.readStream(stream.id))?.status === 'active');
    await eventually(
      async () =>
        (await listAll(stream.id)).filter((each) => each.state === 'succeeded').length >= 4,
    );
    expect(await store.readStream(stream.id)).toMatchObject({
      statusMessage: 'Stream is active',
      errorSince: null,
    });
    expect(changes.some((change) => change.state === 'failed')).toBe(false);
  });

  test('waits out a local resource shortage without using up attempts or blaming the receiver', async () => {
    const stream = await queue('/lacking', 30);
    let lacking = true;
    const allowed = createAddressGuard({ allowCidrs: ALL_NETWORKS });
    const { changes, localFailures } = await start([60_000], 5_000, undefined, {
      guard: {
        ...allowed,
        connectWith: () => (options, callback) => {
          if (lacking)
            callback(Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' }), null);
          else allowed.connect(options, callback);
          return undefined;
        },
      },
    });
    await eventually(() => Promise.resolve(localFailures.length >= 60));
    expect(new Set(localFailures)).toEqual(new Set(['EMFILE']));
    expect(changes).toEqual([]);
    expect(deliver!.breakers()).toEqual({ open: 0, 'half-open': 0, held: 0 });
    lacking = false;
    await eventually(() => Promise.resolve(changes.length === 30));
    expect(new Set(changes.map(({ state, attempts }) => `${state} ${attempts}`))).toEqual(
      new Set(['succeeded 1']),
    );
    expect((await store.readStream(stream.id))!.status).toBe('active');
  });

  test('records no attempt for a delivery that it could not send before it stopped', async () => {
    const stream = await queue('/lacking');
    const { changes, localFailures } = await start([60_000], 5_000, undefined, {
      guard: {
        ...createAddressGuard({ allowCidrs: ALL_NETWORKS }),
        connectWith: () => (_, callback) => {
          callback(Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' }), null);
          return undefined;
        },
      },
    });
    await eventually(() => Promise.resolve(localFailures.length > 0));
    await deliver!.stop(5_000);
    expect(changes).toEqual([]);
    expect(await listAll(stream.id)).toMatchObject([{ attempts: 0 }]);
  });

  test('stops claiming at once and completes attempts in flight, each sent once', async () => {
    sink.respond({ delayMs: 1_000 }, { path: '/slow' });
    // Keeps an attempt in flight while the others complete.
    sink.respond({ delayMs: 2_000 }, { path: '/slower' });
    const stream = await queue('/slow', 50, { ...DEFAULT_LIMITS, maxInFlight: 10 });
    await queue('/slower');
    const { changes } = await start([60_000]);
    await sink.waitFor(11);
    await deliver!.stop(5_000);
    const finished = changes.filter((change) => change.streamId === stream.id);
    const sent = sink.requests.filter((request) => request.path === '/slow');
    expect(sent).toHaveLength(10);
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

  test('marks each webhook of an unverified block, whatever headers the stream has', async () => {
    const stream = await queue('/marked', 1);
    await extend(stream, 1, 2, {
      unverified: {
        codes: ['receipts-root', 'bloom'],
        witnesses: 1,
        isUncertain: true,
      },
    });
    await store.updateStream(
      stream.id,
      plain({
        headers: { 'x-sluice-unverified': 'own', 'x-own': '1' },
      }),
    );
    await start([60_000]);
    const requests = await sink.waitFor(3);
    const headers = requests.map((request) => request.headers);
    expect(headers.map((each) => String(each['x-sluice-unverified'])).toSorted()).toEqual([
      'own',
      'receipts-root, bloom',
      'receipts-root, bloom',
    ]);
    expect(headers.map((each) => each['x-own'])).toEqual(['1', '1', '1']);
  });

  test('reports the queue size, and charges only confirmed deliveries', async () => {
    await queue('/queue', 3);
    await start([60_000]);
    const requests = await sink.waitFor(3);
    expect(requests[0]?.headers).toMatchObject({
      'x-queue-size': '3',
      'x-records-charged': '0',
      'x-sluice-origin': 'live',
    });
  });

  test('counts a delivery until it needs no more retries', async () => {
    sink.respond([500, 200]);
    await queue('/retried', 1);
    await start([50]);
    const [, retry] = await sink.waitFor(2);
    expect(retry?.headers['x-queue-size']).toBe('1');
  });

  test('counts deliveries that are committed, stopped and replayed while it runs', async () => {
    await start([60_000]);
    const stream = await queue('/later', 0);
    await store.setStreamStatus(stream.id, 'paused', '');
    await extend(stream, 1, 3);
    const [first] = (await store.listDeliveries({ limit: 1, streamId: stream.id })).rows;
    await store.stopDelivery(first!.id);
    await extend(stream);
    await store.replayDelivery(stream.id, first!.id);
    await store.setStreamStatus(stream.id, 'active', '');
    const [request] = await sink.waitFor(4);
    expect(request?.headers['x-queue-size']).toBe('4');
  });
});
