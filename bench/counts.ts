/**
 * Measures how long the store takes for `GET /sluice/counts` in ledgers of 30 days with 40 streams,
 * one of which has half of all deliveries. Each figure is the median of nine readings.
 */
import { type Kysely, sql } from 'kysely';
import type { DeliveryFilter } from '@sluice/kit/contract';
import type { Engine } from '../packages/service/src/store/engine/engine.ts';
import { pastId } from '../packages/service/src/store/rows/ids.ts';
import { toDay } from '../packages/service/src/store/engine/days.ts';
import type { Store } from '../packages/service/src/store/store.ts';
import type { Tables } from '../packages/service/src/store/tables/tables.ts';
import type { EngineName } from './delivery/ledgers.ts';
import type { Figures } from './figures.ts';
import { timeReadings, withFilledLedger } from './filledLedger.ts';

const SIZES = [150_000, 1_000_000];
const DAY_MS = 86_400_000;
const DAYS = 30;
const STREAMS = Array.from({ length: 40 }, (_, n) => `stream ${n}`);
const CHAINS = ['0x1', '0x89', '0x2105', 'aptos:mainnet'];
const BATCH = 10_000;

export async function measureCounts(name: EngineName): Promise<Figures> {
  const figures: Figures = {};
  for (const size of SIZES) {
    const measure = async (store: Store): Promise<void> => {
      // On SQLite, the first call starts the thread in which the store counts.
      await store.countByField({});
      for (const [what, filter] of Object.entries(filtersOf(Date.now()))) {
        figures[`${what}, of ${size.toLocaleString('en')}`] = await timeReadings(() =>
          store.countByField(filter),
        );
      }
    };
    await withFilledLedger(name, (db, engine) => fill(db, engine, size), measure);
  }
  return figures;
}

const filtersOf = (now: number): Record<string, DeliveryFilter> => ({
  all: {},
  failed: { state: 'failed' },
  'largest stream': { streamId: STREAMS[0]! },
  'the same, 7 days': { streamId: STREAMS[0]!, createdFrom: now - 7 * DAY_MS },
  'three streams': { streamId: STREAMS.slice(0, 3) },
  'every stream, listed': { streamId: STREAMS },
  '24 hours': { createdFrom: now - DAY_MS },
  'before 20 days ago': { createdTo: now - 20 * DAY_MS },
  'removed from the chain': { reorged: true },
});

const text = (...columns: string[]) => columns.map((column) => [column, 'text'] as const);
const number = (...columns: string[]) => columns.map((column) => [column, 'bigint'] as const);
const MATCH_COLUMNS = Object.fromEntries([
  ...text('id', 'stream_id', 'chain', 'block_hash', 'block_day', 'origin', 'state', 'tag', 'about'),
  ...text('body_head', 'body_tail'),
  ...number('block_number', 'part', 'parts', 'logs', 'transactions', 'internal_transactions'),
  ...number('body_bytes', 'created_at'),
]);
const DELIVERY_COLUMNS = Object.fromEntries([
  ...text('id', 'match_id', 'stream_id', 'phase', 'chain', 'block_day', 'tag', 'state', 'about'),
  ...text('last_error'),
  ...number('block_number', 'records', 'attempts', 'claims', 'lost', 'ordered', 'fast_retried'),
  ...number('body_bytes', 'run_at', 'last_status', 'created_at', 'updated_at'),
]);

const ABOUT = 'Transfer 250.5 USDC 0x28c6…1d60 → 0x5a52…efcb';

/**
 * Inserts deliveries that are spread evenly over the days. One in 40 has failed, and one in 40 was
 * canceled.
 */
async function fill(db: Kysely<Tables>, engine: Engine, size: number): Promise<void> {
  const from = Date.now() - DAYS * DAY_MS;
  const append = async (
    table: 'match' | 'delivery',
    columns: typeof MATCH_COLUMNS,
    rows: readonly object[],
  ): Promise<void> => {
    const names = sql.join(Object.keys(columns).map((column) => sql.ref(column)));
    await sql`insert into ${sql.table(table)} (${names})
      select ${names} from ${engine.rows(rows, columns)} as made`.execute(db);
  };
  for (let day = 0; day <= DAYS; day++) {
    await db.transaction().execute((trx) => engine.openDay(trx, toDay(from + day * DAY_MS)));
  }
  for (let begun = 0; begun < size; begun += BATCH) {
    const made = Array.from({ length: BATCH / 2 }, (_, n) => {
      const place = begun / 2 + n;
      return toMatch(place, Math.floor(from + (2 * place * DAYS * DAY_MS) / size));
    });
    await append('match', MATCH_COLUMNS, made);
    await append('delivery', DELIVERY_COLUMNS, made.flatMap(toDeliveries));
  }
}

function toMatch(place: number, at: number) {
  // A pseudo-random number that is the same in each run.
  const dice = (place * 2_654_435_761) % 1_000_003;
  return {
    id: pastId(at),
    stream_id: STREAMS[dice % 2 === 0 ? 0 : 1 + (dice % 39)]!,
    chain: CHAINS[dice % CHAINS.length]!,
    block_number: 20_000_000 + place,
    block_hash: `0x${place}`,
    block_day: toDay(at),
    part: 0,
    parts: 1,
    origin: 'live:0',
    state: dice % 250 === 0 ? 'orphaned' : 'confirmed',
    tag: '',
    logs: 1,
    transactions: 0,
    internal_transactions: 0,
    body_head: '',
    body_tail: '',
    body_bytes: 900,
    created_at: at,
    about: ABOUT,
    dice,
  };
}

function toDeliveries({
  id,
  stream_id,
  chain,
  block_number,
  block_day,
  created_at,
  dice,
}: ReturnType<typeof toMatch>) {
  return ['unconfirmed', 'confirmed'].map((phase, n) => {
    const fate = (dice + n) % 40;
    const attempts = fate === 0 ? 11 : fate === 1 ? dice % 4 : 1;
    const status = fate > 1 ? 200 : attempts === 0 ? null : [404, 500, 503][dice % 3]!;
    return {
      id: pastId(created_at),
      match_id: id,
      stream_id,
      phase,
      chain,
      block_number,
      block_day,
      tag: '',
      state: fate === 0 ? 'failed' : fate > 1 ? 'succeeded' : 'cancelled',
      last_error: status === 200 || status === null ? null : `HTTP ${status}`,
      records: 1,
      attempts,
      claims: attempts,
      lost: 0,
      ordered: 0,
      fast_retried: 0,
      body_bytes: 900,
      run_at: created_at,
      last_status: status,
      created_at,
      updated_at: created_at,
      about: ABOUT,
    };
  });
}
