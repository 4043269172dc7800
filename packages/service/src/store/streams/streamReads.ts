/** Reads streams and the state of their receivers. */
import { FEED_URL, QUEUE_SCHEMES, TABLES_PREFIX, queueBrokerOf } from '@sluice/kit/contract';
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';
import { countRows, takeRowsWithin } from '../rows/pages.ts';
import { streamColumns, toDestination, toStreamRecord } from './streamRow.ts';
import type { StreamReads } from './contract.ts';

/** Time for which a back-off is still listed after its end, because the probe may be in flight. */
const PROBE_TAKES_MS = 30_000;

/** A stream whose receiver is backed off, with the current time of the ledger's clock. */
type BackedOffRow = { now: number } & Pick<
  Tables['stream'],
  | 'id'
  | 'status'
  | 'error_since'
  | 'probe_at'
  | 'back_off_reason'
  | 'back_off_since'
  | 'back_off_until'
>;

/** Maximum total size of the options, headers and OAuth 2.0 credentials of the streams on a page, in bytes. */
const PAGE_BYTES = 2 * 1024 * 1024;

/** Kinds of destinations by the pattern of their URL. The first pattern that matches decides. */
const KINDS: readonly [pattern: string, kind: string][] = [
  [FEED_URL, 'feed'],
  ['sluice:%', 'inbox'],
  ['http%', 'http'],
  [`${TABLES_PREFIX}%`, TABLES_PREFIX],
  ...QUEUE_SCHEMES.map((scheme): [string, string] => [
    `${scheme}%`,
    queueBrokerOf(scheme)!.name.toLowerCase(),
  ]),
];
const KIND = sql<string>`case ${sql.join(
  KINDS.map(
    ([pattern, kind]) =>
      sql`when lower(webhook_url) like ${sql.lit(pattern)} then ${sql.lit(kind)}`,
  ),
  sql` `,
)} else 'other' end`;

export function createStreamReads(db: Kysely<Tables>, engine: Engine): StreamReads {
  return {
    async readStream(id) {
      const row = await db
        .selectFrom('stream')
        .select(streamColumns)
        .where('id', '=', id)
        .where('destination_of', 'is', null)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      return row && toStreamRecord(row);
    },

    async listDestinations(streamId) {
      let query = db
        .selectFrom('stream')
        .select(streamColumns)
        .where('destination_of', 'is not', null)
        .where('deleted_at', 'is', null);
      if (streamId !== undefined) query = query.where('destination_of', '=', streamId);
      const rows = await query.orderBy('created_at').orderBy('id').execute();
      return rows.map(toDestination);
    },

    async countDestinations() {
      return db
        .selectFrom('stream')
        .select((eb) => [KIND.as('kind'), 'status', eb.fn.countAll<number>().as('count')])
        .where('deleted_at', 'is', null)
        .groupBy(['kind', 'status'])
        .orderBy('kind')
        .orderBy('status')
        .execute();
    },

    async listStreams({ limit, after, family, status }) {
      const chosen = sql<SqlBool>`deleted_at is null and destination_of is null
        ${family === undefined ? sql`` : sql`and family = ${family}`}
        ${status === undefined ? sql`` : sql`and status = ${status}`}`;
      let query = db
        .selectFrom('stream')
        .select(['id', 'created_at'])
        .select(
          sql<number>`octet_length(options) + octet_length(headers)
          + coalesce(octet_length(oauth2), 0)`.as('bytes'),
        )
        .where(chosen);
      if (after !== undefined) {
        query = query.where(
          sql<boolean>`(created_at, id) < (${sql.val(after.at)}, ${sql.val(after.id)})`,
        );
      }
      const found = await query
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      const page = takeRowsWithin(found.slice(0, limit), PAGE_BYTES);
      const last = page.at(-1);
      const ids = page.map(({ id }) => id);
      const isPaged = sql<SqlBool>`id in (${ids.length > 0 ? sql.join(ids) : null})`;
      const rows = await db
        .selectFrom('stream')
        .select(streamColumns)
        .where(isPaged)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute();
      return {
        rows: rows.map(toStreamRecord),
        total: await countRows(db, 'stream', chosen),
        next: found.length > page.length && last ? { at: last.created_at, id: last.id } : undefined,
      };
    },

    async listBackOffs() {
      const { rows } = await sql<BackedOffRow>`
        select id, status, error_since, probe_at, back_off_reason, back_off_since, back_off_until,
          ${engine.now()} as now
        from stream where deleted_at is null and (
          (status = 'active' and back_off_until > ${engine.now()} - ${sql.lit(PROBE_TAKES_MS)})
          or (status = 'error' and probe_at > ${engine.now()} - ${sql.lit(PROBE_TAKES_MS)}))`.execute(
        db,
      );
      return rows.map((row) => {
        const isInError = row.status === 'error';
        const until = (isInError ? row.probe_at : row.back_off_until) ?? row.now;
        return {
          streamId: row.id,
          reason: row.back_off_reason ?? 'failures',
          since: (isInError ? row.error_since : row.back_off_since) ?? row.now,
          until,
          leftMs: until - row.now,
        };
      });
    },

    async listCertificates() {
      const rows = await db
        .selectFrom('stream')
        .select(['id', 'certificate_ends_at'])
        .where('certificate_ends_at', 'is not', null)
        .where('deleted_at', 'is', null)
        .execute();
      return rows.map((row) => ({ streamId: row.id, endsAt: row.certificate_ends_at! }));
    },
  };
}
