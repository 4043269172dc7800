/**
 * Tests that a complete service on a real chain sends values on chain when their condition holds, in
 * the phases of their block, also after a reorg and a restart.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient, verifySignature } from '@sluice/kit';
import type { EvmWebhook, StreamRead } from '@sluice/kit/contract';
import { type SluiceClient, createSluiceClient } from '@sluice/kit/sluice';
import {
  type Anvil,
  type DeployedContracts,
  type WebhookSink,
  answers,
  deployContracts,
  sluiceToken,
  startAnvil,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { type Abi, encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const SHAPE = { label: 'a', points: [], closed: true };
const folder = mkdtempSync(join(tmpdir(), 'sluice-reads-'));
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;
let client: Client;
let sluice: SluiceClient;
let tokens: DeployedContracts;
let counter: string;
const account = (n: number): string => anvil.accounts[n]!.address.toLowerCase();

const start = async (): Promise<void> => {
  service = await serve([
    '--data',
    folder,
    '--chain',
    `${CHAIN}=${anvil.url},confirmations=2,poll=50`,
  ]);
  client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  await until('the chain is live', async () =>
    (await sluice.listChains()).every(({ state }) => state === 'live'),
  );
};

beforeAll(async () => {
  [anvil, sink] = await Promise.all([startAnvil(), startWebhookSink()]);
  tokens = await deployContracts(anvil);
  const { contractAddress } = await mine({ data: answers.bytecode });
  counter = contractAddress.toLowerCase();
  await start();
});
afterAll(async () => {
  await service.stop();
  await sink.close();
  await anvil.stop();
  rmSync(folder, { recursive: true });
});

interface Receipt {
  contractAddress: string;
  blockNumber: string;
}

/** Mines a transaction in a block of its own. */
async function mine(transaction: object): Promise<Receipt> {
  const hash = await anvil.request('eth_sendTransaction', [
    { from: account(0), gas: '0x4c4b40', ...transaction },
  ]);
  return until('the transaction is mined', async () => {
    const found = await anvil.request<Receipt | null>('eth_getTransactionReceipt', [hash]);
    return found ?? undefined;
  });
}
const call = (
  to: string,
  abi: Abi,
  functionName: string,
  args: unknown[],
  from = account(0),
): Promise<Receipt> => mine({ from, to, data: encodeFunctionData({ abi, functionName, args }) });
const draw = (): Promise<Receipt> => call(counter, answers.abi, 'draw', [SHAPE]);
/** Sends tokens, in units of 6 decimals. */
const send = (amount: bigint, from = 0, to = 5): Promise<Receipt> =>
  call(tokens.erc20, sluiceToken.abi, 'transfer', [account(to), amount], account(from));

const create = async (reads: StreamRead[], more: object = {}): Promise<string> => {
  const { id } = await client.streams.create({
    webhookUrl: `${sink.url}/hook`,
    description: '',
    tag: 'reads',
    chainIds: [CHAIN],
    reads,
    ...more,
  });
  return id;
};

/** Returns the verified webhooks of a stream, oldest first. */
const webhooksOf = (streamId: string): EvmWebhook[] =>
  sink.requests.flatMap(({ body, headers }) => {
    verifySignature({ body, secret: SECRET, signature: String(headers['x-signature']) });
    const webhook = JSON.parse(body) as EvmWebhook;
    return webhook.streamId === streamId ? webhook : [];
  });
const phaseOf = ({ confirmed, removed }: EvmWebhook): string =>
  removed === true ? 'removed' : confirmed ? 'confirmed' : 'unconfirmed';
/** Returns the phase, the value before and the value after of each read, in order of arrival. */
const sentTo = (streamId: string): string[] =>
  webhooksOf(streamId).flatMap((webhook) =>
    webhook.reads!.map(
      ({ before, after }) =>
        `${phaseOf(webhook)} ${before === null ? '-' : String(before.value)} → ${String(after.value)}`,
    ),
  );
const untilSent = (streamId: string, expected: readonly string[]): Promise<unknown> =>
  until(`the stream gets ${expected.join(', ')}`, () =>
    Promise.resolve(expected.every((each) => sentTo(streamId).includes(each))),
  );
/** Waits until the values of every block so far are read. */
const untilRead = async (): Promise<void> => {
  const head = Number(await anvil.request('eth_blockNumber'));
  await until('the state of the head is read', async () => {
    const [chain] = await sluice.listChains();
    const metrics = await (
      await fetch(`${service.url}/metrics`, { headers: { 'x-api-key': API_KEY } })
    ).text();
    return chain!.checkpoint === head && /^sluice_chain_pending_states\{.*\} 0$/m.test(metrics);
  });
};

