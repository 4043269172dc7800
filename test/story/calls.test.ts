/**
 * Tests that a complete service on a real chain sends webhooks for calls that emit no event, and for
 * failed transactions with their reason.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient, decodeCalls } from '@sluice/kit';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import type { CreateEvmStream, EvmWebhook } from '@sluice/kit/contract';
import {
  type Anvil,
  type WebhookSink,
  answers,
  entryPoint,
  smartAccount,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { type Abi, type Hex, encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const folder = mkdtempSync(join(tmpdir(), 'sluice-calls-'));
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;
let client: Client;
let sluice: SluiceClient;
let contract: Hex;

beforeAll(async () => {
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  contract = await deploy(answers.bytecode);
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

const send = (transaction: { to?: Hex; data: Hex; value?: Hex; gas?: Hex }): Promise<Hex> =>
  anvil.request<Hex>('eth_sendTransaction', [
    { from: anvil.accounts[1]!.address, gas: '0x1e8480', ...transaction },
  ]);

async function deploy(bytecode: Hex): Promise<Hex> {
  const hash = await send({ data: bytecode });
  await anvil.request('evm_mine');
  const receipt = await anvil.request<{ contractAddress: Hex }>('eth_getTransactionReceipt', [
    hash,
  ]);
  return receipt.contractAddress;
}

const headNumber = async (): Promise<number> => Number(await anvil.request('eth_blockNumber'));

/** Anvil answers before it mines, so this waits for the receipt. */
const blockOf = (hash: Hex): Promise<number> =>
  until('the transaction is mined', async () => {
    const receipt = await anvil.request<{ blockNumber: Hex } | null>('eth_getTransactionReceipt', [
      hash,
    ]);
    return receipt !== null && Number(receipt.blockNumber);
  });

const abi: Abi = answers.abi;
type Called = 'refuse' | 'refuseWithError' | 'refuseSilently' | 'divide' | 'exhaust' | 'draw';
const inputOf = (functionName: Called, args: readonly unknown[] = []): Hex =>
  encodeFunctionData({ abi, functionName, args });

const bodiesAt = (path: string): EvmWebhook[] =>
  sink.requests
    .filter((request) => request.path === path)
    .map(({ body }) => JSON.parse(body) as EvmWebhook)
    .filter(({ streamId }) => streamId !== '');

