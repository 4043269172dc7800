/** Keeps the waits of a SQLite ledger correct when the system clock goes back. */
import { sql } from 'kysely';
import type { Db } from '../../tables/tables.ts';

/** Largest step back that is ignored, in milliseconds. Clocks are often corrected by less. */
const TOLERATED_MS = 1_000;
const SETTING = 'clock';

/** Columns of times until which something waits, and the rows that still wait. */
const WAITS: readonly { table: string; columns: readonly string[]; where?: string }[] = [
  {
    table: 'delivery',
    columns: ['run_at', 'lease_until'],
    where: "state in ('enriching', 'held', 'pending', 'leased')",
  },
  { table: 'stream', columns: ['next_send_at', 'back_off_until', 'probe_at'] },
  { table: 'lease', columns: ['until'] },
  { table: 'replay', columns: ['next_at'] },
  { table: 'uncertain', columns: ['due_at'] },
  { table: 'alert', columns: ['run_at'] },
];

/**
 * Records the time. If the system clock has gone back since the last record, moves all waits by the
 * same step, so that they do not last longer.
 */
export async function followClock(trx: Db): Promise<void> {
  const now = Date.now();
  const last = await trx
    .selectFrom('setting')
    .select('value')
    .where('key', '=', SETTING)
    .executeTakeFirst();
  const stepMs = Number(last?.value ?? now) - now;
  if (stepMs > TOLERATED_MS) {
    for (const { table, columns, where = 'true' } of WAITS) {
      const moved = columns.map(
        (column) => sql`${sql.ref(column)} = ${sql.ref(column)} - ${stepMs}`,
      );
      await sql`update ${sql.table(table)} set ${sql.join(moved)} where ${sql.raw(where)}`.execute(
        trx,
      );
    }
  }
  await trx
    .insertInto('setting')
    .values({ key: SETTING, value: String(now) })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: String(now) }))
    .execute();
}
