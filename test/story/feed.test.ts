/** Tests feeds: streams of both chain families whose webhooks consumers read, on SQLite. */
import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { createClient, unwrap } from '@sluice/kit';
import { CALLS } from '@sluice/kit/calls';
import { FEED_URL, type FeedPage } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { scriptedAptos, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET } from '../serve.ts';
import { type BothChains, CHAIN, startBothChains } from './bothChains.ts';

const BOB = `0x${(0xb0b).toString(16).padStart(64, '0')}` as const;
const ALICE = `0x${(0xa11ce).toString(16).padStart(64, '0')}` as const;

let world: BothChains;
beforeAll(async () => {
  world = await startBothChains();
}, 60_000);
afterAll(() => world?.stop());

const newFeed = async (tag: string, changes: object = {}): Promise<{ id: string; to: string }> => {
  const { client, anvil } = world;
  const { id } = await client.streams.create({
    webhookUrl: FEED_URL,
    description: '',
    tag,
    chainIds: [CHAIN],
    includeNativeTxs: true,
    ...changes,
  });
  const to = `0x${(0xfeed_0000 + (feeds += 1)).toString(16).padStart(40, '0')}`;
  await client.streams.addAddress(id, to);
  // The address is watched from the next block on.
  await anvil.request('evm_mine', []);
  return { id, to };
};
let feeds = 0;

/** Mines a block with a transfer for each address. */
const pay = async (...addresses: string[]): Promise<void> => {
  const { anvil } = world;
  for (const to of addresses) {
    await anvil.request('eth_sendTransaction', [
      { from: anvil.accounts[0]!.address, to, value: '0x1' },
    ]);
  }
};

/** Reads a feed until it has this many deliveries. */
const readUntil = async (
  id: string,
  count: number,
  query: Parameters<BothChains['sluice']['readFeed']>[1] = { consumer: 'billing' },
): Promise<FeedPage['deliveries']> => {
  const found: FeedPage['deliveries'] = [];
  while (found.length < count) {
    const page = await world.sluice.readFeed(id, { waitMs: 20_000, ...query });
    CALLS.readFeed.response.parse(page);
    if (page.deliveries.length === 0) throw new Error(`only ${found.length} of ${count}`);
    found.push(...page.deliveries);
  }
  return found;
};

/** Waits until this number of reads wait. */
const untilWaiting = (count: number) =>
  until(
    `${count} reads wait`,
    async () => {
      const metrics = await fetch(`${world.url}/metrics`, { headers: { 'x-api-key': API_KEY } });
      return (await metrics.text()).includes(`\nsluice_feed_reads_waiting ${count}\n`);
    },
    // Less than the longest wait of a read.
    15_000,
  );

/** Calls the service without the client. */
const fetchFeed = (path: string) =>
  fetch(`${world.url}/sluice/streams/${path}`, { headers: { 'x-api-key': API_KEY } });

test('a waiting consumer gets each webhook of a block, signed, and acknowledges it', async () => {
  const { sluice } = world;
  const { id, to } = await newFeed('waits', { headers: { 'x-tenant': '7' } });
  const waiting = sluice.readFeed(id, { consumer: 'billing', waitMs: 20_000, leaseMs: 3_600_000 });
  await untilWaiting(1);
  await pay(to);
  const page = await waiting;
  CALLS.readFeed.response.parse(page);
  const [first] = page.deliveries;
  expect(page).toMatchObject({ deliveries: [{ position: 1 }], nextPosition: 1 });
  expect(page.leaseEndsAt! - Date.now()).toBeGreaterThan(3_500_000);
  expect(first!.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': first!.id,
    'x-sluice-origin': 'live',
    'x-tenant': '7',
  });
  for (const header of ['user-agent', 'accept-encoding']) {
    expect(first!.headers).not.toHaveProperty(header);
  }
  const { body, headers } = first!;
  const received = unwrap({ body, headers, secret: SECRET });
  expect(received.webhook).toMatchObject({ streamId: id, confirmed: false, retries: 0 });
  expect(received.webhook.txs).toMatchObject([{ toAddress: to }]);
  const stored = await fetchFeed(`../deliveries/${first!.id}/body`);
  expect(await stored.text()).toBe(body);

  await world.anvil.request('anvil_mine', ['0x3']);
  const [second] = await readUntil(id, 1);
  expect(unwrap({ ...second!, secret: SECRET }).webhook).toMatchObject({ confirmed: true });
  expect(
    await sluice.acknowledgeFeed(id, { consumer: 'billing', ids: [first!.id, second!.id] }),
  ).toEqual({ acknowledged: 2, position: 2 });
  expect(await sluice.listFeedConsumers(id)).toMatchObject([
    { name: 'billing', position: 2, unread: 0, leased: 0, missed: 0, oldestAt: null },
  ]);
  // In the history, both are delivered, without an HTTP status.
  const { result } = await sluice.listDeliveries({ streamId: id });
  expect(result.map(({ state, status }) => [state, status])).toEqual([
    ['succeeded', null],
    ['succeeded', null],
  ]);
});

