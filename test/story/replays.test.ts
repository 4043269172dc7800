/**
 * Tests replays of many deliveries: their estimate, their rate, a kill and a cancellation. Also
 * tests a delivery that is stopped manually, and that no list shows the login or the token in the
 * webhook URL.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, type WebhookSink, startAnvil, startWebhookSink, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const BLOCKS = 12;
const LOGIN = 'merchant:pass-7f3a';
const TOKEN = 'token-91cc';
const folder = mkdtempSync(join(tmpdir(), 'sluice-replays-'));
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;
let sluice: SluiceClient;
let streamId: string;
let webhookUrl: string;

const start = async (): Promise<void> => {
  const args = ['--data', join(folder, 'data'), '--chain', `0x7a69=${anvil.url},poll=50`];
  service = await serve([...args, '--no-fast-retry']);
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
};

beforeAll(async () => {
  anvil = await startAnvil();
  sink = await startWebhookSink();
  await start();
  const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  webhookUrl = `${sink.url.replace('//', `//${LOGIN}@`)}/hook?key=${TOKEN}`;
  const stream = await client.streams.create({
    webhookUrl,
    description: 'transfers',
    tag: 'replays',
    chainIds: ['0x7a69'],
    includeNativeTxs: true,
    deliver: 'confirmed',
  });
  streamId = stream.id;
  const to = anvil.accounts[5]!.address;
  await client.streams.addAddress(streamId, to);
  // These are too few consecutive failures to change the state of the stream or its circuit
  // breaker.
  sink.respond([404, 404, 404, 404, 404, 404, 200]);
  for (let n = 0; n < BLOCKS; n++) {
    await anvil.request('eth_sendTransaction', [{ from: anvil.accounts[0]!.address, to }]);
  }
  await anvil.request('anvil_mine', ['0x3']);
  await until('every delivery has an attempt', async () => {
    const { result } = await sluice.listDeliveries({ streamId, attemptsFrom: 1 });
    return result.length === BLOCKS;
  });
  sink.respond(200);
});
afterAll(async () => {
  await service?.stop();
  await sink?.close();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

test('a waiting delivery is stopped by hand, listed as a dead letter, and replayed', async () => {
  const [waiting] = (await sluice.listDeliveries({ streamId, state: 'retrying' })).result;
  // The first wait of the standard schedule has begun, so all later waits remain.
  const { remainingWaitsMs } = await sluice.getDelivery(waiting!.id);
  expect(remainingWaitsMs).toEqual(
    [10, 60, 120, 360, 720, 1_440].map((minutes) => minutes * 60_000),
  );
  const stopped = await sluice.stopDelivery(waiting!.id);
  expect(stopped).toMatchObject({ state: 'failed', nextAttemptAt: null });
  expect(stopped.error).toMatch(/^stopped by hand/);
  await expect(sluice.stopDelivery(waiting!.id)).rejects.toMatchObject({ code: 'conflict' });
  const dead = await sluice.listDeliveries({ streamId, state: ['failed', 'quarantined'] });
  expect(dead.result.map((each) => each.id)).toEqual([waiting!.id]);
});

test('a waiting delivery has the remaining waits of its stream', async () => {
  const { streams } = createClient({ apiKey: API_KEY, baseUrl: service.url });
  const [waiting] = (await sluice.listDeliveries({ streamId, state: 'retrying' })).result;
  await streams.update(streamId, { retries: [30, 600] });
  expect((await sluice.getDelivery(waiting!.id)).remainingWaitsMs).toEqual([600_000]);
  const weeks = Array.from({ length: 5 }, () => 7 * 86_400);
  await expect(streams.update(streamId, { retries: weeks })).rejects.toThrow(
    'should have waits of less than 2592000 seconds together',
  );
  // Without the time that is added at random, these waits would be short enough.
  const almost = [...weeks.slice(1), 86_400];
  await expect(streams.update(streamId, { retries: almost })).rejects.toThrow('10%');
  expect(await streams.update(streamId, { retries: 'standard' })).toMatchObject({
    retries: 'standard',
    timeoutSeconds: null,
  });
});

test('a replay is estimated, keeps its rate, and resumes after a kill', async () => {
  const filter = { streamId, status: '4xx' };
  const { deliveries, bytes, isCapped } = await sluice.estimateReplay(filter);
  expect(deliveries).toBe(6);
  expect(bytes).toBeGreaterThan(1_000);
  expect(isCapped).toBe(false);
  const before = sink.requests.length;
  const replay = await sluice.createReplay({ name: 'after the fix', filter, perSecond: 1 });
  expect(replay).toMatchObject({ name: 'after the fix', state: 'running', total: 6, perSecond: 1 });
  await until('two deliveries are replayed', () => sink.requests.length >= before + 2);
  expect((await sluice.getReplay(replay.id)).state).toBe('running');
  await service.kill();
  await start();
  const done = await until('the replay is done and delivered', async () => {
    const { state, succeeded, ...rest } = await sluice.getReplay(replay.id);
    return state === 'done' && succeeded === 6 && { ...rest, succeeded };
  });
  expect(done).toMatchObject({ replayed: 6, failed: 0, waiting: 0 });
  expect((await sluice.listReplays()).map((each) => each.id)).toEqual([replay.id]);
  const again = sink.requests.slice(before).map((request) => request.receivedAt);
  expect(again.length).toBeGreaterThanOrEqual(6);
  // The replay sends one delivery per second, so the last one comes five seconds after the first.
  expect(Math.max(...again) - Math.min(...again)).toBeGreaterThan(4_000);
  expect((await sluice.listDeliveries({ streamId, state: 'succeeded' })).result).toHaveLength(
    BLOCKS,
  );
  await expect(sluice.cancelReplay(replay.id)).rejects.toMatchObject({ code: 'conflict' });
});

test('a replay of a time range stops once it is canceled', async () => {
  const { result } = await sluice.listDeliveries({ streamId });
  const times = result.map((each) => each.createdAt);
  const filter = { createdFrom: Math.min(...times), createdTo: Math.max(...times) + 1_000 };
  const replay = await sluice.createReplay({ name: 'all', filter, perSecond: 1 });
  await until(
    'one delivery is replayed',
    async () => (await sluice.getReplay(replay.id)).replayed > 0,
  );
  const canceled = await sluice.cancelReplay(replay.id);
  expect(canceled.state).toBe('cancelled');
  expect(await sluice.cancelReplay(replay.id)).toMatchObject({ id: replay.id });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { replayed, succeeded } = await sluice.getReplay(replay.id);
  expect(replayed).toBe(canceled.replayed);
  expect(replayed).toBeLessThan(BLOCKS);
  expect(succeeded).toBe(replayed);
});

test('a replay by id sends only those deliveries', async () => {
  const { result } = await sluice.listDeliveries({ streamId });
  const id = [result[1]!.id, result[3]!.id];
  expect(await sluice.estimateReplay({ id })).toMatchObject({ deliveries: 2 });
  const before = sink.requests.length;
  const replay = await sluice.createReplay({ name: 'two', filter: { id }, perSecond: 50 });
  await until('both webhooks arrive', async () => {
    return (await sluice.getReplay(replay.id)).succeeded === 2;
  });
  const sent = sink.requests.slice(before).map(({ headers }) => headers['webhook-id']);
  expect(new Set(sent)).toEqual(new Set(id));
  expect(sent).toHaveLength(2);
  expect((await sluice.listReplays())[0]?.filter).toEqual({ id });
});

test('only the stream itself shows the login and token of its URL', async () => {
  const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  expect(sink.requests.at(-1)).toMatchObject({
    path: '/hook',
    headers: { authorization: `Basic ${Buffer.from(LOGIN).toString('base64')}` },
  });
  expect((await client.streams.get(streamId)).webhookUrl).toBe(webhookUrl);

  const shown = `${sink.url.replace('//', '//***@')}/hook?key=***`;
  // Makes a delivery fail, because the history should contain a failed one.
  sink.respond(404);
  const [again] = (await sluice.listDeliveries({ streamId })).result;
  await client.history.replay({ id: again!.id, streamId });
  const failed = await until('the delivery has failed', async () => {
    const detail = await sluice.getDelivery(again!.id);
    return detail.status === 404 && detail;
  });
  expect(failed.webhookUrl).toBe(shown);
  for (const attempt of failed.attemptList) expect(attempt.webhookUrl).toBe(shown);
  const refused = await client.streams
    .update(streamId, { webhookUrl: `${webhookUrl}&more=${TOKEN}` })
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({
    message: expect.stringContaining(`Could not POST to ${shown}&more=***.`) as string,
  });
  sink.respond(200);
  const places: Record<string, unknown> = {
    summaries: await sluice.listStreamSummaries(),
    deliveries: await sluice.listDeliveries({ streamId }),
    history: await client.history.list({ limit: 100 }),
    logs: await client.history.logs({ limit: 100 }),
    audit: await sluice.listAudit({ limit: 100 }),
    refused: JSON.stringify(refused, Object.getOwnPropertyNames(refused)),
    log: service.output(),
  };
  for (const [place, value] of Object.entries(places)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    expect(text.length, place).toBeGreaterThan(20);
    for (const secret of [LOGIN, TOKEN]) expect(text, place).not.toContain(secret);
  }
  for (const place of ['summaries', 'history', 'logs']) {
    expect(JSON.stringify(places[place]), place).toContain(shown);
  }
  for (const name of readdirSync(join(folder, 'data'))) {
    expect(readFileSync(join(folder, 'data', name), 'latin1'), name).not.toContain(LOGIN);
  }
});

test('a replay requires a filter', async () => {
  await expect(sluice.estimateReplay({})).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(
    sluice.createReplay({
      name: '',
      filter: { status: 'bad', state: [], id: Array.from({ length: 501 }, () => streamId) },
      perSecond: 0,
    }),
  ).rejects.toMatchObject({
    details: {
      'requestBody.filter.state': { message: 'should name at least one' },
      'requestBody.filter.id': { message: 'should name at most 500' },
      'requestBody.name': { message: 'should not be empty' },
      'requestBody.filter.status.0': { message: expect.stringMatching(/^should be a status/) },
      'requestBody.perSecond': { message: 'should be at least 0.1' },
    },
  });
});
