/** Aptos, from a fullnode's REST API to a receiver, through the service as a process of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import type { AptosWebhook } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type RunningScriptedAptos,
  type WebhookSink,
  scriptedAptos,
  startScriptedAptos,
  startWebhookSink,
} from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, type Served, serve, until } from '../serve.ts';

const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(64, '0')}`;
const ALICE = account(0xa11ce);
const BOB = account(0xb0b);

const folder = mkdtempSync(join(tmpdir(), 'sluice-aptos-'));
let node: RunningScriptedAptos;
let sink: WebhookSink;
let served: Served;
let client: Client;
let sluice: SluiceClient;

beforeAll(async () => {
  node = await startScriptedAptos();
  node.mineMany(5);
  sink = await startWebhookSink();
  served = await serve(['--data', folder, '--aptos', `local=${node.url},poll=50`]);
  client = createClient({ apiKey: API_KEY, baseUrl: served.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
}, 60_000);
afterAll(async () => {
  await served?.stop();
  await sink?.close();
  await node?.stop();
  rmSync(folder, { recursive: true });
});

const bodiesOf = (streamId: string): AptosWebhook[] =>
  sink.requests
    .map(({ body }) => JSON.parse(body) as AptosWebhook)
    .filter((body) => body.streamId === streamId);

describe('a wallet stream', () => {
  test('hears of a fungible asset that came to its address, once, with name and amount', async () => {
    const stream = await client.streams.create({
      networkType: 'aptos',
      webhookUrl: `${sink.url}/wallet`,
      description: '',
      tag: 'wallet',
      network: ['local'],
    });
    await client.streams.addAddress(stream.id, '0xb0b', { networkType: 'aptos' });
    node.mine({ transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 150_000_000n })] });
    const [body] = await until('it is delivered', () => {
      const found = bodiesOf(stream.id);
      return found.length > 0 && found;
    });
    expect(body).toMatchObject({
      streamId: stream.id,
      tag: 'wallet',
      network: 'local',
      retries: 0,
      coinDeposits: [
        {
          address: BOB,
          value: '150000000',
          valueWithDecimals: 1.5,
          coin: { name: 'Aptos Coin', symbol: 'APT', decimals: 8, type: account(0xa) },
        },
      ],
    });
  });
});
