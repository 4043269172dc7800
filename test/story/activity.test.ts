/**
 * Tests the breakdown of a stream's metrics and the list of its changes, on a real EVM chain and on
 * a scripted Aptos chain.
 */
import { type Client, createClient } from '@sluice/kit';
import type { SluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type DeployedContracts,
  type RunningScriptedAptos,
  type WebhookSink,
  scriptedAptos,
  until,
} from '@sluice/testkit';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CALLS } from '@sluice/kit/calls';
import { type BothChains, CHAIN, startBothChains } from './bothChains.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SIGNATURE = 'Transfer(address,address,uint256)';
const transferAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

let world: BothChains;
let anvil: Anvil;
let aptos: RunningScriptedAptos;
let contracts: DeployedContracts;
let sink: WebhookSink;
let client: Client;
let sluice: SluiceClient;

beforeAll(async () => {
  world = await startBothChains();
  ({ anvil, aptos, contracts, sink, client, sluice } = world);
}, 60_000);
afterAll(() => world?.stop());

const account = (hex: string) => `0x${hex.padStart(64, '0')}` as const;

const breakdownOf = async (streamId: string) => {
  const breakdown = await sluice.getActivityBreakdown({ streamId, step: 1, points: 60 });
  CALLS.getActivityBreakdown.response.parse(breakdown);
  return breakdown;
};

test('the activity of a stream is broken down by status, chain and event', async () => {
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/evm`,
    description: '',
    tag: 'evm',
    chainIds: [CHAIN],
    includeContractLogs: true,
    includeNativeTxs: true,
  });
  sink.respond([503, 204], { path: '/evm' });
  await client.streams.addAddress(id, [contracts.erc20, anvil.accounts[7]!.address]);
  const [from, to] = [anvil.accounts[0]!.address, anvil.accounts[7]!.address];
  const args = [to, 5n] as const;
  const data = encodeFunctionData({ abi: transferAbi, functionName: 'transfer', args });
  await anvil.request('eth_sendTransaction', [{ from, to: contracts.erc20, data }]);
  await anvil.request('eth_sendTransaction', [{ from, to, value: '0x1' }]);
  await anvil.request('anvil_mine', ['0x3']);
  const breakdown = await until('the retry of the first delivery is counted', async () => {
    const read = await breakdownOf(id);
    const { delivered = 0 } = read.chains[0] ?? {};
    return delivered === 4 && read;
  });
  expect(breakdown.statuses).toEqual([
    { status: 204, attempts: 4 },
    { status: 503, attempts: 1 },
  ]);
  expect(breakdown.chains).toEqual([
    {
      chainId: CHAIN,
      delivered: 4,
      redelivered: 0,
      failedAttempts: 1,
      matched: 3,
      p95Ms: expect.any(Number) as number,
    },
  ]);
  expect(breakdown.records).toEqual([
    // One transaction pays a watched account, the other calls a watched contract.
    { what: 'transaction', signature: null, matched: 2 },
    { what: TRANSFER, signature: SIGNATURE, matched: 1 },
  ]);
});

test('the activity of an Aptos stream is broken down by function and event', async () => {
  const [alice, bob] = [account('a11ce'), account('b0b')];
  const { id } = await client.streams.create({
    networkType: 'aptos',
    network: ['local'],
    tag: 'aptos',
    webhookUrl: `${sink.url}/aptos`,
    description: '',
    includeEvents: true,
  });
  await client.streams.addAddress(id, alice, { networkType: 'aptos' });
  aptos.mine({ transactions: [scriptedAptos.transfer({ from: alice, to: bob, amount: 5n })] });
  const { records } = await until('the transaction is matched', async () => {
    const read = await breakdownOf(id);
    return read.records.length > 0 && read;
  });
  expect(records.map(({ what }) => what)).toEqual([
    '0x1::aptos_account::transfer',
    '0x1::fungible_asset::Deposit',
    '0x1::fungible_asset::Withdraw',
    '0x1::transaction_fee::FeeStatement',
  ]);
});

test('lists the changes of a stream, and who made them', async () => {
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/changed`,
    description: '',
    tag: 'changed',
    chainIds: [CHAIN],
  });
  const { key } = await sluice.createApiKey({ name: 'maya' });
  const maya = createClient({ apiKey: key, baseUrl: world.url });
  expect(await sluice.listStreamChanges(id)).toEqual([]);
  await maya.streams.update(id, { tag: 'other', chainIds: [CHAIN], topic0: [SIGNATURE] });
  // A repeated update is not a change.
  await maya.streams.update(id, { tag: 'other' });
  await maya.streams.setStatus(id, 'paused');
  const readPause = async () =>
    (await sluice.listStreamSummaries()).find((each) => each.id === id)?.paused;
  expect(await readPause()).toMatchObject({ by: 'maya' });
  await client.streams.setStatus(id, 'active');
  expect(await readPause()).toBeNull();
  await sluice.rotateStreamSecret(id);
  const changes = await sluice.listStreamChanges(id);
  CALLS.listStreamChanges.response.parse({ result: changes });
  expect(changes.map(({ kind, fields, by }) => [kind, fields, by])).toEqual([
    ['secret-rotated', [], 'bootstrap'],
    ['resumed', [], 'bootstrap'],
    ['paused', [], 'maya'],
    ['edited', ['tag', 'topic0'], 'maya'],
  ]);
});

test('steps older than the retention are rejected with the maximum', async () => {
  await expect(sluice.getActivity({ step: 60, points: 721 })).rejects.toThrow(/at most 720/);
  await expect(sluice.getActivityBreakdown({ step: 5, points: 577 })).rejects.toThrow(
    /at most 576/,
  );
  expect((await sluice.getActivity({ step: 60, points: 720 })).result).toHaveLength(720);
});
