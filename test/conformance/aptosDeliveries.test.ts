/**
 * Tests the unmodified official npm client with Aptos and EVM deliveries of one service. The
 * service's nodes are a scripted fullnode and Anvil.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { APTOS_CHAINS } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type RunningScriptedAptos,
  type WebhookSink,
  scriptedAptos,
  startAnvil,
  startScriptedAptos,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';
import {
  type OfficialAptosStreams,
  type OfficialStreams,
  startOfficialClient,
} from './officialClient.ts';

const APTOS = { networkType: 'aptos' } as const;
const ALICE = `0x${'a11ce'.padStart(64, '0')}` as const;
const BOB = `0x${'b0b'.padStart(64, '0')}` as const;

const folder = mkdtempSync(join(tmpdir(), 'sluice-official-aptos-'));
let anvil: Anvil;
let node: RunningScriptedAptos;
let sink: WebhookSink;
let service: Served;
let streams: OfficialStreams;
let aptos: OfficialAptosStreams;

beforeAll(async () => {
  anvil = await startAnvil();
  // 2 is the chain id of testnet, which the service checks.
  node = await startScriptedAptos({ chainId: 2 });
  sink = await startWebhookSink();
  service = await serve([
    ...['--data', join(folder, 'data')],
    ...['--chain', `0x7a69=${anvil.url},confirmations=1,poll=50`],
    ...['--aptos', `testnet=${node.url},poll=50`],
  ]);
  const official = await startOfficialClient({
    baseUrl: service.url,
    apiKey: API_KEY,
    streamsSecret: SECRET,
  });
  streams = official.streams;
  aptos = official.streams as unknown as OfficialAptosStreams;
  const chains = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  await until('both chains are live', async () =>
    (await chains.listChains()).every(({ state }) => state === 'live'),
  );
});
afterAll(async () => {
  await service?.stop();
  await sink?.close();
  await node?.stop();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

const fields = (tag: string) => ({
  ...APTOS,
  webhookUrl: `${sink.url}/${tag}`,
  description: tag,
  tag,
  network: ['testnet'],
});

test('the official check accepts a delivery, and shared lists hold rows of both families', async () => {
  const { id } = (await aptos.add(fields('wallet'))).result;
  await aptos.addAddress({ ...APTOS, id, address: '0xb0b' });
  node.mine({
    transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount: 150_000_000n })],
  });
  const request = await sink.waitFor(({ path, body }) => path === '/wallet' && body.includes(id));
  const body = JSON.parse(request.body) as { coinDeposits: { valueWithDecimals: number }[] };
  const signature = String(request.headers['x-signature']);
  expect(streams.verifySignature({ body, signature })).toBe(true);
  expect(body.coinDeposits[0]!.valueWithDecimals).toBe(1.5);

  const evm = (
    await streams.add({
      webhookUrl: `${sink.url}/evm`,
      description: 'evm',
      tag: 'evm',
      chains: ['0x7a69'],
      includeNativeTxs: true,
    })
  ).result;
  const to = anvil.accounts[3]!.address;
  await streams.addAddress({ id: evm.id, address: to });
  await anvil.request('eth_sendTransaction', [
    { from: anvil.accounts[0]!.address, to, value: '0x1' },
  ]);
  await anvil.request('anvil_mine', ['0x2']);
  await sink.waitFor(({ path, body: text }) => path === '/evm' && text.includes('true'));
  const rows = await until('both deliveries are logged', async () => {
    const { result } = await streams.getLogs({ limit: 50 });
    return result.length >= 3 && result;
  });
  expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(['aptos', 'evm']));
  expect(new Set(rows.map(({ chain }) => chain.hex))).toEqual(
    new Set(['0x7a69', APTOS_CHAINS.testnet]),
  );
  const log = rows.find(({ type }) => type === 'aptos')!;
  await streams.retry({ id: log.id, streamId: id });
  await until('it is sent again', () => {
    const again = sink.requests.filter(
      ({ path, body: text }) => path === '/wallet' && text.includes(id),
    );
    return again.length >= 2;
  });
  expect((await streams.getStatsById({ streamId: id })).result).toBeDefined();
});
