import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Alert, unwrapAlert } from '@sluice/kit';
import { type Postgres, type WebhookSink, startPostgres, startWebhookSink } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ALL_NETWORKS, createAddressGuard } from '../../deliver/destinations/http/guard.ts';
import { createHttpSender } from '../../deliver/send/httpSender.test-only.ts';
import type { LeaseTerm } from '../duty.ts';
import { type NotifierOptions, startNotifier } from './alerts.ts';
import { createLog } from '../../base/log.ts';
import { newMatch } from '../../../test/store/newMatch.ts';
import { openPostgresStore } from '../../store/engine/postgres/postgres.ts';
import { openSqliteStore } from '../../store/engine/sqlite/sqlite.ts';
import type { ChainReport } from '../../store/leases/contract.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../../store/streams/contract.ts';
import type { Store } from '../../store/store.ts';
import { plain } from '../../../test/store/plain.ts';

const PATIENCE = { timeout: 10_000 };
const DELIVERED_MS = 30 * 24 * 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'sluice-notifier-'));
let postgres: Postgres;
let store: Store;
let sink: WebhookSink;
let notifier: LeaseTerm | undefined;
let chains: ChainReport[] = [];
let diskFilling: string | undefined;
let certificateExpiring: string | undefined;
let logged = '';

beforeAll(async () => {
  [sink, postgres] = await Promise.all([startWebhookSink(), startPostgres()]);
});
beforeEach(() => {
  sink.clear();
  sink.respond(200);
  chains = [];
  logged = '';
});
afterEach(async () => {
  await notifier?.stop();
  for (const { id } of (await store.listStreams({ limit: 100 })).rows) await store.deleteStream(id);
  for (const alert of await store.listAlerts('')) await store.deleteAlert(alert);
});
afterAll(async () => {
  await Promise.all([sink.close(), postgres.stop()]);
  rmSync(folder, { recursive: true });
});

function start(timing: NotifierOptions['timing'] = {}): void {
  notifier = startNotifier({
    receiver: '',
    url: `${sink.url}/alerts`,
    store,
    sender: createHttpSender({
      guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
      secret: () => 'secret',
      region: () => 'us-east-1',
      timeoutMs: 1_000,
    }),
    chains: () => chains,
    deliveredMs: DELIVERED_MS,
    diskFilling: () => diskFilling,
    certificateExpiring: () => certificateExpiring,
    log: createLog((line) => (logged += line)),
    timing: { lookMs: 20, gapMs: 0, haltMs: 0, scheduleMs: [50, 50], ...timing },
  });
}

const createStream = () =>
  store.createStream(
    plain({
      family: 'evm',
      tag: 'orders',
      description: '',
      webhookUrl: 'http://127.0.0.1:1/',
      chainIds: ['0x1'],
      options: DEFAULT_OPTIONS,
      ...DEFAULT_DELIVERY,
    }),
  );

/** Verifies the requests so far, and returns each alert once, even if it was sent repeatedly. */
const reported = (): Alert[] => {
  const alerts = sink.requests.map(({ headers, body }) =>
    unwrapAlert({ headers, body, secret: 'secret' }),
  );
  return [...new Map(alerts.map(({ id, alert }) => [id, alert])).values()];
};

const chain = (state: ChainReport['state'], message = ''): ChainReport => ({
  id: '0x1',
  name: 'Ethereum',
  code: 'eth',
  head: 1,
  checkpoint: 1,
  confirmations: 12,
  headAgeMs: 0,
  confirmedUpTo: 1,
  safe: null,
  finalized: null,
  proof: null,
  trust: null,
  agreement: null,
  providers: [],
  progress: null,
  lacks: [],
  failingReads: {},
  state,
  message,
});

