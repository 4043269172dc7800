/** Tests past blocks on a real chain: dry runs, single blocks, backfills, coverage. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { keccak256 } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type DeployedContracts,
  type WebhookSink,
  deployContracts,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const CONFIRMATIONS = 2;
const TRANSFER = 'Transfer(address,address,uint256)';
const TRANSFER_ABI = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
];
const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

const folder = mkdtempSync(join(tmpdir(), 'sluice-past-'));
let anvil: Anvil;
let contracts: DeployedContracts;
let sink: WebhookSink;
let served: Served;
let client: Client;
let sluice: SluiceClient;
/** Numbers of the blocks with token transfers, mined before the service started. */
const moved: number[] = [];
let receiver: string;

beforeAll(async () => {
  anvil = await startAnvil();
  contracts = await deployContracts(anvil);
  receiver = anvil.accounts[5]!.address.toLowerCase();
  for (let n = 0; n < 40; n++) {
    if (n % 4 === 0) moved.push(await move());
    else await anvil.request('evm_mine', []);
  }
  sink = await startWebhookSink();
  served = await start();
}, 60_000);
afterAll(async () => {
  await served?.stop();
  await sink?.close();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  sink.clear();
});

async function start(): Promise<Served> {
  const started = await serve([
    ...['--data', folder],
    ...['--chain', `${CHAIN}=${anvil.url},confirmations=${CONFIRMATIONS},poll=50`],
  ]);
  client = createClient({ apiKey: API_KEY, baseUrl: started.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: started.url });
  await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
  return started;
}

/** Transfers 1.5 tokens to the watched account and returns the block number. */
async function move(): Promise<number> {
  const hash = await anvil.request<string>('eth_sendTransaction', [
    {
      from: anvil.accounts[0]!.address,
      to: contracts.erc20,
      data: encodeFunctionData({
        abi,
        functionName: 'transfer',
        args: [receiver as `0x${string}`, 1_500_000n],
      }),
    },
  ]);
  const receipt = await until('the transfer is mined', async () => {
    const found = await anvil.request<{ blockNumber: string } | null>('eth_getTransactionReceipt', [
      hash,
    ]);
    return found ?? undefined;
  });
  return Number(receipt.blockNumber);
}

const newStream = async () => {
  const stream = await client.streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'past',
    chainIds: [CHAIN],
    includeContractLogs: true,
    topic0: [TRANSFER],
  });
  await client.streams.addAddress(stream.id, receiver);
  return stream;
};

interface Body {
  confirmed: boolean;
  streamId: string;
  block: { number: string };
  erc20Transfers: { valueWithDecimals?: string }[];
}
const bodiesOf = (streamId: string): (Body & { id: string })[] =>
  sink.requests
    .map((request) => ({ ...(JSON.parse(request.body) as Body), id: request.id }))
    .filter((body) => body.streamId === streamId);