test('values are sent with the value before, in both phases, and nothing else is', async () => {
  const counted = await create([
    { contract: counter, function: 'drawings() returns (uint256)', when: 'changes' },
  ]);
  const low = await create([
    { balance: tokens.erc20, of: [account(5)], when: { below: '1000.5' } },
  ]);
  await send(1_000_500_000n);
  await untilRead();
  // The balance was below the threshold before.
  expect(sentTo(counted)).toEqual([]);
  await send(1n, 5, 0);
  const { blockNumber } = await draw();
  // A value that is read after its block is confirmed is sent as confirmed alone.
  await untilSent(counted, ['unconfirmed 0 → 1']);
  for (let n = 0; n < 2; n++) await mine({ to: account(7) });
  await untilSent(counted, ['confirmed 0 → 1']);
  await untilSent(low, ['unconfirmed 1000500000 → 1000499999']);
  const webhook = webhooksOf(counted)[0]!;
  expect(webhook).toMatchObject({
    block: { number: String(Number(blockNumber)) },
    logs: [],
    txs: [],
    reads: [
      {
        contract: counter,
        function: 'drawings()',
        when: 'changes',
        decimals: 0,
        before: { block: String(Number(blockNumber) - 1), value: '0' },
        after: { block: String(Number(blockNumber)), value: '1' },
      },
    ],
  });
  expect(webhooksOf(low).at(-1)!.reads![0]).toMatchObject({
    balance: tokens.erc20,
    of: account(5),
    decimals: 6,
  });
});

test('a stream reads the native balances of its addresses', async () => {
  const id = await create([{ balance: 'native', when: 'changes' }]);
  await client.streams.addAddress(id, account(6));
  await mine({ to: account(7), value: '0x1' });
  await mine({ to: account(6), value: '0x7' });
  const before = 10_000n * 10n ** 18n;
  await untilSent(id, [`unconfirmed ${before} → ${before + 7n}`]);
  expect(webhooksOf(id)[0]!.reads).toMatchObject([{ balance: 'native', of: account(6) }]);
});

test('a block that leaves the chain takes its values with it', async () => {
  const reads: StreamRead[] = [
    { contract: counter, function: 'drawings() returns (uint256)', when: 'changes' },
  ];
  const id = await create(reads, { notifyRemoved: true });
  await mine({ to: account(7) });
  await untilRead();
  await draw();
  const [before, after] = [1, 2];
  await untilSent(id, [`unconfirmed ${before} → ${after}`]);
  await anvil.request('anvil_rollback', [1]);
  await draw();
  await draw();
  await untilSent(id, [`removed ${before} → ${after}`, `unconfirmed ${after} → ${after + 1}`]);
  const both = sentTo(id).filter((each) => each === `unconfirmed ${before} → ${after}`);
  expect(both).toHaveLength(2);
});

test('values that were not read before a restart are read after it', async () => {
  const id = await create([
    { contract: counter, function: 'drawings() returns (uint256)', when: { every: 1 } },
  ]);
  await draw();
  await until('the first value is sent', async () => sentTo(id).length > 0);
  const [first] = webhooksOf(id);
  await service.stop();
  for (let n = 0; n < 3; n++) await draw();
  await start();
  await draw();
  const from = Number(first!.block.number);
  const unconfirmed = (): number[] =>
    webhooksOf(id)
      .filter((webhook) => phaseOf(webhook) === 'unconfirmed' || webhook.confirmed)
      .map(({ block }) => Number(block.number));
  await until('every block is sent', async () =>
    [0, 1, 2, 3, 4].every((n) => unconfirmed().includes(from + n)),
  );
});

test('a contract that reverts is reported, and no other value is affected', async () => {
  const reads: StreamRead[] = [
    { contract: counter, function: 'refuse() returns (uint256)', when: 'changes' },
    { contract: counter, function: 'exhaust() returns (uint256)', when: { every: 1 } },
    { contract: account(8), function: 'nothing() returns (uint256)', when: { every: 1 } },
    { contract: counter, function: 'drawings() returns (uint256)', when: 'changes' },
  ];
  const id = await create(reads);
  await mine({ to: account(7) });
  await untilRead();
  await draw();
  await until('the change is sent', async () => sentTo(id).length > 0);
  expect(webhooksOf(id).flatMap((each) => each.reads!.map((read) => read.function))).toEqual([
    'drawings()',
  ]);
  await until('the error is shown', async () => {
    const { statusMessage } = await client.streams.get(id);
    return /A value on 0x7a69 can't be read: /.test(statusMessage);
  });
});