test('what a reader releases is for the next one at once', async () => {
  const { sluice } = world;
  const { id, to } = await newFeed('released');
  await pay(to);
  const query = { consumer: 'billing', waitMs: 20_000, leaseMs: 3_600_000 };
  const page = await sluice.readFeed(id, query);
  const release = (leaseEndsAt: number) =>
    sluice.releaseFeed(id, {
      consumer: 'billing',
      leaseEndsAt,
      positions: page.deliveries.map(({ position }) => position),
    });
  expect(await release(page.leaseEndsAt! + 1)).toEqual({ released: 0 });
  const waiting = sluice.readFeed(id, query);
  await untilWaiting(1);
  expect(await release(page.leaseEndsAt!)).toEqual({ released: page.deliveries.length });
  expect((await waiting).deliveries.map((each) => each.id)).toEqual(
    page.deliveries.map((each) => each.id),
  );
  await expect(
    sluice.releaseFeed(id, { consumer: 'unknown', leaseEndsAt: 1, positions: [1] }),
  ).rejects.toThrow('Consumer');
});

test('an Aptos stream is read in the same way', async () => {
  const { client, aptos } = world;
  const { id } = await client.streams.create({
    networkType: 'aptos',
    webhookUrl: FEED_URL,
    description: '',
    tag: 'aptos',
    network: ['local'],
  });
  await client.streams.addAddress(id, BOB, { networkType: 'aptos' });
  aptos.mine({
    transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 5n })],
  });
  const [delivery] = await readUntil(id, 1);
  const { body, headers } = delivery!;
  const received = unwrap({ body, headers, secret: SECRET, family: 'aptos' });
  expect(received.webhook).toMatchObject({ streamId: id, coinDeposits: [{ address: BOB }] });
});

test('readers of a consumer share its deliveries, and each reader of the mode `each` gets all', async () => {
  const { sluice } = world;
  const { id, to } = await newFeed('shared', { deliver: 'confirmed' });
  const start = await sluice.readFeed(id, { mode: 'each' });
  expect(start).toEqual({
    deliveries: [],
    nextPosition: 0,
    newestPosition: 0,
    leaseEndsAt: null,
  });
  const shared = [1, 2, 3].map(() =>
    sluice.readFeed(id, { consumer: 'shared', limit: 1, waitMs: 20_000 }),
  );
  const each = [1, 2].map(() =>
    sluice.readFeed(id, { mode: 'each', after: start.nextPosition, waitMs: 20_000 }),
  );
  for (let n = 0; n < 3; n++) await pay(to);
  await world.anvil.request('anvil_mine', ['0x3']);
  const pages = await Promise.all(shared);
  const positions = pages.map(({ deliveries }) => deliveries[0]!.position);
  expect(new Set(positions)).toEqual(new Set([1, 2, 3]));
  for (const { deliveries } of await Promise.all(each)) {
    expect(deliveries[0]!.position).toBe(1);
  }
  const all = await sluice.readFeed(id, { mode: 'each', after: 0 });
  expect(all.deliveries.map(({ position }) => position)).toEqual([1, 2, 3]);
  expect(all.nextPosition).toBe(3);
  // Without a position, reading starts at the position of the consumer, and leases nothing.
  await sluice.acknowledgeFeed(id, { consumer: 'shared', upTo: 2 });
  for (let n = 0; n < 2; n++) {
    const rest = await sluice.readFeed(id, { mode: 'each', consumer: 'shared' });
    expect(rest.deliveries.map(({ position }) => position)).toEqual([3]);
  }
});

test('what is not acknowledged in time is returned again, to a reader that waits', async () => {
  const { sluice } = world;
  const { id, to } = await newFeed('again', { deliver: 'confirmed' });
  await pay(to);
  await world.anvil.request('anvil_mine', ['0x3']);
  const [first] = await readUntil(id, 1, { consumer: 'a', leaseMs: 1_000 });
  const [again] = await readUntil(id, 1, { consumer: 'a' });
  expect([again!.id, again!.position, again!.body]).toEqual([first!.id, 1, first!.body]);
  await sluice.resetFeedConsumer(id, 'a', { to: 'start' });
  const [third] = await readUntil(id, 1, { consumer: 'a' });
  expect(third!.id).toBe(first!.id);
  expect(await sluice.resetFeedConsumer(id, 'a', { to: 'end' })).toMatchObject({ position: 1 });
  const block = (JSON.parse(first!.body) as { block: { number: string } }).block.number;
  const to2 = { chainId: CHAIN, block: Number(block) };
  expect(await sluice.resetFeedConsumer(id, 'a', { to: to2 })).toMatchObject({ position: 0 });
  await sluice.deleteFeedConsumer(id, 'a');
  expect(await sluice.listFeedConsumers(id)).toEqual([]);
});