/** Waits long enough for several checks. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 300));

describe.each([
  ['SQLite', () => openSqliteStore(folder)],
  ['PostgreSQL', () => openPostgresStore(postgres.url)],
] as const)('alerts to the operator, with a ledger in %s', (_engine, open) => {
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  test('an alert about an additional destination has its number', async () => {
    const { id: streamId } = await createStream();
    const { headers, oauth2, limits } = DEFAULT_DELIVERY;
    const endpoint = { webhookUrl: 'http://127.0.0.1:1/', description: '', headers, oauth2 };
    const draft = plain({ ...endpoint, limits });
    await store.addDestination(streamId, draft, { keyId: 'bootstrap' });
    start();
    await store.failStream(`${streamId}.1`, 'HTTP 410');
    await expect.poll(reported, PATIENCE).toHaveLength(1);
    await store.recoverStream(`${streamId}.1`);
    await expect.poll(reported, PATIENCE).toHaveLength(2);
    const data = { streamId, destination: 1, tag: 'orders' };
    expect(reported()).toMatchObject([
      { type: 'stream.error', data: { ...data, reason: 'HTTP 410' } },
      { type: 'stream.recovered', data },
    ]);
  });

  test('an alert reports a stream that fails, recovers and is terminated', async () => {
    const { id: streamId } = await createStream();
    start();
    await store.failStream(streamId, 'HTTP 410');
    await expect.poll(reported, PATIENCE).toHaveLength(1);
    await store.recoverStream(streamId);
    await expect.poll(reported, PATIENCE).toHaveLength(2);
    await store.failStream(streamId, 'HTTP 500');
    await expect.poll(reported, PATIENCE).toHaveLength(3);
    await store.terminateStreams(0);
    await expect.poll(reported, PATIENCE).toHaveLength(4);
    const data = { streamId, tag: 'orders' };
    expect(reported()).toMatchObject([
      { type: 'stream.error', data: { ...data, reason: 'HTTP 410' } },
      { type: 'stream.recovered', data },
      { type: 'stream.error', data: { ...data, reason: 'HTTP 500' } },
      { type: 'stream.terminated', data },
    ]);
    expect(Date.parse(reported()[0]!.timestamp)).toBeGreaterThan(Date.now() - 60_000);
  });

  test('an alert reports quarantined deliveries, and again only when there are more', async () => {
    const { id: streamId } = await createStream();
    const header = (number: number) => ({
      number,
      hash: `block ${number}`,
      parentHash: `block ${number - 1}`,
      timestamp: number,
    });
    const epoch = (await store.takeLease({ name: '0x1', holder: 'test', forMs: 60_000 }))!;
    await store.startChain({ chain: '0x1', epoch, block: header(0), genesisHash: 'genesis' });
    const quarantine = async (n: number): Promise<string> => {
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
      const matches = [newMatch(streamId)];
      const at = { chain: '0x1', epoch, block: header(n), ruleRevision: revision };
      await store.commitBlock({ ...at, confirmUpTo: 0, windowBlocks: 9, matches });
      for (let lost = 0; lost < 2; lost++) {
        const limits = { limit: 9, maxBytes: 1e9, perStream: 9, taken: {}, leaseMs: 40_000 };
        await store.claimDeliveries(limits);
        await store.releaseLeases('all');
      }
      for (;;) {
        const suspect = await store.claimSuspect({ leaseMs: 40_000, notStreams: [] });
        await store.releaseLeases('all');
        if (suspect === undefined) break;
      }
      return (await store.listDeliveries({ limit: 1, streamId })).rows[0]!.id;
    };
    const first = await quarantine(1);
    start();
    await expect.poll(reported, PATIENCE).toHaveLength(1);
    await aWhile();
    const second = await quarantine(2);
    await expect.poll(reported, PATIENCE).toHaveLength(2);
    await store.replayDelivery(streamId, first);
    await aWhile();
    expect(reported()).toMatchObject([
      { type: 'delivery.quarantined', data: { streamId, deliveryId: first, count: 1 } },
      { type: 'delivery.quarantined', data: { streamId, deliveryId: second, count: 2 } },
    ]);
  });

  test('an alert reports a consumer of a feed whose deliveries expire soon, and its recovery', async () => {
    const { id: streamId } = await createStream();
    let oldestAt = Date.now() - DELIVERED_MS + 25 * 3_600_000;
    const behind = vi
      .spyOn(store, 'listFeedsBehind')
      .mockImplementation((createdBefore) =>
        Promise.resolve(
          oldestAt < createdBefore
            ? [{ streamId, tag: 'orders', consumer: 'billing', oldestAt }]
            : [],
        ),
      );
    start();
    await aWhile();
    expect(reported()).toEqual([]);
    oldestAt -= 2 * 3_600_000;
    await expect.poll(reported, PATIENCE).toHaveLength(1);
    oldestAt = Date.now();
    await expect.poll(reported, PATIENCE).toHaveLength(2);
    behind.mockRestore();
    expect(reported()).toMatchObject([
      { type: 'feed.expiring', data: { streamId, tag: 'orders', consumer: 'billing' } },
      { type: 'feed.recovered', data: { streamId, tag: 'orders', consumer: 'billing' } },
    ]);
  });

  test('an alert reports a chain that halts and resumes, but not a brief outage', async () => {
    chains = [chain('live')];
    start({ haltMs: 200 });
    chains = [chain('down', 'no node answers')];
    await new Promise((resolve) => setTimeout(resolve, 50));
    chains = [chain('live')];
    await aWhile();
    expect(reported()).toEqual([]);
    chains = [chain('down', 'deeper than the window')];
    await expect.poll(reported, PATIENCE).toHaveLength(1);
    chains = [chain('starting')];
    await aWhile();
    chains = [chain('live')];
    await expect.poll(reported, PATIENCE).toHaveLength(2);
    expect(reported()).toMatchObject([
      { type: 'chain.halted', data: { chainId: '0x1', reason: 'deeper than the window' } },
      { type: 'chain.resumed', data: { chainId: '0x1' } },
    ]);
  });

  test('no alert reports a chain that settles, but one reports the end of a halt when it settles', async () => {
    start();
    chains = [chain('settling', 'the receipts root does not match')];
    await aWhile();
    expect(reported()).toEqual([]);
    chains = [chain('down', 'no node answers')];
    await expect.poll(reported, PATIENCE).toHaveLength(1);
    chains = [chain('settling', 'the receipts root does not match')];
    await expect.poll(reported, PATIENCE).toHaveLength(2);
    expect(reported().map(({ type }) => type)).toEqual(['chain.halted', 'chain.resumed']);
  });

  test('an alert reports a disk that is filling, and again when there is space', async () => {
    start();
    diskFilling = '81 % of the disk is used';
    await expect.poll(reported, PATIENCE).toHaveLength(1);
    diskFilling = '82 % of the disk is used';
    await aWhile();
    diskFilling = undefined;
    await expect.poll(reported, PATIENCE).toHaveLength(2);
    expect(reported()).toMatchObject([
      { type: 'disk.filling', data: { reason: '81 % of the disk is used' } },
      { type: 'disk.recovered', data: {} },
    ]);
  });

  test('an alert reports a client certificate that expires soon, and its renewal', async () => {
    start();
    certificateExpiring = 'the client certificate expires on 2030-01-01';
    await expect.poll(reported, PATIENCE).toHaveLength(1);
    await aWhile();
    certificateExpiring = undefined;
    await expect.poll(reported, PATIENCE).toHaveLength(2);
    expect(reported()).toMatchObject([
      {
        type: 'client-certificate.expiring',
        data: { reason: 'the client certificate expires on 2030-01-01' },
      },
      { type: 'client-certificate.renewed', data: {} },
    ]);
  });

  test('alerts about a flapping subject are limited', async () => {
    const { id } = await createStream();
    start({ gapMs: 60_000 });
    for (let n = 0; n < 5; n++) {
      await store.failStream(id, `failure ${n}`);
      await aWhile();
      await store.recoverStream(id);
      await aWhile();
    }
    expect(reported()).toHaveLength(1);
  });

  test('an alert survives the end of its process, and is retried with its id', async () => {
    const { id } = await createStream();
    sink.respond([500, { silence: 'reset' }, 200]);
    await store.failStream(id, 'HTTP 410');
    start({ scheduleMs: [60_000] });
    await sink.waitFor(1);
    await notifier!.stop();
    const [row] = await store.listAlerts('');
    await store.saveAlert({ ...row!, runAt: 0 });
    start({ scheduleMs: [0, 50, 50] });
    await sink.waitFor(3);
    await expect.poll(async () => (await store.listAlerts(''))[0]?.body, PATIENCE).toBeNull();
    expect(new Set(sink.requests.map((request) => request.id)).size).toBe(1);
  });

  test('an alert that is never accepted is dropped and logged', async () => {
    const { id } = await createStream();
    sink.respond(404);
    await store.failStream(id, 'HTTP 410');
    start();
    await expect.poll(() => logged, PATIENCE).toMatch(/alert dropped .*HTTP 404/);
    expect(sink.requests).toHaveLength(3);
    await aWhile();
    expect(sink.requests).toHaveLength(3);
  });

  test('an alert that was never accepted does not delay the next one', async () => {
    const { id } = await createStream();
    sink.respond(404);
    await store.failStream(id, 'HTTP 410');
    start({ gapMs: 60_000 });
    await expect.poll(() => logged, PATIENCE).toMatch(/alert dropped/);
    await store.terminateStreams(0);
    sink.respond(200);
    await sink.waitFor(4);
    expect(reported().at(-1)).toMatchObject({ type: 'stream.terminated' });
  });
});
