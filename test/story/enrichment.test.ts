/**
 * Tests that a complete service on a real chain adds token metadata, trigger results and native
 * balances to webhooks, as of their block.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Client, createClient, verifySignature } from '@sluice/kit';
import type { CreateEvmStream, EvmWebhook, StreamTrigger } from '@sluice/kit/contract';
import {
  type Anvil,
  type DeployedContracts,
  type WebhookSink,
  answers,
  deployContracts,
  oddToken,
  sluiceCollectible,
  sluiceItems,
  sluiceToken,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { type Abi, type Hex, encodeAbiParameters, encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const folder = mkdtempSync(join(tmpdir(), 'sluice-enrichment-'));
let anvil: Anvil;
let node: HeldNode;
let sink: WebhookSink;
let args: string[];
let service: Served;
let client: Client;
let tokens: DeployedContracts;
let odd: string;
let artwork: string;

beforeAll(async () => {
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  node = await startHeldNode(anvil.url);
  tokens = await deployContracts(anvil);
  const toOwner = encodeAbiParameters([{ type: 'address' }], [owner()]);
  odd = await deploy(oddToken.bytecode + toOwner.slice(2));
  artwork = await deploy(answers.bytecode);
  args = [
    '--data',
    join(folder, 'data'),
    '--chain',
    `${CHAIN}=${node.url},confirmations=2,poll=50`,
  ];
  await startService();
});

afterAll(async () => {
  await service.stop();
  await Promise.all([sink.close(), node.close()]);
  await anvil.stop();
  rmSync(folder, { recursive: true });
});

async function startService(): Promise<void> {
  service = await serve(args);
  client = createClient({ apiKey: API_KEY, baseUrl: service.url });
}

interface HeldNode {
  url: string;
  /** Holds back state queries until the returned function is called. */
  hold(): () => void;
  /** Returns the number of queries that are held back now. */
  waiting(): number;
  close(): Promise<void>;
}

/**
 * Starts a proxy in front of a node, because a real node cannot hold back state queries on demand.
 */
