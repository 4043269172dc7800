/** Searches the bodies of deliveries. */
import { type BodyQuery, EACH, matchesPath, toLowerAscii } from '@sluice/kit/contract';
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { ENVELOPE_KEYS, joinBody, type StoredBody } from '../blocks/body.ts';
import { type DeliveryRow, deliveryColumns } from '../rows/deliveryRow.ts';
import { takeRowsWithin } from '../rows/pages.ts';
import type { Tables } from '../tables/tables.ts';
import { allOf, escaped } from './deliveryFilter.ts';

/** Maximum total size of the bodies that are parsed for one page. */
const MAX_PARSED_BYTES = 8 * 1024 * 1024;
/** Maximum size of the bodies that are read and parsed at once, which blocks other requests. */
const BATCH_BYTES = 512 * 1024;
const BATCH_ROWS = 200;

/**
 * Lists deliveries whose body matches, in this direction. `testedTo` is the last delivery that was
 * tested if the limit for parsed bodies was reached before any other limit.
 *
 * @param conditions select the deliveries to search, from columns of the table `delivery`
 */
export async function findByBody(
  db: Kysely<Tables>,
  query: BodyQuery,
  {
    conditions,
    direction,
    isBeyond,
    limit,
  }: {
    conditions: readonly RawBuilder<SqlBool>[];
    direction: RawBuilder<unknown>;
    /** The operator that selects the ids after another one. */
    isBeyond: RawBuilder<unknown>;
    limit: number;
  },
): Promise<{ rows: DeliveryRow[]; testedTo: string | undefined }> {
  const rows: DeliveryRow[] = [];
  let parsedBytes = 0;
  let testedTo: string | undefined;
  for (;;) {
    // The database excludes most bodies, but only this process compares them in the same way on
    // each engine.
    const beyond = testedTo === undefined ? [] : [sql<SqlBool>`id ${isBeyond} ${testedTo}`];
    const { rows: candidates } = await sql<{ id: string; bytes: number }>`
      select id, body_bytes as bytes from delivery
      where ${allOf([...conditions, ...beyond, ...mayMatch(query)])}
      order by id ${direction} limit ${BATCH_ROWS}`.execute(db);
    const batch = takeRowsWithin(candidates, BATCH_BYTES);
    const last = batch.at(-1);
    if (last === undefined) return { rows, testedTo: undefined };
    const found = await readBodies(
      db,
      batch.map(({ id }) => id),
      direction,
    );
    rows.push(...found.filter((row) => matches(row, query)));
    if (rows.length >= limit) return { rows: rows.slice(0, limit), testedTo: undefined };
    testedTo = last.id;
    parsedBytes += batch.reduce((sum, { bytes }) => sum + bytes, 0);
    if (parsedBytes >= MAX_PARSED_BYTES) return { rows, testedTo };
  }
}

type RowWithBody = DeliveryRow & { body_head: string; body_tail: string };

async function readBodies(
  db: Kysely<Tables>,
  ids: readonly string[],
  direction: RawBuilder<unknown>,
): Promise<RowWithBody[]> {
  const columns = deliveryColumns.map((column) => sql.ref(`delivery.${column}`));
  const { rows } = await sql<RowWithBody>`
    select ${sql.join(columns)}, match.body_head, match.body_tail
    from delivery join match on match.id = delivery.match_id
      and match.block_day = delivery.block_day
    where delivery.id in (${sql.join(ids)}) order by delivery.id ${direction}`.execute(db);
  return rows;
}

function matches(row: RowWithBody, query: BodyQuery): boolean {
  const stored: StoredBody = { bodyHead: row.body_head, bodyTail: row.body_tail };
  if ('text' in query) {
    const text = toLowerAscii(query.text);
    return Object.values(stored).some((part) => toLowerAscii(part).includes(text));
  }
  const retries = Math.max(0, row.attempts - 1);
  return matchesPath(JSON.parse(joinBody({ ...stored, phase: row.phase, retries })), query);
}

/** Returns conditions that each body that matches meets. */
function mayMatch(query: BodyQuery): RawBuilder<SqlBool>[] {
  const texts = 'text' in query ? [query.text] : textsOnPath(query);
  return texts
    .map(longestAscii)
    .filter(Boolean)
    .map((text) => {
      const pattern = `%${escaped(text)}%`;
      return sql<SqlBool>`exists (select 1 from match where match.id = delivery.match_id
      and match.block_day = delivery.block_day and (lower(match.body_head) like ${pattern} escape '!'
        or lower(match.body_tail) like ${pattern} escape '!'))`;
    });
}

/** Returns texts that the stored JSON contains if it has the path and the value. */
function textsOnPath({ path, value }: Extract<BodyQuery, { path: unknown }>): string[] {
  const isOfEnvelope = path.length === 1 && (path[0] === EACH || ENVELOPE_KEYS.includes(path[0]));
  if (isOfEnvelope) return [];
  const key = path.findLast((step) => typeof step === 'string');
  return [
    ...(key === undefined ? [] : [`"${key}":`]),
    ...(value === undefined ? [] : [JSON.stringify(value).slice(1, -1)]),
  ];
}

/**
 * Returns the longest part of a text that has only ASCII characters, because the engines differ in
 * the lowercase of others.
 */
const longestAscii = (text: string): string =>
  text
    .split(/[^\x20-\x7e]+/)
    .reduce((longest, part) => (part.length > longest.length ? part : longest));
