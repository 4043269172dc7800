/** Tests the later readings of uncertain blocks, with a complete service on scripted nodes. */
import { createClient } from '@sluice/kit';
import type { EvmWebhook } from '@sluice/kit/contract';
import { type RunningScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import { test as base, describe, expect } from 'vitest';
import {
  API_KEY,
  CHAIN,
  CONFIRMATIONS,
  type IngestWorld,
  OTHER,
  TOKEN,
  WATCHED,
  createIngestWorld,
} from '../ingestWorld.test-only.ts';

const test = base.extend<{ world: IngestWorld }>({
  // oxlint-disable-next-line no-empty-pattern
  world: async ({}, use) => {
    const world = await createIngestWorld();
    await use(world);
    await world.stop();
  },
});

const TIMEOUT = { timeout: 120_000 };
/** The block is read again long after the service has committed it. */
const LATER = { settle: 0.1, readAgainAfterMs: [3_000, 4_000] };
const NEVER = { settle: 0.1, readAgainAfterMs: [3_600_000] };

/** The node has neither the receipt nor the log of the last transaction of a block. */
const lackReceipt = (node: RunningScriptedChain): void => {
  node.trouble({ kind: 'truncatedReceipts' });
  node.trouble({ kind: 'nullReceipts', methods: ['eth_getTransactionReceipt'] });
  node.trouble({ kind: 'missingLog', methods: ['eth_getLogs'] });
};
const twoTransfers = () => ({
  transactions: [7n, 8n].map((value) =>
    scripted.erc20Transfer({ token: TOKEN, from: OTHER, to: WATCHED, value }),
  ),
});

/** Returns the logs that were sent, as `<block> <phase> <amount>`, in order. */
const sentLogs = ({ sink }: IngestWorld): string[] =>
  sink.requests
    .map((request) => JSON.parse(request.body) as EvmWebhook)
    .flatMap(({ block, logs, confirmed }) =>
      logs.map(
        (log) => `${block.number} ${confirmed ? 'confirmed' : 'unconfirmed'} ${BigInt(log.data)}`,
      ),
    )
    .toSorted();

const countUncertain = async ({ service }: IngestWorld): Promise<number> => {
  const response = await fetch(`${service.url}/metrics`, { headers: { 'x-api-key': API_KEY } });
  const line = (await response.text())
    .split('\n')
    .find((each) => each.startsWith(`sluice_chain_uncertain_blocks{chain="${CHAIN}"}`));
  return Number(line!.split(' ')[1]);
};

const BOTH = ['1 confirmed 7', '1 confirmed 8', '1 unconfirmed 7', '1 unconfirmed 8'];

describe('records that a node lacked', () => {
  test('are sent once in both phases, and the block is verified', TIMEOUT, async ({ world }) => {
    const streamId = await world.startWatching(LATER);
    lackReceipt(world.chain);
    world.chain.mine(twoTransfers());
    await world.caughtUp();
    expect(await countUncertain(world)).toBe(1);
    expect((await world.sluice.getCoverage(streamId))[0]!.unverified).toHaveLength(1);
    world.chain.heal();
    await world.until('the record appears', async () => sentLogs(world).length === 2);
    expect(sentLogs(world)).toEqual(['1 unconfirmed 7', '1 unconfirmed 8']);
    expect(await countUncertain(world)).toBe(0);
    expect((await world.health()).unverified).toBeNull();
    expect((await world.sluice.getCoverage(streamId))[0]!.unverified).toEqual([]);
    world.chain.mineMany(CONFIRMATIONS);
    await world.until('it is confirmed', async () => sentLogs(world).length === 4);
    expect(sentLogs(world)).toEqual(BOTH);
    expect(world.log.join('')).toMatch(/block read again.*result=verified appeared=1/);
  });

  test('of a confirmed block are sent once, as confirmed', TIMEOUT, async ({ world }) => {
    await world.startWatching(LATER);
    lackReceipt(world.chain);
    world.chain.mine(twoTransfers());
    world.chain.mineMany(CONFIRMATIONS);
    await world.caughtUp();
    world.chain.heal();
    await world.until('the record appears', async () => sentLogs(world).length === 3);
    expect(sentLogs(world)).toEqual(BOTH.filter((each) => each !== '1 unconfirmed 8'));
  });

  test('are sent after a restart', TIMEOUT, async ({ world }) => {
    await world.startWatching(LATER);
    lackReceipt(world.chain);
    world.chain.mine(twoTransfers());
    await world.caughtUp();
    await world.service.stop();
    world.chain.heal();
    await world.start(LATER);
    await world.until('the record appears', async () => sentLogs(world).length === 2);
    world.chain.mineMany(CONFIRMATIONS);
    await world.until('it is confirmed', async () => sentLogs(world).length === 4);
    expect(sentLogs(world)).toEqual(BOTH);
  });

  test('are sent once another node that was away has them', TIMEOUT, async ({ world }) => {
    const other = await startScriptedChain({ chain: world.chain });
    await world.startWatching({ ...LATER, urls: [world.chain.url, other.url] });
    lackReceipt(world.chain);
    other.trouble({ kind: 'httpError', status: 502 });
    world.chain.mine(twoTransfers());
    await world.caughtUp();
    expect(await countUncertain(world)).toBe(1);
    // Both readings of the schedule are due before the node returns, and must not count.
    await new Promise((resolve) => setTimeout(resolve, LATER.readAgainAfterMs[1]! + 2_000));
    expect(await countUncertain(world)).toBe(1);
    other.heal();
    await world.until('the record appears', async () => sentLogs(world).length === 2);
    expect(sentLogs(world)).toEqual(['1 unconfirmed 7', '1 unconfirmed 8']);
    await world.service.stop();
    await other.stop();
  });
});

describe('records of a trace that a node could not read', () => {
  /** A payment and a call inside a transaction to the watched address. */
  const withCall = () => ({
    from: OTHER as `0x${string}`,
    to: WATCHED as `0x${string}`,
    calls: [{ from: WATCHED, to: WATCHED, value: 9n, input: '0x12345678' } as const],
  });
  /** Returns the number of transactions, internal transactions and calls of each webhook. */
  const sent = ({ sink }: IngestWorld): string[] =>
    sink.requests
      .map((request) => JSON.parse(request.body) as EvmWebhook)
      .filter(({ streamId }) => streamId !== '')
      .map(
        ({ confirmed, txs, txsInternal, calls = [] }) =>
          `${confirmed ? 'confirmed' : 'unconfirmed'} ${txs.length} ${txsInternal.length} ${calls
            .map(({ traceAddress }) => `[${traceAddress.join()}]`)
            .join('')}`,
      );
  const FIRST = '2 1 [][0][]';
  const LATE = '0 1 [0]';

  test.for([
    ['are sent once in both phases if it failed for a while', { code: -32603 }, true],
    ['are not read again if it is unable to trace them', { code: -32000 }, false],
  ] as const)('%s', TIMEOUT, async ([, error, isReadAgain], { world }) => {
    const streamId = await world.startWatching(LATER);
    const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
    await client.streams.update(streamId, {
      functions: ['*'],
      includeInternalTxs: true,
      includeInternalCalls: true,
    });
    const readCodes = async () =>
      (await world.sluice.getCoverage(streamId))[0]!.unverified.flatMap(({ codes }) => codes);
    world.chain.trouble({ kind: 'missingTrace' });
    world.chain.trouble({ kind: 'error', ...error, methods: ['debug_traceTransaction'] });
    world.chain.mine({ transactions: [withCall(), withCall()] });
    await world.until('the block is delivered', async () => sent(world).length === 1);
    expect(sent(world)).toEqual([`unconfirmed ${FIRST}`]);
    expect(await readCodes()).toEqual(['traces']);
    expect(await countUncertain(world)).toBe(isReadAgain ? 1 : 0);
    if (!isReadAgain) return;
    world.chain.heal();
    await world.until('the call appears', async () => sent(world).length === 2);
    expect(await countUncertain(world)).toBe(0);
    expect(await readCodes()).toEqual([]);
    world.chain.mineMany(CONFIRMATIONS);
    await world.until('both are confirmed', async () => sent(world).length === 4);
    expect(sent(world).toSorted()).toEqual(
      [FIRST, LATE].flatMap((each) => [`confirmed ${each}`, `unconfirmed ${each}`]).toSorted(),
    );
  });
});

test(
  'a node that lacks records of many blocks costs none, whether another node is there or not',
  TIMEOUT,
  async ({ world }) => {
    const other = await startScriptedChain({ chain: world.chain });
    const later = { settle: 0.1, readAgainAfterMs: [7_000, 10_000] };
    await world.startWatching({ ...later, urls: [world.chain.url, other.url] });
    lackReceipt(world.chain);
    const blocks = 24;
    for (let block = 1; block <= blocks; block++) {
      if (block % 8 === 1) other.trouble({ kind: 'httpError', status: 502 });
      if (block % 8 === 5) other.heal();
      world.chain.mine(twoTransfers());
      await world.caughtUp();
    }
    expect(await countUncertain(world)).toBeGreaterThan(0);
    world.chain.heal();
    world.chain.mineMany(CONFIRMATIONS);
    await world.until('no block is uncertain', async () => (await countUncertain(world)) === 0);
    // A record of a confirmed block is sent only as confirmed.
    const confirmed = () => sentLogs(world).filter((each) => each.includes(' confirmed '));
    await world.until('all are sent', async () => confirmed().length >= 2 * blocks);
    const expected = Array.from({ length: blocks }, (_, index) =>
      ['7', '8'].map((amount) => `${index + 1} confirmed ${amount}`),
    );
    expect(confirmed()).toEqual(expected.flat().toSorted());
    expect(new Set(sentLogs(world)).size).toBe(sentLogs(world).length);
    await world.service.stop();
    await other.stop();
  },
);

test(
  'a stream that holds unverified blocks gets them once another node returned them, too',
  TIMEOUT,
  async ({ world }) => {
    const other = await startScriptedChain({ chain: world.chain });
    const streamId = await world.startWatching({
      ...LATER,
      urls: [world.chain.url, other.url],
    });
    const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
    await client.streams.update(streamId, { unverified: 'hold' });
    // Without its state root, the header does not prove the block.
    const incomplete = { kind: 'nullFields', fields: ['stateRoot'] } as const;
    for (const node of [world.chain, other]) node.trouble(incomplete);
    other.trouble({ kind: 'httpError', status: 502 });
    world.chain.mine(twoTransfers());
    await world.caughtUp();
    const held = await world.until('it is held', async () =>
      (await world.readDeliveries()).find(({ state }) => state === 'held'),
    );
    other.heal();
    other.trouble(incomplete);
    await world.until('the block is sent', async () => sentLogs(world).length === 2);
    expect(await world.sluice.getDelivery(held.id)).toMatchObject({ witnesses: 2 });
    expect(await countUncertain(world)).toBe(0);
    await world.service.stop();
    await other.stop();
  },
);

test('a block that leaves the chain is not read again', TIMEOUT, async ({ world }) => {
  await world.startWatching(NEVER);
  lackReceipt(world.chain);
  world.chain.mine(twoTransfers());
  await world.caughtUp();
  expect(await countUncertain(world)).toBe(1);
  world.chain.heal();
  world.chain.fork({ depth: 1, blocks: 2 });
  await world.caughtUp();
  expect(await countUncertain(world)).toBe(0);
});
