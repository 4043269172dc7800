/** Tests that a running service uses nodes and alert URLs that another process adds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, unwrapAlert } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type Postgres,
  type RunningScriptedChain,
  type WebhookSink,
  startPostgres,
  startScriptedChain,
  startWebhookSink,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AddedUrls, openAddedUrls } from '../secrets/addedUrls.ts';
import { createVault } from '../secrets/vault.ts';
import type { Log } from '../base/log.ts';
import { type Service, startService } from '../service.ts';
import { openPostgresStore } from '../store/engine/postgres/postgres.ts';
import type { Store } from '../store/store.ts';

const API_KEY = 'added-nodes-test-key-0123456789';
const MASTER_KEY = 'c'.repeat(64);
const SOON = { timeout: 20_000 };
const LONG = 60_000;
/** Names of the leases that services took. */
let taken: unknown[] = [];
const log: Log = {
  info(event, fields) {
    if (event === 'lease taken') taken.push(fields?.['lease']);
  },
  warn() {},
  error() {},
};

const folder = mkdtempSync(join(tmpdir(), 'sluice-added-nodes-'));
let postgres: Postgres;
let chain: RunningScriptedChain;
let sink: WebhookSink;
let store: Store;
let addedUrls: AddedUrls;
beforeAll(async () => {
  [postgres, chain, sink] = await Promise.all([
    startPostgres(),
    startScriptedChain(),
    startWebhookSink(),
  ]);
  store = await openPostgresStore(postgres.url);
  addedUrls = await openAddedUrls(store, createVault([Buffer.from(MASTER_KEY, 'hex')]), log);
});
afterAll(async () => {
  addedUrls.stop();
  await store.close();
  await Promise.all([postgres.stop(), chain.stop(), sink.close()]);
  rmSync(folder, { recursive: true });
});

/** The scripted node serves `CHAIN`, but not `OTHER_CHAIN`. */
const CHAIN = '0x7a69';
const OTHER_CHAIN = '0x53a';
const start = (allowPrivateEndpoints: boolean, chains: string[] = []): Promise<Service> =>
  startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: folder,
      databaseUrl: postgres.url,
      apiKey: API_KEY,
      masterKey: MASTER_KEY,
      secret: 'secret',
      aptos: [],
      chains: chains.map((id) => ({ id, urls: [chain.url], pollMs: 50 })),
      allowPrivateEndpoints,
    },
    log,
  );
const listChains = ({ url }: Service) =>
  createSluiceClient({ apiKey: API_KEY, baseUrl: url }).listChains();
const stateOf = async (name: string) =>
  (await store.takeLease({ name, holder: 'test', forMs: 1 })) === undefined ? 'held' : 'free';

test(
  'a chain is followed within 5 s after its first node was added, and ends with it',
  { timeout: LONG },
  async () => {
    const service = await start(true);
    try {
      expect(await listChains(service)).toEqual([]);
      const added = await addedUrls.add(CHAIN, chain.url);
      if (typeof added === 'string') throw new Error(added);
      await expect
        .poll(async () => (await listChains(service)).map(({ id }) => id), { timeout: 5_000 })
        .toEqual([CHAIN]);
      await expect
        .poll(async () => (await listChains(service))[0]?.providers[0]?.state, SOON)
        .toBe('good');
      await expect.poll(() => stateOf(CHAIN), SOON).toBe('held');
      await addedUrls.remove('node', added.id);
      await expect.poll(() => stateOf(CHAIN), SOON).toBe('free');
    } finally {
      await service.stop();
    }
  },
);

test(
  'a node is added to a configured chain, and other chains are not interrupted',
  { timeout: LONG },
  async () => {
    const service = await start(true, [CHAIN, OTHER_CHAIN]);
    try {
      await expect.poll(() => taken, SOON).toContain(OTHER_CHAIN);
      taken = [];
      const added = await addedUrls.add(CHAIN, chain.wsUrl);
      if (typeof added === 'string') throw new Error(added);
      const nodesOf = async () =>
        (await listChains(service)).find(({ id }) => id === CHAIN)?.providers ?? [];
      await expect
        .poll(async () => (await nodesOf()).map(({ state }) => state), SOON)
        .toEqual(['good', 'good']);
      await expect.poll(() => taken, SOON).toContain(CHAIN);
      await addedUrls.remove('node', added.id);
      await expect.poll(async () => (await nodesOf()).length, SOON).toBe(1);
      expect(taken).not.toContain(OTHER_CHAIN);
    } finally {
      await service.stop();
    }
  },
);

test.each(['HTTP', 'WebSocket'])(
  'an added node in a private network is not reached without the allow list: %s',
  { timeout: LONG },
  async (transport) => {
    const service = await start(false);
    const added = await addedUrls.add(CHAIN, transport === 'HTTP' ? chain.url : chain.wsUrl);
    if (typeof added === 'string') throw new Error(added);
    try {
      await expect
        .poll(async () => (await listChains(service))[0]?.providers[0]?.state, SOON)
        .toBe('down');
      expect((await listChains(service))[0]?.head).toBeNull();
    } finally {
      await addedUrls.remove('node', added.id);
      await service.stop();
    }
  },
);

test('an added receiver gets alerts until it is removed', { timeout: LONG }, async () => {
  const service = await start(true);
  const failStream = async (): Promise<string> => {
    const { id } = await createClient({ apiKey: API_KEY, baseUrl: service.url }).streams.create({
      webhookUrl: `${sink.url}/hook`,
      description: '',
      tag: 'orders',
      chainIds: ['0x1'],
    });
    await store.failStream(id, 'HTTP 410');
    return id;
  };
  const addReceiver = async (path: string): Promise<string> => {
    const added = await addedUrls.add(null, sink.url + path);
    if (typeof added === 'string') throw new Error(added);
    return added.id;
  };
  const alertsTo = (to: string): string =>
    sink.requests
      .filter(({ path }) => path === to)
      .map(({ headers, body }) =>
        JSON.stringify(unwrapAlert({ headers, body, secret: 'secret' }).alert),
      )
      .join('\n');
  try {
    const first = await failStream();
    const [removed, kept] = [await addReceiver('/removed'), await addReceiver('/kept')];
    for (const path of ['/removed', '/kept']) {
      await expect.poll(() => alertsTo(path), SOON).toContain(first);
    }
    await addedUrls.remove('alert', removed);
    await expect.poll(() => store.listAlerts(removed), SOON).toEqual([]);
    // If the notifier of the removed URL still ran, it would send these alerts, too.
    for (let n = 0; n < 3; n++) {
      const next = await failStream();
      await expect.poll(() => alertsTo('/kept'), SOON).toContain(next);
      expect(alertsTo('/removed')).not.toContain(next);
    }
    expect(await store.listAlerts(removed)).toEqual([]);
    await addedUrls.remove('alert', kept);
    await expect.poll(() => stateOf('added alerts'), SOON).toBe('free');
  } finally {
    await service.stop();
  }
});