describe('a dry run', () => {
  test('shows the webhook with names and decimals, and sends none', async () => {
    const webhook = await client.streams.dryRunBlock({
      chainId: CHAIN,
      blockNumber: moved[3]!,
      tag: 'dry',
      includeContractLogs: true,
      includeNativeTxs: true,
      addresses: [receiver],
    });
    expect(webhook).toMatchObject({
      confirmed: true,
      chainId: CHAIN,
      streamId: '',
      tag: 'dry',
      retries: 0,
      block: { number: String(moved[3]) },
      logs: [{ address: contracts.erc20 }],
      erc20Transfers: [
        {
          tokenName: 'Sluice Dollar',
          tokenSymbol: 'SLD',
          tokenDecimals: '6',
          valueWithDecimals: '1.5',
        },
      ],
    });
    expect(sink.requests).toEqual([]);
  });

  test('of a stored stream needs only its ID, and other fields replace those of the stream', async () => {
    const { id: streamId } = await newStream();
    const block = moved[3]!;
    const tried = async (fields: object) =>
      (await sluice.dryRunEvm(CHAIN, { block, streamId, ...fields })).webhook;
    for (const status of ['active', 'paused'] as const) {
      await client.streams.setStatus(streamId, status);
      expect(await tried({})).toMatchObject({ streamId, tag: 'past', logs: [{}], txs: [] });
    }
    expect(await tried({ tag: 'changed', topic0: ['Approval(address,address,uint256)'] })).toBe(
      null,
    );
    expect(await tried({ tag: 'changed', includeNativeTxs: true })).toMatchObject({
      tag: 'changed',
      logs: [{}],
    });
    expect(await tried({ addresses: [`0x${'ab'.repeat(20)}`] })).toBe(null);
    const unknown = sluice.dryRunEvm(CHAIN, { block, streamId: randomUUID() });
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
    expect(bodiesOf(streamId)).toEqual([]);
  });

  test('runs triggers and balances or reports why not, and lists close matches', async () => {
    const functionOf = (name: string) => ({
      type: 'function',
      name,
      stateMutability: 'view',
      inputs: [],
      outputs: [{ name: 'answer', type: 'string' }],
    });
    const trigger = (name: string) => ({
      type: 'erc20transfer' as const,
      contractAddress: '$contract',
      functionAbi: functionOf(name),
    });
    const { webhook, closeMatches, observed } = await sluice.dryRunEvm(CHAIN, {
      block: moved[3]!,
      includeContractLogs: true,
      addresses: [receiver],
      triggers: [trigger('symbol'), trigger('nothing')],
      getNativeBalances: [{ type: 'erc20transfer', selectors: ['$to'] }],
    });
    expect(webhook!.erc20Transfers[0]!.triggers).toEqual([
      { name: 'answer', value: 'SLD' },
      { name: 'error', value: expect.any(String) },
    ]);
    expect(webhook!.nativeBalances).toEqual([
      { address: receiver.toLowerCase(), balance: expect.stringMatching(/^\d+$/) },
    ]);
    expect(closeMatches).toEqual([]);
    const transfers = [{ topic0: keccak256(TRANSFER), signature: TRANSFER, indexed: 2, count: 1 }];
    expect(observed).toEqual(transfers);

    // The transferred value is exactly 1500000, so this filter only just excludes the log, which is
    // then a close match.
    const tooMuch = await sluice.dryRunEvm(CHAIN, {
      block: moved[3]!,
      includeContractLogs: true,
      addresses: [receiver],
      topic0: [TRANSFER],
      abi: TRANSFER_ABI,
      advancedOptions: [{ topic0: TRANSFER, filter: { gt: ['value', '1500000'] } }],
    });
    const rule = { event: TRANSFER, name: 'value', operator: 'gt', filterValue: '1500000' };
    expect(tooMuch).toEqual({
      webhook: null,
      closeMatches: [{ ...rule, count: 1, min: '1500000', max: '1500000' }],
      observed: transfers,
    });

    // The dry run reads logs, although the stream does not send them.
    const silent = { block: moved[3]!, includeInternalTxs: true, addresses: [receiver] };
    expect(await sluice.dryRunEvm(CHAIN, silent)).toEqual({
      webhook: null,
      closeMatches: [],
      observed: transfers,
    });
  });

  test('is empty for a block without matches', async () => {
    const webhook = await client.streams.dryRunBlock({
      chainId: CHAIN,
      blockNumber: moved[3]! + 1,
      includeContractLogs: true,
      addresses: [receiver],
    });
    expect(webhook).toMatchObject({ chainId: CHAIN, logs: [], txs: [] });
    expect(webhook.block).toBeUndefined();
  });

  test('rejects an invalid stream, and an unknown block or chain', async () => {
    const run = { chainId: CHAIN, blockNumber: 1, includeContractLogs: true };
    await expect(client.streams.dryRunBlock({ ...run, allAddresses: true })).rejects.toMatchObject({
      code: 'validation_failed',
      details: { 'requestBody.allAddresses': {} },
    });
    await expect(client.streams.dryRunBlock({ ...run, blockNumber: 99_999 })).rejects.toMatchObject(
      {
        code: 'not_found',
        message: expect.stringContaining('Block not found') as string,
      },
    );
    await expect(client.streams.dryRunBlock({ ...run, chainId: '0x5' })).rejects.toMatchObject({
      message: expect.stringContaining('--chain 0x5=<rpcUrl>') as string,
    });
  });
});

test('each call sends a block to the webhook of a stream again', async () => {
  const { id } = await newStream();
  const block = { chainId: CHAIN, blockNumber: moved[0]!, streamId: id };
  expect(await client.streams.sendBlock(block)).toBe(1);
  expect(await client.streams.sendBlock(block)).toBe(1);
  expect(await client.streams.sendBlock({ ...block, blockNumber: moved[0]! + 1 })).toBe(0);
  await until('both webhooks arrive', () => bodiesOf(id).length === 2);
  expect(bodiesOf(id).map((body) => [body.block.number, body.confirmed])).toEqual([
    [String(moved[0]), true],
    [String(moved[0]), true],
  ]);
  expect(new Set(bodiesOf(id).map((body) => body.id)).size).toBe(2);
  expect(bodiesOf(id)[0]!.erc20Transfers[0]!.valueWithDecimals).toBe('1.5');
});