test('invalid calls are refused with the reason', async () => {
  const { client, sluice } = world;
  const { id } = await newFeed('refused');
  const sends = await client.streams.create({
    webhookUrl: 'sluice://inbox/other',
    description: '',
    tag: 'sends',
    chainIds: [CHAIN],
  });
  for (const [path, status, text] of [
    [`${id}/feed`, 422, 'should be the name of the consumer'],
    [`${id}/feed?consumer=A%20b`, 422, 'should be 1 to 63 lowercase letters'],
    [`${id}/feed?consumer=a&after=3`, 422, 'only the mode each'],
    [`${id}/feed?consumer=a&mode=all`, 422, 'should be share or each'],
    [`${id}/feed?consumer=a&waitMs=25001`, 422, 'should be a whole number from 0 to 25000'],
    [`${id}/feed?mode=each&after=1`, 409, 'Position 1 is after the newest of the feed, 0'],
    [`${sends.id}/feed?consumer=a`, 409, `set its webhookUrl to ${FEED_URL}`],
    [`${crypto.randomUUID()}/feed?consumer=a`, 404, 'Stream'],
  ] as const) {
    const response = await fetchFeed(path);
    expect([response.status, path]).toEqual([status, path]);
    expect(await response.text()).toContain(text);
  }
  await expect(sluice.acknowledgeFeed(id, { consumer: 'a', upTo: 1 })).rejects.toMatchObject({
    status: 404,
  });
  await expect(sluice.deleteFeedConsumer(id, 'a')).rejects.toMatchObject({ status: 404 });
  await expect(
    sluice.acknowledgeFeed(id, { consumer: 'a', upTo: 1, positions: [1] }),
  ).rejects.toMatchObject({ status: 422 });
  const { key } = await sluice.createApiKey({ name: 'history', scopes: ['history:read'] });
  const other = createSluiceClient({ apiKey: key, baseUrl: world.url });
  await expect(other.readFeed(id, { consumer: 'a' })).rejects.toMatchObject({ status: 403 });
  const feedKey = await sluice.createApiKey({ name: 'feed', scopes: ['feed:read'] });
  const reader = createSluiceClient({ apiKey: feedKey.key, baseUrl: world.url });
  expect((await reader.readFeed(id, { consumer: 'a' })).deliveries).toEqual([]);
  await expect(
    createClient({ apiKey: feedKey.key, baseUrl: world.url }).streams.delete(id),
  ).rejects.toMatchObject({ status: 403 });
});

test('a HEAD request leases nothing, a large page is compressed, and lag is in health and metrics', async () => {
  const { id, to } = await newFeed('large', { deliver: 'confirmed' });
  for (let n = 0; n < 4; n++) await pay(to);
  await world.anvil.request('anvil_mine', ['0x3']);
  await until('all have a position', async () => {
    const { newestPosition } = await world.sluice.readFeed(id, { mode: 'each' });
    return newestPosition === 4;
  });
  await world.sluice.resetFeedConsumer(id, 'a', { to: 'start' });
  const path = `${world.url}/sluice/streams/${id}/feed?consumer=a`;
  const head = await fetch(path, { method: 'HEAD', headers: { 'x-api-key': API_KEY } });
  expect(head.status).toBe(200);
  const read = await fetch(`${world.url}/metrics`, { headers: { 'x-api-key': API_KEY } });
  expect(await read.text()).toContain(
    `sluice_feed_unread{stream="${id}",destination="0",consumer="a"} 4\n`,
  );
  const { feeds: totals } = (await (await fetch(`${world.url}/health`)).json()) as {
    feeds: { consumers: number; unread: number };
  };
  expect(totals.consumers).toBeGreaterThan(0);
  expect(totals.unread).toBeGreaterThanOrEqual(4);
  const packed = await new Promise<Buffer>((resolve, reject) => {
    const headers = { 'x-api-key': API_KEY, 'accept-encoding': 'gzip' };
    request(path, { headers }, (response) => {
      expect(response.headers['content-encoding']).toBe('gzip');
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks)));
    })
      .on('error', reject)
      .end();
  });
  const page = JSON.parse(gunzipSync(packed).toString()) as FeedPage;
  expect(page.deliveries).toHaveLength(4);
});

test('a revoked key ends its waiting reads, and a reader that leaves does not take a delivery', async () => {
  const { sluice } = world;
  const { id, to } = await newFeed('leaves', { deliver: 'confirmed' });
  const { key, id: keyId } = await sluice.createApiKey({ name: 'gone', scopes: ['feed:read'] });
  const gone = createSluiceClient({ apiKey: key, baseUrl: world.url, maxRetries: 0 });
  const ended = gone.readFeed(id, { consumer: 'a', waitMs: 25_000 });
  const leaving = new AbortController();
  const left = sluice
    .readFeed(id, { consumer: 'a', waitMs: 25_000 }, { signal: leaving.signal })
    .catch(() => 'left');
  await untilWaiting(2);
  leaving.abort();
  expect(await left).toBe('left');
  await untilWaiting(1);
  await sluice.revokeApiKey(keyId);
  await untilWaiting(0);
  expect(await ended.then((page) => page.deliveries)).toEqual([]);
  await pay(to);
  await world.anvil.request('anvil_mine', ['0x3']);
  expect(await readUntil(id, 1, { consumer: 'a' })).toHaveLength(1);
});
