/** A process whose clock jumps, and a database whose clock does not. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultWorld, STORES, startWorld } from './world.ts';

const OTHER_CLOCK = fileURLToPath(new URL('otherClock.ts', import.meta.url));
const FAST_RETRY_MS = 5_000;
/** Leases that ran out are looked for every 3 s: twice while the slow one is under way. */
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
    ['1 h back', -3600],
    ['5 min off its database', 300],
  ])('fault 22: the clock of the process is set %s', async (_, seconds) => {
    jump(0);
    const watch = await world.watch('clock', { deliver: 'confirmed' });
    const slow = await world.watch('slow', { deliver: 'confirmed' });
    world.receiver.answer(watch.path, [500, 200]);
    world.receiver.answer(slow.path, { delayMs: SLOW_MS });
    world.mine([watch, slow]);
    world.mine([], 2);
    await until('one waits for its retry, one is under way', () =>
      [watch, slow].every((each) => world.receiver.requestsOf(each).length > 0),
    );
    jump(seconds);
    const later = await world.watch('later');
    world.mine([later], 3);
    await until('what is new arrives', () => world.receiver.requestsOf(later).length >= 3);
    if (store === 'postgres') {
      // The ledger's clock decides: nothing early, nothing an hour late, and the true time signed.
      await until('the retry', () => world.receiver.requestsOf(watch).length > 1);
      const [first, second] = world.receiver.requestsOf(watch);
      expect(second!.receivedAt - first!.receivedAt).toBeGreaterThanOrEqual(FAST_RETRY_MS);
      for (const { headers, receivedAt } of world.receiver.requestsOf(later)) {
        const signedAt = Number(headers['webhook-timestamp']) * 1_000;
        expect(Math.abs(signedAt - receivedAt)).toBeLessThan(10_000);
      }
    } else {
      // One process owns the file, so its clock is the ledger's, and every lease seems to have run out.
      await until(
        'the slow one has ended',
        async () =>
          (
            await world.ledger.rows(`
          select id from delivery where stream_id = '${slow.streamId}' and state = 'succeeded'`)
          ).length > 0,
      );
      expect(world.receiver.requestsOf(slow)).toHaveLength(1);
      // Set right again, all is as it was.
      jump(0);
    }
    // No lease was taken for run out: nothing is sent twice.
    await world.holds([watch, slow, later]);
    await until('the retry', () => world.receiver.requestsOf(watch).length > 1);
  });
});
