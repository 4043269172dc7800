/**
 * Tests reorgs deeper than the window, on SQLite and PostgreSQL. `ingest.test.ts` covers shallower
 * ones.
 */
import { createClient } from '@sluice/kit';
import { type Postgres, startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  API_KEY,
  CHAIN,
  CONFIRMATIONS,
  type IngestWorld,
  WATCHED,
  createIngestWorld,
  transferTo,
} from './ingestWorld.test-only.ts';

let postgres: Postgres;
let databases = 0;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

async function createDatabase(): Promise<string> {
  const name = `ledger_${databases++}`;
  const client = new pg.Client(postgres.url);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return postgres.url.replace(/postgres$/, name);
}

describe.each(['sqlite', 'postgres'] as const)('on %s, reorgs', (engine) => {
  let world: IngestWorld;
  beforeEach(async () => {
    world = await createIngestWorld(engine === 'postgres' ? await createDatabase() : undefined);
  });
  afterEach(() => world.stop());

  test('deeper than the window restart a local chain at its head, and log it', async () => {
    await world.startWatching({ resetWhenReplaced: true });
    world.chain.mineMany(300);
    await world.caughtUp();
    world.chain.fork({ depth: 299, blocks: 300 });
    await world.caughtUp();
    const from = Number(world.chain.head.number) + 1;
    world.chain.mine(transferTo(WATCHED));
    world.chain.mineMany(CONFIRMATIONS);
    await world.expectOracle(from);
    expect(world.log.join('')).toContain('restarting at its head');
    const [gap] = await world.sluice.listGaps({ chain: CHAIN });
    expect(gap).toMatchObject({ kind: 'skipped', to: from - 1 });
    expect(gap!.reason).toMatch(/^rolled back below block \d+/);
  }, 180_000);

  describe('halt a chain, which can be resumed', () => {
    /** Returns whether a block of the other branch, which starts at block 2, matches. */
    const matches = (number: number): boolean => number % 20 === 0 || number > 300;

    /**
     * Halts a chain with a branch from below its window, and expects that it cannot be resumed from
     * a block above the head.
     */
    const halted = async (): Promise<void> => {
      await world.startWatching();
      world.chain.mineMany(300);
      await world.caughtUp();
      world.chain.fork({
        depth: 299,
        blocks: Array.from({ length: 310 }, (_, n) => (matches(n + 2) ? transferTo(WATCHED) : {})),
      });
      const now = await world.until('the chain halts', async () => {
        const health = await world.health();
        return health.state === 'down' && health;
      });
      expect(now.message).toMatch(
        /reorg reaches below block \d+, the oldest block in the ledger's window/,
      );
      // No block was removed, skipped or delivered.
      expect(now.checkpoint).toBe(300);
      expect(await world.readDeliveries()).toEqual([]);
      await expect(world.sluice.resumeChain(CHAIN, { from: 9_999 })).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('its head is 311') as string,
      });
      // The chain is read once more after the request.
      await expect.poll(async () => (await world.health()).state).toBe('down');
      const halt = { kind: 'halted', from: 301, to: null, reason: now.message, endedAt: null };
      // The halt is recorded after it is reported.
      await expect.poll(() => world.sluice.listGaps({ chain: CHAIN })).toMatchObject([halt]);
    };

    test('from a given block, with a hole below it that a backfill can fill', async () => {
      await halted();
      expect(await world.sluice.resumeChain(CHAIN, { from: 305 })).toEqual({
        chainId: CHAIN,
        from: 305,
      });
      await world.caughtUp();
      world.chain.mineMany(CONFIRMATIONS);
      await world.expectOracle(305);

      const client = createClient({ apiKey: API_KEY, baseUrl: world.service.url });
      const [stream] = (await client.streams.list()).result;
      const [coverage] = await world.sluice.getCoverage(stream!.id);
      const [hole] = coverage!.holes;
      expect(coverage!.holes).toEqual([{ from: hole!.from, to: 304, reason: 'resumed' }]);
      expect(hole!.from).toBeLessThanOrEqual(300 - 255);
      expect(await world.sluice.listGaps({ chain: CHAIN })).toMatchObject([
        {
          kind: 'skipped',
          from: hole!.from,
          to: 304,
          reason: 'resumed by request from block 305',
        },
        { kind: 'halted', endedAt: expect.any(Number) as number },
      ]);

      const { jobId } = await client.streams.createHistoricalJob({
        streamId: stream!.id,
        chainId: CHAIN,
        blockFrom: hole!.from,
        blockTo: 304,
      });
      await world.until(
        'the backfill is done',
        async () => (await world.sluice.getJob(jobId!)).state === 'done',
      );
      expect((await world.sluice.getCoverage(stream!.id))[0]!.holes).toEqual([]);
      const delivered = new Set(
        (await world.readDeliveries())
          .filter((each) => each.phase === 'confirmed' && each.state !== 'cancelled')
          .map((each) => each.blockNumber),
      );
      for (let number = hole!.from; number <= 311; number++) {
        expect(delivered.has(number), String(number)).toBe(matches(number));
      }
    }, 180_000);

    test('from the head if no block is given', async () => {
      await halted();
      expect(await world.sluice.resumeChain(CHAIN)).toEqual({ chainId: CHAIN, from: 311 });
      await world.caughtUp();
      await world.until('the chain is live', async () => (await world.health()).state === 'live');
    }, 180_000);
  });
});
