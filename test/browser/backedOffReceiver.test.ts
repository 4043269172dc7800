/** Tests that the console shows a backed-off receiver, and that a manual retry ends the backoff. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { startService } from '@sluice/service';
import {
  devAccounts,
  scripted,
  startScriptedChain,
  startWebhookSink,
  until,
  type WebhookSink,
} from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  expectAccessible,
  expectContrast,
  expectNoSidewaysScroll,
  PHONE,
  startVisitor,
  type Visitor,
} from './visitor.ts';
import { buildConsole } from './world.ts';

const API_KEY = 'browser_test_key_0123456789';
const CHAIN_ID = '0x7a69';

let visitor: Visitor;
let sluice: SluiceClient;
let sink: WebhookSink;
let streamId: string;
let url: string;
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  const consoleFolder = await buildConsole();
  const chain = await startScriptedChain();
  sink = await startWebhookSink();
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-spared-'));
  stops.push(() => rm(dataFolder, { recursive: true }), sink.close, chain.stop);
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    data: dataFolder,
    apiKey: API_KEY,
    consoleFolder,
    chains: [{ id: CHAIN_ID, urls: [chain.url], pollMs: 50 }],
    aptos: [],
    allowPrivateEndpoints: true,
    fastRetry: false,
    schedule: [1],
  });
  stops.push(service.stop);
  url = service.url;
  sluice = createSluiceClient({ baseUrl: url, apiKey: API_KEY });
  const { streams } = createClient({ baseUrl: url, apiKey: API_KEY });
  const { id } = await streams.create({
    webhookUrl: sink.url,
    description: '',
    tag: 'backOff',
    chainIds: [CHAIN_ID],
    topic0: ['Transfer(address,address,uint256)'],
    allAddresses: true,
    includeContractLogs: true,
  });
  streamId = id;
  sink.respond(503);
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
  const [owner, other] = devAccounts;
  const token = '0x00000000000000000000000000000000000000aa';
  const transfer = { token, from: owner!.address, to: other!.address, value: 5n } as const;
  for (let n = 0; n < 12; n++) chain.mine({ transactions: [scripted.erc20Transfer(transfer)] });
  visitor = await startVisitor({ url, apiKey: API_KEY });
});

afterAll(async () => {
  await visitor?.stop();
  for (const stop of stops.toReversed()) await stop();
});

afterEach(() => visitor.leave());

const WORDS =
  /sending is paused for \d+[sm], until \d\d:\d\d:\d\d, then one delivery is sent as a probe/;

test('list, stream and waiting delivery show the backoff; a manual retry ends it', async () => {
  // Each failed retry makes the backoff longer. The backoff must outlast this test on a slow
  // machine.
  for (const leftMs of [0, 30_000, 60_000]) {
    const backOff = await until('the receiver is backed off', async () => {
      const [stream] = await sluice.listStreamSummaries();
      return stream!.backOff !== null && stream!.backOff.until - Date.now() > leftMs
        ? stream!.backOff
        : undefined;
    });
    expect(backOff.reason).toBe('failures');
    if (leftMs === 60_000) break;
    const { result } = await sluice.listDeliveries({ streamId, state: 'pending', limit: 1 });
    const { history } = createClient({ baseUrl: url, apiKey: API_KEY });
    await history.replay({ id: result[0]!.id, streamId });
  }
  const page = await visitor.signedIn('/', PHONE);
  await page.getByText(WORDS).waitFor();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);

  await page.goto(`${url}/console/streams/${streamId}`);
  await page.getByRole('banner').or(page.locator('header')).getByText(WORDS).first().waitFor();

  const untried = await until('an untried delivery waits', async () => {
    const { result } = await sluice.listDeliveries({ streamId, state: 'pending' });
    return result[0];
  });
  await page.goto(`${url}/console/deliveries/${untried.id}`);
  await page.getByText('receiver backed off').waitFor();
  await page.getByText(WORDS).waitFor();
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await expectContrast(page);

  sink.respond(200);
  await page.getByRole('button', { name: 'Probe now' }).click();
  await page.getByText('receiver backed off').waitFor({ state: 'detached' });
  await page.getByText('delivered', { exact: true }).first().waitFor();
  await page.goto(`${url}/console/`);
  await page.getByText('active', { exact: true }).first().waitFor();
  expect(await page.getByText(WORDS).count()).toBe(0);
});
