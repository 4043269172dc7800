import { createClient } from '@sluice/kit';
import { scripted } from '@sluice/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BlockHeader } from '../store/blocks/contract.ts';
import { NO_MATCHES } from './noMatches.test-only.ts';
import { createCatchUp } from './catchUp.ts';
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
/**
 * Number of missed blocks in the test that reads each one. A search by range could cover 144 of
 * them.
 */
const FEW_MISSED = 400;
/** Number of the newest blocks that are always read one by one. */
const NEWEST = 256;
const LATER = '0x00000000000000000000000000000000000000dd';

let world: IngestWorld;
beforeEach(async () => {
  world = await createIngestWorld();
});
afterEach(() => world.stop());

/** Mines blocks: some concern the stream, some an address that is added later. */
function mineMany(blocks: number): void {
  const later = { token: TOKEN, from: OTHER, to: LATER, value: 1n } as const;
  for (let n = 0; n < blocks; n++) {
    if (n % 50 === 7) world.chain.mine(tokenTransfer());
    else if (n % 50 === 9) world.chain.mine({ transactions: [scripted.erc20Transfer(later)] });
    else world.chain.mine(n % 50 === 8 ? transferTo(OTHER) : {});
  }
}

/** Starts the service, waits until it has caught up, and returns the number of its block reads. */
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
  mineMany(FEW_MISSED);
  expect(await catchUp()).toBeGreaterThanOrEqual(FEW_MISSED);
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

/**
 * Runs one step from block 10, with a search that ends at block 20. Lists each commit as the number
 * of its block and the number of `after`, or `parent` if `after` is omitted.
 */
async function advanceOnce(options: {
  hits: readonly number[];
  /** Returns the hash of the source's block at a height. Default: `a` and the number. */
  hashAt?: (number: number) => string;
  /** Height of the block that the ledger refuses, because the rules have changed. */
  refuses?: number;
}): Promise<{ outcome: unknown; commits: string[] }> {
  const { hits, hashAt = (number) => `a${number}`, refuses } = options;
  const header = (number: number): BlockHeader => ({
    number,
    hash: `a${number}`,
    parentHash: `a${number - 1}`,
    timestamp: number,
  });
  const commits: string[] = [];
  let tip = header(10);
  const catchUp = createCatchUp<BlockHeader>('0x1', {
    source: {
      openSearch: () => ({
        next: async () => ({ end: header(20), hits: hits.map(header), isProven: false }),
      }),
      readBlock: async ({ number }) => header(number),
      readHeader: async (at) => ({ ...header(Number(at)), hash: hashAt(Number(at)) }),
    },
    matcher: {
      refresh: async () => 1,
      needs: () => ({ logs: true, transactions: false, traces: false }),
      search: async () => ({}) as never,
      ...NO_MATCHES,
    },
    local: {
      tip: () => tip,
      async append(block, { after }) {
        if (block.number === refuses) return { staleRules: 2 } as never;
        commits.push(`${block.number} ${after?.number ?? 'parent'}`);
        tip = block;
        return 'settled';
      },
    },
    confirming: { openBlocks: () => 256 },
    signal: new AbortController().signal,
  });
  const outcome = await catchUp.advance(header(1_000)).catch((error: unknown) => error);
  return { outcome, commits };
}

test('a block right after the last one must name it as its parent', async () => {
  const { outcome, commits } = await advanceOnce({ hits: [11, 15] });
  expect(outcome).toBe(true);
  expect(commits).toEqual(['11 parent', '15 11', '20 15']);
});

test('blocks are not committed if the end of their range left the chain', async () => {
  const { outcome, commits } = await advanceOnce({
    hits: [11, 15],
    hashAt: (number) => (number === 20 ? 'b20' : `a${number}`),
  });
  expect(outcome).toMatchObject({ kind: 'disagreement' });
  expect(commits).toEqual([]);
});

test('the catch-up ends at a block whose rules have changed', async () => {
  const { outcome, commits } = await advanceOnce({ hits: [11, 15], refuses: 15 });
  expect(outcome).toBe(true);
  expect(commits).toEqual(['11 parent']);
});