describe('a backfill', () => {
  test('delivers past matches as confirmed, each once, and extends the coverage', async () => {
    const { id } = await newStream();
    const from = moved[0]!;
    const to = moved.at(-1)!;
    const { jobId } = await client.streams.createHistoricalJob({
      streamId: id,
      chainId: CHAIN,
      blockFrom: from,
      blockTo: to,
    });
    const done = await until('the backfill is done', async () => {
      const job = await sluice.getJob(jobId!);
      return job.state === 'done' && job;
    });
    expect(done).toMatchObject({ nextBlock: to + 1, matches: moved.length });
    await until('all webhooks arrive', () => bodiesOf(id).length === moved.length);
    expect(
      bodiesOf(id)
        .map((body) => Number(body.block.number))
        .toSorted((a, b) => a - b),
    ).toEqual(moved);
    expect(bodiesOf(id).every((body) => body.confirmed)).toBe(true);
    const [coverage] = await sluice.getCoverage(id);
    expect(coverage).toMatchObject({ chainId: CHAIN, from });
    expect(await sluice.listJobs({ streamId: id })).toMatchObject([{ id: jobId }]);
  });

  test('waits for blocks to be confirmed, and resumes after a kill', async () => {
    const { id } = await newStream();
    const head = Number(await anvil.request('eth_blockNumber'));
    const { jobId } = await client.streams.createHistoricalJob({
      streamId: id,
      chainId: CHAIN,
      blockFrom: moved[0]!,
      blockTo: head + 3,
    });
    await until('it waits', async () =>
      (await sluice.getJob(jobId!)).message.includes('to be confirmed'),
    );
    await served.kill();
    served = await start();
    for (let n = 0; n < 3 + CONFIRMATIONS; n++) await anvil.request('evm_mine', []);
    await until('the backfill is done', async () => (await sluice.getJob(jobId!)).state === 'done');
    await until(
      'all webhooks arrive',
      () => new Set(bodiesOf(id).map((body) => body.id)).size === moved.length,
    );
  });

  test('can be paused, resumed and canceled', async () => {
    const { id } = await newStream();
    const head = Number(await anvil.request('eth_blockNumber'));
    const { jobId } = await client.streams.createHistoricalJob({
      streamId: id,
      chainId: CHAIN,
      blockFrom: head + 1_000,
      blockTo: head + 2_000,
    });
    expect(await sluice.setJobState(jobId!, 'paused')).toMatchObject({ state: 'paused' });
    expect(await sluice.setJobState(jobId!, 'running')).toMatchObject({ state: 'running' });
    expect(await sluice.setJobState(jobId!, 'cancelled')).toMatchObject({ state: 'cancelled' });
    await expect(sluice.setJobState(jobId!, 'running')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(
        'The backfill is cancelled and cannot become running',
      ) as string,
    });
  });

  test('rejects an unknown stream and a chain without a source', async () => {
    const job = { streamId: crypto.randomUUID(), chainId: CHAIN, blockFrom: 1, blockTo: 2 };
    await expect(client.streams.createHistoricalJob(job)).rejects.toMatchObject({
      code: 'not_found',
    });
    const { id } = await newStream();
    await expect(
      client.streams.createHistoricalJob({ ...job, streamId: id, chainId: '0x5' }),
    ).rejects.toMatchObject({ message: expect.stringContaining('No source for 0x5') as string });
  });
});

test('a pause is a hole in the coverage', async () => {
  const { id } = await newStream();
  await anvil.request('evm_mine', []);
  const standsAt = async (number: number): Promise<void> => {
    await until(
      'the block is committed',
      async () => (await sluice.listChains())[0]?.checkpoint === number,
    );
  };
  const before = Number(await anvil.request('eth_blockNumber'));
  await standsAt(before);
  await client.streams.setStatus(id, 'paused');
  const missed = await move();
  await standsAt(missed);
  await client.streams.setStatus(id, 'active');
  await anvil.request('evm_mine', []);
  await standsAt(missed + 1);
  const [coverage] = await sluice.getCoverage(id);
  expect(coverage!.holes).toEqual([{ from: missed, to: missed, reason: 'paused' }]);
  expect(bodiesOf(id)).toEqual([]);
});
