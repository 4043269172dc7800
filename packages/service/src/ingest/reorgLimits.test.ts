/**
 * Reorgs deeper than what the ledger remembers, and the ways on from there (`ingest.test.ts` has those
 * that are not so deep). On both stores.
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

  test('deeper than the window start a local chain over at its head, and say so', async () => {
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

  describe('halt a chain, and the way out', () => {
    /** Of the other branch, whose blocks begin at 2. */
    const matches = (number: number): boolean => number % 20 === 0 || number > 300;

    /** A chain that halted since another branch came from below its window; it goes on from no block its node lacks. */
    const halted = async (): Promise<void> => {
      await world.startWatching();
      world.chain.mineMany(300);
      await world.caughtUp();
      world.chain.fork({
        depth: 299,
        blocks: Array.from({ length: 310 }, (_, n) => (matches(n + 2) ? transferTo(WATCHED) : {})),
      });
      const now = await world.until('it halts', async () => {
        const health = await world.health();
        return health.state === 'down' && health;
      });
      expect(now.message).toMatch(
        /reorg reaches below block \d+, the oldest block in the ledger's window/,
      );
      // Nothing is skipped.
      expect(now.checkpoint).toBe(300);
      expect(await world.readDeliveries()).toEqual([]);
      await expect(world.sluice.resumeChain(CHAIN, { from: 9_999 })).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('its head is 311') as string,
      });
      expect((await world.health()).state).toBe('down');
      const halt = { kind: 'halted', from: 301, to: null, reason: now.message, endedAt: null };
      expect(await world.sluice.listGaps({ chain: CHAIN })).toMatchObject([halt]);
    };

    test('is a block to go on from; what lies between is a hole that a backfill can fill', async () => {
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
          ...{ from: hole!.from, to: 304 },
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

    test('is the head where no block is named', async () => {
      await halted();
      expect(await world.sluice.resumeChain(CHAIN)).toEqual({ chainId: CHAIN, from: 311 });
      await world.caughtUp();
      await world.until('it is live', async () => (await world.health()).state === 'live');
    }, 180_000);
  });
});
