import type { Db } from '../tables/tables.ts';

/**
 * Milliseconds between the probes of a stream in `error`. A probe is one delivery that tests
 * whether the receiver responds again.
 */
export const PROBE_EVERY_MS = 10 * 60_000;

/** Sets the time of the next probe; returns false if another process was first. */
export async function takeProbe(trx: Db, streamId: string, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('stream')
    .set({ probe_at: now + PROBE_EVERY_MS })
    .where('id', '=', streamId)
    .where('probe_at', '<=', now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
