/** Tests a process whose clock jumps. On PostgreSQL, the clock of the database stays correct. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultWorld, STORES, startWorld } from './world.ts';

const OTHER_CLOCK = fileURLToPath(new URL('otherClock.ts', import.meta.url));
const FAST_RETRY_MS = 5_000;
/**
 * Response time of the slow receiver, long enough for two searches for expired leases (one every 3
 * s).
 */
const SLOW_MS = 8_000;

describe.each(STORES)('on %s', (store) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clock-'));
  const file = join(folder, 'offset');
  const jump = (seconds: number): void =>
    writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`);
  let world: FaultWorld;

  beforeAll(async () => {
    jump(0);
    world = await startWorld(store, {
      serve: { nodeFlags: ['--import', OTHER_CLOCK], env: { FAULT_CLOCK: file } },
    });
  });
  afterAll(async () => {
    await world?.stop();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['1 h ahead', 3600],
    ['1 h behind', -3600],
    ['5 min off its database', 300],
  ])('fault 22: the process clock is set %s', async (_, seconds) => {
    jump(0);
    const watch = await world.watch('clock', { deliver: 'confirmed' });
    const slow = await world.watch('slow', { deliver: 'confirmed' });
    world.receiver.respond(watch.path, [500, 200]);
    world.receiver.respond(slow.path, { delayMs: SLOW_MS });
    world.mine([watch, slow]);
    world.mine([], 2);
    await until('one delivery awaits its retry, one is in flight', () =>
      [watch, slow].every((each) => world.receiver.requestsOf(each).length > 0),
    );
    jump(seconds);
    const later = await world.watch('later');
    world.mine([later], 3);
    await until('new deliveries arrive', () => world.receiver.requestsOf(later).length >= 3);
    if (store === 'postgres') {
      // Leases and signatures use the clock of the database, so no retry is early, and signatures
      // have the correct time.
      await until('the retry arrives', () => world.receiver.requestsOf(watch).length > 1);
      const [first, second] = world.receiver.requestsOf(watch);
      expect(second!.receivedAt - first!.receivedAt).toBeGreaterThanOrEqual(FAST_RETRY_MS);
      for (const { headers, receivedAt } of world.receiver.requestsOf(later)) {
        const signedAt = Number(headers['webhook-timestamp']) * 1_000;
        expect(Math.abs(signedAt - receivedAt)).toBeLessThan(10_000);
      }
    } else {
      // SQLite leases use the clock of the process, so a jump ahead makes every lease seem expired.
      await until(
        'the slow delivery succeeds',
        async () =>
          (
            await world.ledger.rows(`
          select id from delivery where stream_id = '${slow.streamId}' and state = 'succeeded'`)
          ).length > 0,
      );
      expect(world.receiver.requestsOf(slow)).toHaveLength(1);
      jump(0);
    }
    // No lease is lost, so no delivery may be sent twice.
    await world.holds([watch, slow, later]);
    await until('the retry arrives', () => world.receiver.requestsOf(watch).length > 1);
  });
});
