import { createClient } from '@sluice/kit';
import { scripted } from '@sluice/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  API_KEY,
  CHAIN,
  type IngestWorld,
  OTHER,
  TOKEN,
  createIngestWorld,
  tokenTransfer,
  transferTo,
} from './ingestWorld.test-only.ts';

const MISSED = 1_000;
/** Number of blocks below the head that are read one by one. */
const NEWEST = 256;
const LATER = '0x00000000000000000000000000000000000000dd';

let world: IngestWorld;
beforeEach(async () => {
  world = await createIngestWorld();
});
afterEach(() => world.stop());

/** Mines blocks; some concern the stream, and some an address that is added later. */
function mineMany(blocks: number): void {
  const later = { token: TOKEN, from: OTHER, to: LATER, value: 1n } as const;
  for (let n = 0; n < blocks; n++) {
    if (n % 50 === 7) world.chain.mine(tokenTransfer());
    else if (n % 50 === 9) world.chain.mine({ transactions: [scripted.erc20Transfer(later)] });
    else world.chain.mine(n % 50 === 8 ? transferTo(OTHER) : {});
  }
}

/**
 * Counts block reads while the service catches up with the blocks that were mined in the meantime.
 */
async function catchUp(): Promise<number> {
  const countReads = (): number => {
    const { eth_getBlockByHash: byHash = 0, eth_getBlockReceipts: receipts = 0 } =
      world.chain.calls;
    return byHash + receipts;
  };
  const before = countReads();
  await world.start();
  await world.caughtUp();
  return countReads() - before;
}

test('after an outage blocks are found by their logs, with few requests, and marked', async () => {
  mineMany(10);
  const streamId = await world.startWatching({}, false);
  await world.caughtUp();
  const from = (await world.health()).checkpoint! + 1;
  await world.service.stop();
  mineMany(MISSED);
  expect(await catchUp()).toBeLessThan(MISSED / 2);
  await world.expectOracle(from);
  const [coverage] = await world.sluice.getCoverage(streamId);
  const head = Number(world.chain.head.number);
  expect(coverage).toMatchObject({ holes: [], byRange: [{ from, to: head - NEWEST }] });
});

test('a stream that takes transactions catches up block by block', async () => {
  mineMany(10);
  const streamId = await world.startWatching();
  await world.caughtUp();
  const from = (await world.health()).checkpoint! + 1;
  await world.service.stop();
  mineMany(MISSED);
  expect(await catchUp()).toBeGreaterThanOrEqual(MISSED);
  await world.expectOracle(from);
  expect((await world.sluice.getCoverage(streamId))[0]!.byRange).toEqual([]);
});

test('a reorg below the last block during the outage is detected first', async () => {
  mineMany(10);
  await world.startWatching({}, false);
  mineMany(20);
  await world.caughtUp();
  await world.service.stop();
  world.chain.fork({ depth: 8, blocks: [tokenTransfer(), {}, tokenTransfer()] });
  mineMany(MISSED);
  expect(await catchUp()).toBeLessThan(MISSED / 2);
  await world.expectOracle(11);
});

test('an address that is added meanwhile is matched from the promised block on', async () => {
  mineMany(10);
  const streamId = await world.startWatching({}, false);
  await world.caughtUp();
  await world.service.stop();
  mineMany(MISSED);
  world.chain.trouble({ kind: 'delay', delayMs: 10 });
  await world.start();
  const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
  await world.until('it has begun', async () => (await world.health()).checkpoint! > 200);
  const { effectiveFrom } = await client.streams.addAddress(streamId, LATER);
  const from = effectiveFrom![CHAIN]!;
  await world.caughtUp();
  expect(from).toBeLessThan(MISSED - NEWEST);
  const promised = world.chain
    .canonical()
    .filter(
      ({ number, transactions }) =>
        Number(number) >= from &&
        transactions.some(({ logs }) =>
          logs.some(({ topics }) => topics[2]?.endsWith(LATER.slice(2))),
        ),
    );
  const delivered = new Set((await world.readDeliveries()).map((each) => each.blockNumber));
  expect(promised.length).toBeGreaterThan(0);
  expect(promised.filter(({ number }) => !delivered.has(Number(number)))).toEqual([]);
});