async function startHeldNode(target: string): Promise<HeldNode> {
  let held: PromiseWithResolvers<void> | undefined;
  let waiting = 0;
  const forward = async (request: IncomingMessage): Promise<string> => {
    const body = await text(request);
    if (held !== undefined && /"eth_(call|getBalance|getCode)"/.test(body)) {
      waiting++;
      await held.promise;
      waiting--;
    }
    const headers = { 'content-type': 'application/json' };
    return (await fetch(target, { method: 'POST', headers, body })).text();
  };
  const server: Server = createServer((request, response) => {
    forward(request).then(
      (answer) => response.setHeader('content-type', 'application/json').end(answer),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold() {
      held = Promise.withResolvers();
      const { resolve } = held;
      return () => {
        held = undefined;
        resolve();
      };
    },
    waiting: () => waiting,
    async close() {
      held?.resolve();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Sends a transaction, which gets a separate block, waits until it is mined, and returns the
 * created contract's address and the block number.
 */
async function send(transaction: object): Promise<{ contractAddress: string; block: number }> {
  const hash = await anvil.request('eth_sendTransaction', [
    { from: owner(), gas: '0x4c4b40', ...transaction },
  ]);
  const receipt = await until('the transaction is mined', () =>
    anvil
      .request<{ contractAddress: string; blockNumber: Hex; status: Hex } | null>(
        'eth_getTransactionReceipt',
        [hash],
      )
      .then((found) => found ?? undefined),
  );
  expect(receipt.status).toBe('0x1');
  return { contractAddress: receipt.contractAddress, block: Number(receipt.blockNumber) };
}

const deploy = async (data: string): Promise<string> => (await send({ data })).contractAddress;

const write = (to: string, abi: Abi, functionName: string, inputs: unknown[], value = '0x0') =>
  send({ to, value, data: encodeFunctionData({ abi, functionName, args: inputs }) });

async function watch(address: string, more: Partial<CreateEvmStream>): Promise<string> {
  const stream = await client.streams.create({
    webhookUrl: sink.url,
    description: 'enrichment',
    tag: 'enrichment',
    chainIds: [CHAIN],
    includeContractLogs: true,
    ...more,
  });
  await client.streams.addAddress(stream.id, address);
  return stream.id;
}

/**
 * Waits for the webhook of this stream, block and phase, verifies its signature, and returns it.
 */
async function webhookOf(streamId: string, block: number, confirmed = false): Promise<EvmWebhook> {
  const parse = (body: string): EvmWebhook => JSON.parse(body) as EvmWebhook;
  const request = await sink.waitFor(
    ({ body }) => {
      const webhook = parse(body);
      return (
        webhook.streamId === streamId &&
        webhook.block.number === String(block) &&
        webhook.confirmed === confirmed
      );
    },
    { timeoutMs: 30_000 },
  );
  const signature = String(request.headers['x-signature']);
  expect(verifySignature({ body: request.body, signature, secret: SECRET })).toBe(true);
  expect(JSON.stringify(parse(request.body)) === request.body, 'a fixed point').toBe(true);
  return parse(request.body);
}

/** Returns the account that owns and mints all tokens. */
const owner = () => anvil.accounts[0]!.address;
const friend = (): string => anvil.accounts[3]!.address.toLowerCase();

const view = (abi: Abi, name: string): StreamTrigger['functionAbi'] =>
  abi.find(
    (item) => item.type === 'function' && item.name === name,
  ) as StreamTrigger['functionAbi'];

test('ERC-20 transfers have token metadata', async () => {
  const id = await watch(tokens.erc20, {});
  const moved = await write(tokens.erc20, sluiceToken.abi, 'transfer', [friend(), 1_234_500n]);
  expect((await webhookOf(id, moved.block)).erc20Transfers).toMatchObject([
    {
      value: '1234500',
      tokenName: 'Sluice Dollar',
      tokenSymbol: 'SLD',
      tokenDecimals: '6',
      valueWithDecimals: '1.2345',
    },
  ]);
  const approved = await write(tokens.erc20, sluiceToken.abi, 'approve', [
    friend(),
    2n ** 256n - 1n,
  ]);
  expect((await webhookOf(id, approved.block)).erc20Approvals).toMatchObject([
    {
      tokenName: 'Sluice Dollar',
      valueWithDecimals:
        '1.15792089237316195423570985008687907853269984665640564039457584007913129639935e+71',
    },
  ]);
  // The confirmed webhook has the same metadata.
  await anvil.request('anvil_mine', ['0x3']);
  const { confirmed: _, ...first } = await webhookOf(id, moved.block);
  const { confirmed: __, ...second } = await webhookOf(id, moved.block, true);
  expect(second).toEqual(first);
});

test('token metadata may be in bytes32', async () => {
  const id = await watch(odd, {});
  const { block } = await write(odd, oddToken.abi, 'transfer', [friend(), 25n * 10n ** 17n]);
  expect((await webhookOf(id, block)).erc20Transfers).toMatchObject([
    { tokenName: 'Odd Token', tokenSymbol: 'ODD', tokenDecimals: '18', valueWithDecimals: '2.5' },
  ]);
});

test('NFT transfers have token metadata, and an ApprovalForAll has its standard', async () => {
  const named = {
    tokenName: 'Sluice Collectible',
    tokenSymbol: 'SLC',
    tokenContractType: 'ERC721',
  };
  const id = await watch(tokens.erc721, {});
  const minted = await write(tokens.erc721, sluiceCollectible.abi, 'mint', [owner()]);
  expect((await webhookOf(id, minted.block)).nftTransfers).toMatchObject([named]);
  const allowed = await write(tokens.erc721, sluiceCollectible.abi, 'setApprovalForAll', [
    friend(),
    true,
  ]);
  const webhook = await webhookOf(id, allowed.block);
  expect(webhook.nftTokenApprovals).toMatchObject([{ approvedAll: true, ...named }]);
  expect(webhook.nftApprovals.ERC1155).toMatchObject([{ approved: true, ...named }]);

  const nameless = { tokenName: '', tokenSymbol: '', tokenContractType: 'ERC1155' };
  const items = await watch(tokens.erc1155, {});
  const shared = await write(tokens.erc1155, sluiceItems.abi, 'setApprovalForAll', [
    friend(),
    true,
  ]);
  expect((await webhookOf(items, shared.block)).nftTokenApprovals).toMatchObject([nameless]);
});

test('triggers and balances are of the block, although the chain has advanced', async () => {
  const id = await watch(tokens.erc20, {
    triggers: [
      {
        type: 'erc20transfer',
        contractAddress: '$contract',
        functionAbi: view(sluiceToken.abi, 'balanceOf'),
        inputs: ['$to'],
      },
      {
        type: 'erc20transfer',
        contractAddress: '$contract',
        functionAbi: view(sluiceToken.abi, 'name'),
      },
    ],
    getNativeBalances: [{ type: 'erc20transfer', selectors: ['$to', '$contract'] }],
  });
  const reader = anvil.accounts[6]!.address.toLowerCase();
  const before = await anvil.request<Hex>('eth_getBalance', [reader, 'latest']);
  const release = node.hold();
  const { block } = await write(tokens.erc20, sluiceToken.abi, 'transfer', [reader, 10n]);
  await until('the calls are held back', () => node.waiting() > 0);
  await write(tokens.erc20, sluiceToken.abi, 'transfer', [reader, 5n]);
  await send({ to: reader, value: '0x99' });
  release();
  const webhook = await webhookOf(id, block);
  expect(webhook.erc20Transfers[0]!.triggers).toEqual([
    { name: 'output1', value: '10' },
    { name: 'output1', value: 'Sluice Dollar' },
  ]);
  expect(webhook.nativeBalances).toEqual([
    { address: reader, balance: BigInt(before).toString() },
    { address: tokens.erc20, balance: '0' },
  ]);
  expect(webhook.logs[0]).not.toHaveProperty('triggers');
});

test('triggers read event parameters and structs, set `from`, and report why they failed', async () => {
  const { abi } = answers;
  const drawn = abi.find((item) => item.type === 'event');
  const on = { type: 'log', contractAddress: '$address' } as const;
  const id = await watch(artwork, {
    abi: [drawn as unknown as NonNullable<CreateEvmStream['abi']>[number]],
    includeNativeTxs: true,
    triggers: [
      {
        ...on,
        topic0: 'Drawn(address,(string,(uint256,int8)[],bool),uint256)',
        functionAbi: view(abi, 'echo'),
        inputs: ['$shape', ['$points', '7']],
        callFrom: '$artist',
      },
      { ...on, functionAbi: view(abi, 'asker'), callFrom: friend() },
      { ...on, functionAbi: view(abi, 'several') },
      { ...on, functionAbi: view(abi, 'refuse') },
      { ...on, functionAbi: view(abi, 'refuseSilently') },
      { ...on, contractAddress: tokens.erc20, functionAbi: view(abi, 'drawings') },
      { type: 'tx', contractAddress: '$toAddress', functionAbi: view(abi, 'drawings') },
    ],
    getNativeBalances: [{ type: 'tx', selectors: ['$toAddress'] }],
  });
  const shape = { label: 'é', points: [{ x: 2n ** 255n, y: -3 }], closed: true };
  const { block } = await write(artwork, abi, 'draw', [shape], '0x7b');
  const webhook = await webhookOf(id, block);
  expect(webhook.logs[0]!.triggers).toEqual([
    { name: 'shapeAgain', value: ['é', [[(2n ** 255n).toString(), '-3']], true] },
    { name: 'output2', value: ['1', '7'] },
    { name: 'output1', value: friend() },
    { name: 'count', value: (2n ** 256n - 1n).toString() },
    { name: 'output2', value: 'deux é' },
    { name: 'isLast', value: true },
    { name: 'error', value: 'execution reverted: not today' },
    { name: 'error', value: 'execution reverted' },
    { name: 'error', value: 'execution reverted' },
  ]);
  expect(webhook.txs[0]!.triggers).toEqual([{ name: 'output1', value: '1' }]);
  expect(webhook.nativeBalances).toEqual([{ address: artwork, balance: '123' }]);
  expect(webhook.erc20Transfers).toEqual([]);
});

test('kill -9 during a call to the chain loses nothing', async () => {
  const id = await watch(tokens.erc20, {
    getNativeBalances: [{ type: 'erc20transfer', selectors: ['$contract'] }],
  });
  const release = node.hold();
  const blocks: number[] = [];
  for (let n = 0; n < 3; n++) {
    const { block } = await write(tokens.erc20, sluiceToken.abi, 'transfer', [friend(), 1n]);
    blocks.push(block);
  }
  // The blocks are confirmed before any token metadata is known.
  await anvil.request('anvil_mine', ['0x3']);
  await until('the calls are held back', () => node.waiting() > 0);
  await service.kill();
  release();
  await startService();
  for (const block of blocks) {
    for (const confirmed of [false, true]) {
      const webhook = await webhookOf(id, block, confirmed);
      expect(webhook.erc20Transfers[0]!.tokenName).toBe('Sluice Dollar');
      expect(webhook.nativeBalances).toEqual([{ address: tokens.erc20, balance: '0' }]);
    }
  }
});
