/** Tests ledgers whose disk is full, whose server stops, or whose connections stop responding. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FaultProxy, startFaultProxy, until } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { isRoot, requireRoot } from './root.ts';
import { CHAIN, type FaultWorld, STORES, type Watch, startWorld } from './world.ts';

const DISK_MIB = 96;
const STANDS_MS = 2_000;

/** Mines a block every 50 ms until stopped. */
function mineSteadily(world: FaultWorld, watch: Watch): { stop(): Promise<void> } {
  let stopped = false;
  const mining = (async () => {
    while (!stopped) {
      world.mine([watch]);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await mining;
    },
  };
}

describe.each(STORES)('a full disk, on %s', (store) => {
  const disk = mkdtempSync(join(tmpdir(), 'sluice-disk-'));
  const ballast = join(disk, 'ballast');
  let world: FaultWorld;

  beforeAll(async () => {
    requireRoot();
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=1777`, 'tmpfs', disk]);
    // With PostgreSQL, only the tables are on the small disk; the write-ahead log is elsewhere.
    world = await startWorld(store, {
      args: ['--min-free-mib', '0'],
      ...(store === 'sqlite' && { folder: join(disk, 'data') }),
      onPostgres: async ({ url }) => {
        const tables = join(disk, 'tables');
        mkdirSync(tables);
        execFileSync('chown', ['postgres', tables]);
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query(`create tablespace small location '${tables}'`);
        await client.query('create database ledger tablespace small');
        await client.end();
        return url.replace(/postgres$/, 'ledger');
      },
    });
  });
  afterAll(async () => {
    await world?.stop();
    if (isRoot) execFileSync('umount', ['--lazy', disk]);
    rmSync(disk, { recursive: true });
  });

  test('fault 14: nothing is lost, and calls get a 503 with Retry-After', async () => {
    const watch = await world.watch('full');
    world.mine([watch], 3);
    await world.holds([watch]);
    const { bavail, bsize } = statfsSync(disk);
    // Leaves 64 KiB, which the next blocks use up.
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - 64 * 1024));
    const checkpoint = (): Promise<number> =>
      world.ledger.value(`select number from checkpoint where chain = '${CHAIN}'`);
    const isFull = (): boolean => /disk is full|No space left/i.test(world.service.output());
    await until(
      'the disk is full',
      () => world.mine([watch], 20).length > 0 && isFull(),
      60_000,
      500,
    );
    const head = Number(world.chain.head.number);
    // A small commit may still fit into a partly used page, so the checkpoint may still advance.
    const stuckAt = await until('the checkpoint stays', async () => {
      const before = await checkpoint();
      await new Promise((resolve) => setTimeout(resolve, STANDS_MS));
      return (await checkpoint()) === before && before;
    });
    expect(stuckAt).toBeLessThan(head);
    const response = await until('a call that needs space fails', async () => {
      const call = await fetch(`${world.service.url}/streams/evm`, {
        method: 'PUT',
        headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({
          webhookUrl: world.receiver.url,
          description: 'x'.repeat(500),
          tag: 'more',
          chainIds: [CHAIN],
        }),
      });
      return call.ok ? undefined : call;
    });
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await checkpoint()).toBe(stuckAt);
    rmSync(ballast);
    await world.holds([watch]);
    expect(await checkpoint()).toBe(head);
  });
});

describe('on postgres', () => {
  let world: FaultWorld;
  let proxy: FaultProxy;

  beforeAll(async () => {
    world = await startWorld('postgres', {
      onPostgres: async ({ url, port }) => {
        proxy = await startFaultProxy({ port });
        return url.replace(String(port), String(proxy.port));
      },
    });
  });
  afterAll(async () => {
    await world?.stop();
    await proxy?.stop();
  });

  test.each(['fast', 'immediate', 'kill -9'] as const)(
    'fault 15: the server stops (%s) under load and comes back',
    async (mode) => {
      const watch = await world.watch('restarted');
      const mining = mineSteadily(world, watch);
      const arrived = (): number => world.receiver.requestsOf(watch).length;
      await until('the service is under load', () => arrived() > 20);
      if (mode === 'kill -9') await world.postgres!.kill();
      await world.postgres!.restart(mode === 'kill -9' ? 'immediate' : mode);
      await world.lostLeases.note();
      const before = arrived();
      await until('deliveries continue', () => arrived() > before + 5);
      await mining.stop();
      await world.holds([watch]);
    },
  );

  test('fault 17: connections to the server go dead without closing', async () => {
    const watch = await world.watch('dead-path');
    const mining = mineSteadily(world, watch);
    const arrived = (): number => world.receiver.requestsOf(watch).length;
    await until('the service is under load', () => arrived() > 20);
    proxy.blackHole();
    await until('deliveries stop', async () => {
      const before = arrived();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return arrived() === before;
    });
    await world.lostLeases.note();
    proxy.heal();
    const before = arrived();
    await until('deliveries continue', () => arrived() > before + 5, 120_000);
    await mining.stop();
    await world.holds([watch]);
  });
});
