/** Searches deliveries by conditions that no index covers, checking a limited number at a time. */
import {
  type AttemptResult,
  type DeliverySearch,
  type OneOrMany,
  readBodyQuery,
} from '@sluice/kit/contract';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { TIMED_OUT } from '../../base/timedOut.ts';
import type { Tables } from '../tables/tables.ts';
import { type DeliveryRow, deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import { takeRowsWithin } from '../rows/pages.ts';
import { findByBody } from './bodySearch.ts';
import type { DeliveryListing, DeliveryReads } from './contract.ts';
import { allOf, escaped, inLanes, toConditions } from './deliveryFilter.ts';

/**
 * Limits for one page: the number of deliveries that are checked, and the total size of their
 * bodies.
 */
const MAX_CHECKED = 20_000;
const MAX_CHECKED_BYTES = 32 * 1024 * 1024;
/** Maximum number of watched addresses to search for because their label contains the text. */
const MAX_LABELED = 100;

/** Returns whether the ledger has matches with records of this transaction. */
export async function isTransaction(db: Kysely<Tables>, hash: string): Promise<boolean> {
  if (hash.length !== HASH_LENGTH) return false;
  const found = await db
    .selectFrom('match_transaction')
    .select('match_id')
    .where('transaction_hash', '=', hash)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

const HASH_LENGTH = 66;
const ADDRESS = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Lists the deliveries that match a search. A page that reaches its limits may be partial or empty;
 * `next` continues the search. The text in `search.find` must be in lowercase.
 */
export async function searchDeliveries(
  db: Kysely<Tables>,
  search: DeliverySearch,
  { limit, after, order, ...given }: Omit<DeliveryListing, keyof DeliverySearch>,
): ReturnType<DeliveryReads['listDeliveries']> {
  const filter = await inLanes(db, given);
  const body = search.body === undefined ? undefined : readBodyQuery(search.body);
  const [direction, beyond, upTo] =
    order === 'oldest' ? [sql`asc`, sql`>`, sql`<=`] : [sql`desc`, sql`<`, sql`>=`];
  // A delivery is never newer than its attempts.
  const createdTo = Math.min(filter.createdTo ?? Infinity, search.attemptedTo ?? Infinity);
  const conditions = toConditions({ ...filter, ...(createdTo < Infinity && { createdTo }) });
  if (after !== undefined) conditions.push(sql`id ${beyond} ${after}`);
  const { rows: stretch } = await sql<{ id: string; bytes: number }>`
    select id, body_bytes as bytes from delivery where ${allOf(conditions)}
    order by id ${direction} limit ${MAX_CHECKED + 1}`.execute(db);
  const checked = takeRowsWithin(
    stretch.slice(0, MAX_CHECKED),
    search.find === undefined && body === undefined ? Infinity : MAX_CHECKED_BYTES,
  );
  const last = checked.at(-1);
  if (last === undefined) return { rows: [], next: undefined };
  conditions.push(sql`id ${upTo} ${last.id}`, ...hasAttempt(search));
  if (search.find !== undefined) {
    conditions.push(await isAbout(db, search.find, given.streamId));
  }
  const { rows, testedTo } =
    body === undefined
      ? { rows: await listRows(db, conditions, direction, limit + 1), testedTo: undefined }
      : await findByBody(db, body, { conditions, direction, isBeyond: beyond, limit: limit + 1 });
  const found = rows.slice(0, limit).map(toDeliverySummary);
  const next =
    rows.length > limit
      ? found.at(-1)?.id
      : (testedTo ?? (checked.length < stretch.length ? last.id : undefined));
  return { rows: found, next, searchedTo: next };
}

async function listRows(
  db: Kysely<Tables>,
  conditions: readonly RawBuilder<SqlBool>[],
  direction: RawBuilder<unknown>,
  limit: number,
): Promise<DeliveryRow[]> {
  const { rows } = await sql<DeliveryRow>`
    select ${sql.join(deliveryColumns.map((column) => sql.ref(column)))}
    from delivery where ${allOf(conditions)} order by id ${direction} limit ${limit}`.execute(db);
  return rows;
}

/** Returns the condition that one attempt meets all conditions on attempts. */
function hasAttempt({
  attemptedFrom,
  attemptedTo,
  durationFrom,
  durationTo,
  attemptResult,
}: DeliverySearch): RawBuilder<SqlBool>[] {
  const bounds: RawBuilder<SqlBool>[] = [];
  if (attemptedFrom !== undefined) bounds.push(sql`started_at + duration_ms >= ${attemptedFrom}`);
  if (attemptedTo !== undefined) bounds.push(sql`started_at + duration_ms <= ${attemptedTo}`);
  if (durationFrom !== undefined) bounds.push(sql`duration_ms >= ${durationFrom}`);
  if (durationTo !== undefined) bounds.push(sql`duration_ms <= ${durationTo}`);
  if (attemptResult !== undefined) bounds.push(hasResult(attemptResult));
  if (bounds.length === 0) return [];
  return [
    sql`exists (select 1 from attempt where attempt.delivery_id = delivery.id
      and attempt.block_day = delivery.block_day and ${allOf(bounds)})`,
  ];
}

/** Must agree with `activityMetricsOf`, by which charts count attempts. */
function hasResult(result: AttemptResult): RawBuilder<SqlBool> {
  if (result === 'succeeded') return sql`error is null`;
  if (result === 'timeout' || result === 'none') {
    const like = result === 'timeout' ? sql`like` : sql`not like`;
    return sql`(status is null or status < 300) and error ${like} ${`${TIMED_OUT}%`}`;
  }
  const first = Number(result[0]) * 100;
  return sql`status >= ${first} and status < ${first + 100}`;
}

/**
 * Returns the condition that a delivery's summary contains the text, or its body contains this
 * address or, if the text is not an address, a watched address whose label contains the text.
 *
 * @param find the text, in lowercase
 */
async function isAbout(
  db: Kysely<Tables>,
  find: string,
  streamId: OneOrMany<string> | undefined,
): Promise<RawBuilder<SqlBool>> {
  const inSummary = sql<SqlBool>`lower(about) like ${`%${escaped(find)}%`} escape '!'`;
  const addresses = ADDRESS.test(find) ? [find] : await findLabeled(db, find, streamId);
  if (addresses.length === 0) return inSummary;
  // Bodies contain addresses in lowercase. In topics, addresses have no prefix `0x`.
  const inBody = addresses.map(
    (address) => sql<SqlBool>`match.body_tail like ${`%${address.slice(2)}%`}`,
  );
  return sql<SqlBool>`(${inSummary} or exists (select 1 from match where match.id = delivery.match_id
    and match.block_day = delivery.block_day and (${sql.join(inBody, sql` or `)})))`;
}

/** Finds watched addresses with a label that contains the text. */
async function findLabeled(
  db: Kysely<Tables>,
  find: string,
  streamId: OneOrMany<string> | undefined,
): Promise<string[]> {
  let query = db
    .selectFrom('stream_address')
    .select('address')
    .distinct()
    .where(sql<SqlBool>`lower(label) like ${`%${escaped(find)}%`} escape '!'`);
  if (streamId !== undefined) query = query.where('stream_id', 'in', [streamId].flat());
  const rows = await query.limit(MAX_LABELED).execute();
  return rows.map(({ address }) => address);
}