async function createStream(tag: string, fields: Partial<CreateEvmStream>): Promise<string> {
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/${tag}`,
    description: '',
    tag,
    chainIds: [CHAIN],
    ...fields,
  });
  await client.streams.addAddress(id, contract);
  return id;
}

test('failed transactions are delivered with the reason of each', async () => {
  await createStream('failures', {
    functions: ['*'],
    transactionStatus: 'failed',
    abi: answers.abi as never,
  });
  const inputs = [
    inputOf('refuse'),
    inputOf('refuseWithError'),
    inputOf('refuseSilently'),
    inputOf('divide', [0n]),
    inputOf('exhaust'),
    inputOf('draw', [{ label: 'a', points: [], closed: true }]),
  ];
  for (const data of inputs) await send({ to: contract, data });
  await anvil.request('evm_mine');
  await anvil.request('evm_mine');
  const calls = await until('every failure is confirmed', () => {
    const found = bodiesAt('/failures').filter(({ confirmed }) => confirmed);
    const inOrder = found.toSorted((a, b) => Number(a.block.number) - Number(b.block.number));
    const all = inOrder.flatMap((body) => body.calls!);
    return all.length >= inputs.length - 1 && all;
  });
  expect(
    calls.map((call) => [call.function, call.status, call.reason?.kind, call.reason?.message]),
  ).toEqual([
    ['refuse()', 'failed', 'error', 'not today'],
    ['refuseWithError()', 'failed', 'custom', 'Unwilling(code: 7)'],
    ['refuseSilently()', 'failed', 'revert', 'reverted without data'],
    ['divide(uint256)', 'failed', 'panic', 'panic 0x12: division or modulo by zero'],
    ['exhaust()', 'failed', 'out-of-gas', 'out of gas'],
  ]);
  expect(calls[3]!.arguments).toEqual([{ name: 'by', type: 'uint256', value: '0' }]);
});

test('a call is delivered twice, found by a dry run, and explained', async () => {
  const [item] = answers.abi.filter((each) => each.type === 'function' && each.name === 'draw');
  const shape = { label: 'house', points: [{ x: 1n, y: -1 }], closed: true };
  const id = await createStream('drawn', { functions: [item as never] });
  const hash = await send({ to: contract, data: inputOf('draw', [shape]), value: '0x5' });
  await anvil.request('evm_mine');
  await anvil.request('evm_mine');
  const bodies = await until('both webhooks arrive', () => {
    const found = bodiesAt('/drawn').filter(({ calls }) =>
      calls!.some(({ transactionHash }) => transactionHash === hash),
    );
    return found.length === 2 && found;
  });
  expect(bodies.map(({ confirmed }) => confirmed)).toEqual([false, true]);
  const [call] = decodeCalls(bodies[0]!, answers.abi).decoded;
  expect(call).toMatchObject({
    name: 'draw',
    args: { shape: { label: 'house', points: [{ x: 1n, y: -1n }], closed: true } },
    transactionHash: hash,
    value: 5n,
    status: 'success',
  });

  const { number } = bodies[0]!.block;
  const { functions } = await client.streams.get(id);
  expect(functions).toEqual([
    'draw((string label, (uint256 x, int8 y)[] points, bool closed) shape)',
  ]);
  const tried = await sluice.dryRunEvm(CHAIN, { block: Number(number), streamId: id });
  expect(tried.webhook?.calls).toEqual(bodies[0]!.calls);

  const explained = await sluice.explain(hash);
  const verdict = explained.streams.find(({ streamId }) => streamId === id);
  const calls = verdict?.records.filter(({ kind }) => kind === 'call');
  expect(calls).toMatchObject([{ kind: 'call', included: true, traceAddress: [] }]);
});

test('calls inside transactions need traces, and are marked', async () => {
  await createStream('inside', {
    functions: ['asker()', 'refuse()'],
    includeInternalCalls: true,
    transactionStatus: 'any',
  });
  // Delegates to the contract, then calls it, ignores that it fails, and stops.
  const target = contract.slice(2);
  const asker = encodeFunctionData({ abi: answers.abi, functionName: 'asker' }).slice(2);
  const refuse = inputOf('refuse').slice(2);
  // Writes a selector to memory; then, in reverse, the arguments of each call: gas, address, value
  // (only of `call`), position and size of the input, and of the output.
  const code = [
    `63${asker}5f525f5f6004601c73${target}5af450`,
    `63${refuse}5f525f5f6004601c5f73${target}5af150`,
    '00',
  ].join('');
  const at = '0x00000000000000000000000000000000000ca115' as Hex;
  await anvil.request('anvil_setCode', [at, `0x${code}`]);
  await send({ to: at, data: '0x' });
  await anvil.request('evm_mine');
  const [body] = await until('the webhook arrives', () => {
    const found = bodiesAt('/inside');
    return found.length > 0 && found;
  });
  expect(
    body!.calls!.map(({ traceAddress, type, from, to, status, reason }) => [
      traceAddress,
      type,
      from,
      to,
      status,
      reason?.message,
    ]),
  ).toEqual([
    [[0], 'delegatecall', at, contract, 'success', undefined],
    [[1], 'call', at, contract, 'failed', 'not today'],
  ]);
});

test('operations of accounts are matched inside the transaction of their entry point', async () => {
  const at = {
    entryPoint: await deploy(entryPoint.bytecode),
    account: await deploy(smartAccount.bytecode),
  };
  await createStream('operations', {
    functions: ['draw((string,(uint256,int8)[],bool))', 'refuseWithError()'],
    includeInternalCalls: true,
    transactionStatus: 'any',
    abi: answers.abi as never,
  });
  const execute = (callData: Hex): { account: Hex; callData: Hex } => ({
    account: at.account,
    callData: encodeFunctionData({
      abi: smartAccount.abi,
      functionName: 'execute',
      args: [contract, 0n, callData],
    }),
  });
  const shape = { label: 'house', points: [], closed: false };
  const operations = [inputOf('draw', [shape]), inputOf('refuseWithError')].map(execute);
  const hash = await send({
    to: at.entryPoint,
    data: encodeFunctionData({
      abi: entryPoint.abi,
      functionName: 'handleOps',
      args: [operations],
    }),
  });
  await anvil.request('evm_mine');
  const [body] = await until('the webhook arrives', () => {
    const found = bodiesAt('/operations');
    return found.length > 0 && found;
  });
  const receipt = await anvil.request<{ status: Hex }>('eth_getTransactionReceipt', [hash]);
  expect(receipt.status, 'the transaction succeeds').toBe('0x1');
  expect(body!.logs).toEqual([]);
  expect(body!.calls).toMatchObject([
    { traceAddress: [0, 0], from: at.account, to: contract, status: 'success' },
    {
      traceAddress: [1, 0],
      from: at.account,
      to: contract,
      status: 'failed',
      reason: { kind: 'custom', message: 'Unwilling(code: 7)' },
    },
  ]);
  expect(body!.calls!.every(({ transactionHash }) => transactionHash === hash)).toBe(true);
});

test('a backfill finds past calls, also inside transactions, as a live stream would', async () => {
  const from = (await headNumber()) + 1;
  const account = await deploy(smartAccount.bytecode);
  const hashes = [
    await send({ to: contract, data: inputOf('divide', [1n]) }),
    await send({ to: contract, data: inputOf('divide', [0n]) }),
    await send({
      to: account,
      data: encodeFunctionData({
        abi: smartAccount.abi,
        functionName: 'execute',
        args: [contract, 0n, inputOf('divide', [2n])],
      }),
    }),
    await send({ to: contract, data: inputOf('refuse') }),
  ];
  await anvil.request('anvil_mine', ['0x2']);
  const head = await headNumber();
  const to = head - 1;
  await until(
    'the blocks are past',
    async () => (await sluice.listChains())[0]?.checkpoint === head,
  );
  const id = await createStream('past', {
    functions: ['divide(uint256 by)'],
    includeInternalCalls: true,
    transactionStatus: 'any',
  });
  const { jobId } = await client.streams.createHistoricalJob({
    streamId: id,
    chainId: CHAIN,
    blockFrom: from,
    blockTo: to,
  });
  const job = await until('the backfill is done', async () => {
    const found = await sluice.getJob(jobId!);
    return found.state === 'done' && found;
  });
  expect(job).toMatchObject({ matches: 3 });
  const bodies = await until('the webhooks arrive', () => {
    const found = bodiesAt('/past');
    return found.length === 3 && found;
  });
  const calls = bodies
    .toSorted((a, b) => Number(a.block.number) - Number(b.block.number))
    .flatMap((body) => body.calls!);
  expect(
    calls.map(({ transactionHash, traceAddress, arguments: args, status, reason }) => [
      transactionHash,
      traceAddress,
      args![0]!.value,
      status,
      reason?.kind,
    ]),
  ).toEqual([
    [hashes[0], [], '1', 'success', undefined],
    [hashes[1], [], '0', 'failed', 'panic'],
    [hashes[2], [0], '2', 'success', undefined],
  ]);
  expect(bodies.every(({ confirmed }) => confirmed)).toBe(true);
});

test('a dry run lists calls that a single comparison excludes', async () => {
  const block = await blockOf(await send({ to: contract, data: inputOf('divide', [3n]) }));
  const { webhook, closeMatches } = await sluice.dryRunEvm(CHAIN, {
    block,
    addresses: [contract],
    advancedOptions: [{ function: 'divide(uint256 by)', filter: { gt: ['by', '3'] } }],
  });
  expect(webhook).toBeNull();
  expect(closeMatches).toEqual([
    {
      function: 'divide(uint256)',
      name: 'by',
      operator: 'gt',
      filterValue: '3',
      count: 1,
      min: '3',
      max: '3',
    },
  ]);
});

test('a reorg sends a removal webhook with the calls of the webhook before', async () => {
  const id = await createStream('removed', {
    functions: ['refuse()'],
    transactionStatus: 'failed',
    notifyRemoved: true,
  });
  const snapshot = await anvil.request('evm_snapshot');
  await send({ to: contract, data: inputOf('refuse') });
  const [sent] = await until('the webhook arrives', () => {
    const found = bodiesAt('/removed');
    return found.length > 0 && found;
  });
  await anvil.request('evm_revert', [snapshot]);
  await anvil.request('evm_mine');
  const removal = await until('the removal webhook arrives', () =>
    bodiesAt('/removed').find((body) => body.removed === true),
  );
  expect(removal).toMatchObject({ streamId: id, confirmed: false, block: sent!.block });
  expect(sent!.logs).toEqual([]);
  expect(sent!.calls).toMatchObject([
    { status: 'failed', reason: { kind: 'error', message: 'not today' } },
  ]);
  expect(removal.calls).toEqual(sent!.calls);
});
