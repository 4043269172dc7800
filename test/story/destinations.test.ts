/** Tests additional destinations of streams over HTTP: deliveries, calls, feeds and their limits. */
import { unwrap } from '@sluice/kit';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BothChains, CHAIN, startBothChains } from './bothChains.ts';

let world: BothChains;
beforeAll(async () => {
  world = await startBothChains();
}, 60_000);
afterAll(() => world?.stop());

let streams = 0;
const newStream = async (tag: string): Promise<{ id: string; to: string }> => {
  const { client, anvil, sink } = world;
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/${tag}`,
    description: '',
    tag,
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });
  const to = `0x${(0xde57_0000 + (streams += 1)).toString(16).padStart(40, '0')}`;
  await client.streams.addAddress(id, to);
  // The address is watched from the next block on.
  await anvil.request('evm_mine', []);
  return { id, to };
};

/** Mines a block with a transfer to the address. */
const pay = (to: string) =>
  world.anvil.request('eth_sendTransaction', [
    { from: world.anvil.accounts[0]!.address, to, value: '0x1' },
  ]);

const deliveriesOf = async (id: string, destination?: number) =>
  (await world.sluice.listDeliveries({ streamId: id, destination, phase: 'unconfirmed' })).result;

test('a failing destination delays no other, and each has its own webhook-id', async () => {
  const { sink, sluice, client } = world;
  const { id, to } = await newStream('split');
  const { destination } = await sluice.addDestination(id, { webhookUrl: `${sink.url}/second` });
  sink.respond(500, { path: '/split' });
  await pay(to);
  const own = await sink.waitFor(({ path, body }) => path === '/split' && body.includes(to));
  const other = await sink.waitFor(({ path, body }) => path === '/second' && body.includes(to));
  const { secret } = await sluice.getStreamSecret(id);
  const { webhook } = unwrap({ ...other, secret });
  expect(webhook.streamId).toBe(id);
  expect(other.id).not.toBe(own.id);
  await until('the second destination is done', async () => {
    const [delivery] = await deliveriesOf(id, destination);
    return delivery?.state === 'succeeded';
  });
  expect(await deliveriesOf(id, 0)).toMatchObject([{ state: 'retrying', streamId: id }]);
  const numbers = (await deliveriesOf(id)).map((each) => each.destination);
  expect(new Set(numbers)).toEqual(new Set([undefined, destination]));
  const summary = (await sluice.listStreamSummaries()).find((each) => each.id === id)!;
  expect(summary.queue).toBe(1);
  expect(summary.destinations).toMatchObject([
    { destination, webhookUrl: `${sink.url}/second`, status: 'active', queue: 0, backOff: null },
  ]);
  expect(summary.destinations[0]!.lastDeliveryAt).toBeGreaterThan(0);
  const detail = await sluice.getDelivery(other.id);
  expect(detail).toMatchObject({ destination, webhookUrl: `${sink.url}/second`, streamId: id });
  // The compatible API is about the URL of the stream.
  const logs = await client.history.logs({ streamId: id });
  expect(logs.result.map(({ webhookUrl }) => webhookUrl)).toEqual([`${sink.url}/split`]);
  const { streams: explained } = await sluice.explain(other.id);
  const reasons = explained
    .find(({ streamId }) => streamId === id)!
    .stages.map((each) => each.message);
  expect(reasons).toContain(`unconfirmed to destination ${destination}: delivered after 1 attempt`);
  sink.respond(200, { path: '/split' });
});

test('destinations are changed, limited and removed', async () => {
  const { sink, sluice, client } = world;
  const { id, to } = await newStream('managed');
  const add = () =>
    sluice.addDestination(id, { webhookUrl: `${sink.url}/more`, headers: { a: 'b' } });
  const added = [await add(), await add(), await add(), await add()];
  expect(added.map(({ destination }) => destination)).toEqual([1, 2, 3, 4]);
  await expect(add()).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('already has 5 destinations'),
  });
  const changed = await sluice.updateDestination(id, 1, { strictOrder: true });
  expect(changed).toMatchObject({ strictOrder: true, headers: { a: 'b' }, destination: 1 });
  sink.respond(404, { path: '/refusing' });
  await expect(
    sluice.updateDestination(id, 1, { webhookUrl: `${sink.url}/refusing` }),
  ).rejects.toMatchObject({ code: 'bad_request' });
  await expect(sluice.updateDestination(id, 9, { strictOrder: true })).rejects.toMatchObject({
    code: 'not_found',
  });
  await sluice.removeDestination(id, 2);
  const { result: audit } = await sluice.listAudit({ limit: 3 });
  expect(audit.map(({ action, target }) => [action, target])).toEqual([
    ['removeDestination', `${id}.2`],
    ['updateDestination', `${id}.1`],
    ['addDestination', `${id}.4`],
  ]);
  await client.streams.setStatus(id, 'paused');
  expect(
    (await sluice.listDestinations(id)).map(({ destination, status }) => [destination, status]),
  ).toEqual([1, 3, 4].map((each) => [each, 'paused']));
  await client.streams.setStatus(id, 'active');
  await pay(to);
  await sink.waitFor(
    ({ path, body, headers }) => path === '/more' && body.includes(to) && headers['a'] === 'b',
  );
  await expect(sluice.listDeliveries({ destination: 1 })).rejects.toMatchObject({
    message: expect.stringContaining('streamId'),
  });
});

test('an additional destination is a feed, and is replayed alone', async () => {
  const { sluice } = world;
  const { id, to } = await newStream('read');
  const { destination } = await sluice.addDestination(id, { webhookUrl: 'sluice://feed' });
  await pay(to);
  const page = await sluice.readFeed(id, { consumer: 'billing', destination, waitMs: 20_000 });
  const [delivery] = page.deliveries;
  expect(delivery!.body).toContain(id);
  const { secret } = await sluice.getStreamSecret(id);
  expect(unwrap({ ...delivery!, secret }).id).toBe(delivery!.id);
  await sluice.acknowledgeFeed(id, {
    consumer: 'billing',
    destination,
    positions: [delivery!.position],
  });
  expect(await sluice.listFeedConsumers(id, { destination })).toMatchObject([{ position: 1 }]);
  await expect(sluice.readFeed(id, { consumer: 'billing' })).rejects.toMatchObject({
    code: 'conflict',
  });
  const filter = { streamId: id, destination, state: 'succeeded' as const };
  expect((await sluice.estimateReplay(filter)).deliveries).toBe(1);
});

test('a backfill can name one destination', async () => {
  const { sink, sluice, client, anvil } = world;
  const { id, to } = await newStream('past');
  await pay(to);
  const block = Number(await anvil.request('eth_blockNumber', []));
  const confirmedOf = async (destination: number) =>
    (await sluice.listDeliveries({ streamId: id, destination, phase: 'confirmed' })).result.length;
  for (let n = 0; n < 3; n++) await anvil.request('evm_mine', []);
  await until('the block is confirmed', async () => (await confirmedOf(0)) === 1);
  await sluice.addDestination(id, { webhookUrl: `${sink.url}/late` });
  const job = await client.streams.createHistoricalJob({
    chainId: CHAIN,
    streamId: id,
    blockFrom: block,
    blockTo: block,
    destination: 1,
  });
  expect(job.jobId).toBeDefined();
  await sink.waitFor(({ path, body }) => path === '/late' && body.includes(to));
  expect([await confirmedOf(0), await confirmedOf(1)]).toEqual([1, 1]);
});
