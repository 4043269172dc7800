/**
 * Tests that webhooks of a complete service on a real chain name the matched addresses with their
 * labels and rules.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import type { EvmWebhook } from '@sluice/kit/contract';
import {
  type Anvil,
  type WebhookSink,
  crier,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { type Hex, encodeFunctionData, keccak256, pad, toHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const folder = mkdtempSync(join(tmpdir(), 'sluice-matched-'));
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;
let client: Client;
let sluice: SluiceClient;

beforeAll(async () => {
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  service = await serve([
    ...['--data', join(folder, 'data')],
    ...['--chain', `${CHAIN}=${anvil.url},confirmations=1,poll=50`],
  ]);
  client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
}, 60_000);

afterAll(async () => {
  await service?.stop();
  await Promise.all([sink?.close(), anvil?.stop()]);
  rmSync(folder, { recursive: true });
});

const send = (transaction: { to?: Hex; data?: Hex; value?: Hex }): Promise<Hex> =>
  anvil.request<Hex>('eth_sendTransaction', [
    { from: anvil.accounts[0]!.address, gas: '0x1e8480', ...transaction },
  ]);

const bodies = (): EvmWebhook[] =>
  sink.requests
    .map(({ body }) => JSON.parse(body) as EvmWebhook)
    .filter(({ streamId }) => streamId !== '');

test('deliveries, dry runs and backfills name each matched address with its label and rules', async () => {
  const [, alice, bob] = anvil.accounts.map(({ address }) => address.toLowerCase() as Hex);
  const deployed = await send({ data: crier.bytecode });
  await anvil.request('evm_mine');
  const { contractAddress: token } = await anvil.request<{ contractAddress: Hex }>(
    'eth_getTransactionReceipt',
    [deployed],
  );
  const { id } = await client.streams.create({
    webhookUrl: sink.url,
    description: '',
    tag: 'customers',
    chainIds: [CHAIN],
    includeContractLogs: true,
    includeNativeTxs: true,
    topic0: ['Approval(address,address,uint256)', 'Transfer(address,address,uint256)'],
    includeMatched: true,
  });
  await client.streams.addAddress(id, [alice!, bob!], { labels: { [alice!]: 'customer-1' } });

  const transfer = encodeFunctionData({
    abi: crier.abi,
    functionName: 'cry',
    args: [[keccak256(toHex('Transfer(address,address,uint256)')), pad(token), pad(alice!)], '0x'],
  });
  await anvil.request('evm_setAutomine', [false]);
  await send({ to: token, data: transfer });
  await send({ to: bob!, value: '0x1' });
  await anvil.request('evm_mine');
  const expected = [
    { address: alice, label: 'customer-1', factory: null, rules: [{ field: 'topic0', index: 1 }] },
    {
      address: bob,
      label: null,
      factory: null,
      rules: [{ field: 'includeNativeTxs', index: null }],
    },
  ];
  const first = await until('the webhook arrives', () => bodies()[0]);
  expect(first.matched).toEqual(expected);

  await client.streams.addAddress(id, [alice!], { labels: { [alice!]: 'customer-2' } });
  await anvil.request('evm_mine');
  const both = await until('it is confirmed', () => bodies().length === 2 && bodies());
  expect(both.map(({ confirmed, matched }) => [confirmed, matched])).toEqual([
    [false, expected],
    [true, expected],
  ]);

  const renamed = expected.map((each) => ({ ...each, label: each.label && 'customer-2' }));
  const block = Number(first.block.number);
  const { webhook } = await sluice.dryRunEvm(CHAIN, { block, streamId: id });
  expect(webhook?.matched).toEqual(renamed);
  await client.streams.createHistoricalJob({
    streamId: id,
    chainId: CHAIN,
    blockFrom: block,
    blockTo: block,
  });
  const past = await until('the backfill arrives', () => bodies()[2]);
  expect(past.matched).toEqual(renamed);
});