test('Explain shows each value of a block, the value before it, and why it was sent or not', async () => {
  const native = `native balance of ${account(4)}`;
  const id = await create([
    { balance: 'native', of: [account(4)], when: { above: '10000.5' } },
    { balance: 'native', of: [account(4)], when: { crosses: '10000' } },
    { contract: counter, function: 'refuse() returns (uint256)', when: 'changes' },
  ]);
  const mined = async (value: bigint): Promise<number> => {
    const receipt = await mine({ to: account(4), value: `0x${value.toString(16)}` });
    await untilRead();
    return Number(receipt.blockNumber);
  };
  const first = await mined(0n);
  const second = await mined(10n ** 18n);
  const third = await mined(1n);
  /** Explains the values of the stream. */
  const explain = async (query: string) => {
    const { streams } = await sluice.explain(query, {});
    const { verdict, values } = streams.find(({ streamId }) => streamId === id)!;
    return {
      verdict,
      values: values.map(
        ({ name, included, reason }) =>
          `${name}: ${included ? 'sent' : reason.outcome}, ${reason.message}`,
      ),
    };
  };
  expect(await explain(String(first))).toEqual({
    verdict: 'not-matched',
    values: [
      `${native}, above 10,000.5: stopped, 10,000 is below 10,000.5`,
      `${native}, crosses 10,000: stopped, first value, nothing to compare with: 10,000 is equal to 10,000`,
      `refuse() of ${counter}, changes: stopped, no value: execution reverted: not today`,
    ],
  });
  expect((await explain(String(second))).values.slice(0, 2)).toEqual([
    `${native}, above 10,000.5: sent, 10,001 is above 10,000.5, after 10,000 in block ${first}`,
    `${native}, crosses 10,000: stopped, 10,001 is above 10,000, and was already above it in block ${first}`,
  ]);
  expect((await explain(String(third))).values[0]).toBe(
    `${native}, above 10,000.5: stopped, 10,001.000000000000000001 is above 10,000.5, and was already in block ${second}`,
  );
  // A delivery and an address.
  const { result } = await sluice.listDeliveries({ streamId: id, limit: 1 });
  expect((await explain(result[0]!.id)).values[0]).toMatch(/: sent, /);
  expect(await explain(account(4))).toMatchObject({
    verdict: 'watched',
    values: [expect.stringContaining(native), expect.stringContaining(native)],
  });
  // The stream did not read values before it was created.
  expect((await explain(String(first - 1))).verdict).toBe('not-matched');
});

test('a dry run compares the values of a block with those of the block before', async () => {
  const reads: StreamRead[] = [
    { balance: 'native', of: [account(3)], when: { below: '10000' } },
    { balance: 'native', when: 'changes' },
    { contract: counter, function: 'refuse() returns (uint256)', when: 'changes' },
  ];
  const before = await mine({ to: account(7) });
  const spent = await mine({ from: account(3), to: account(7), value: '0x1' });
  await untilRead();
  const tried = async ({ blockNumber }: Receipt) => {
    const addresses = [account(3)];
    const block = Number(blockNumber);
    const match = await sluice.dryRunEvm(CHAIN, { reads, block, addresses });
    return {
      webhook: match.valuesWebhook?.reads?.map(({ when, of }) => [when, of]) ?? null,
      values: match.values!.map(({ included, reason: { message } }) => `${included}: ${message}`),
    };
  };
  const none = await tried(before);
  expect(none.webhook).toBeNull();
  expect(none.values[0]).toBe('false: 10,000 is equal to 10,000');
  const crossed = await tried(spent);
  expect(crossed.webhook).toEqual([
    [{ below: '10000' }, account(3)],
    ['changes', account(3)],
  ]);
  expect(crossed.values).toEqual([
    expect.stringMatching(/^true: 9,999\.9+\d* is below 10,000, after 10,000 in block \d+$/),
    'false: no value: execution reverted: not today',
    expect.stringMatching(/^true: 9,999\.9+\d*, after 10,000 in block \d+$/),
  ]);
  expect((await sluice.dryRunEvm(CHAIN, { block: 1 })).values).toBeUndefined();
});

test('a backfill of a stream that only reads values is rejected', async () => {
  const streamId = await create([{ balance: 'native', of: [account(6)], when: 'changes' }]);
  const range = { chainId: CHAIN, streamId, blockFrom: 1, blockTo: 2 };
  await expect(client.streams.createHistoricalJob(range)).rejects.toMatchObject({
    details: { 'requestBody.streamId': { message: expect.stringMatching(/^should be a stream/) } },
  });
});

test('invalid reads are rejected with their path', async () => {
  const contract = account(8);
  const wrong: [object, string][] = [
    [{ contract, function: 'f()', when: 'changes' }, 'reads.0.function'],
    [{ contract, function: 'f() returns (string)', when: { below: '1' } }, 'reads.0.when'],
    [{ contract, function: 'f() returns (uint256, bool)', when: { below: '1' } }, 'reads.0.output'],
    [{ contract, function: 'f(uint8) returns (bool)', when: 'changes' }, 'reads.0.arguments'],
    [{ balance: 'ether', when: 'changes' }, 'reads.0.balance'],
    [{ balance: 'native', when: { below: 1 } }, 'reads.0.when'],
    [{ balance: 'native', contract, when: 'changes' }, 'reads.0.contract'],
  ];
  for (const [read, path] of wrong) {
    await expect(create([read as StreamRead])).rejects.toMatchObject({
      details: { [`requestBody.${path}`]: { message: expect.any(String) } },
    });
  }
});
