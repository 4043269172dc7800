import { type Kysely, type SqlBool, sql } from 'kysely';
import type { ChainFamily } from '@sluice/kit/contract';
import type { Tables } from './tables.ts';
import { createAccessReads } from './accessReads.ts';
import { createActivityReads } from './activityReads.ts';
import { createEnrichReads } from './enrichReads.ts';
import { type Engine, readMoment } from './engine.ts';
import { createExplainReads } from './explainReads.ts';
import { createFacetReads } from './facetReads.ts';
import { createInboxReads } from './inbox.ts';
import { createInvariantReads } from './invariantReads.ts';
import { createJobReads } from './jobReads.ts';
import { lanesIn } from './lanes.ts';
import type { DayFilter } from './partitions.ts';
import { allOf, toConditions } from './deliveryFilter.ts';
import { createOperatorNoticeReads } from './noticeWrites.ts';
import { WAITING_COMMITS } from './postgresServers.ts';
import { createReplayReads } from './replayReads.ts';
import { createRetentionReads } from './retentionReads.ts';
import { createHistoryReads } from './historyReads.ts';
import { createTotalReads } from './totalReads.ts';
import {
  ADDRESSES_PER_PART,
  type AddressRecordPage,
  type ChainReport,
  type KeptDelivery,
  type Reads,
  type StreamOfFamily,
} from './store.ts';
import {
  countRows,
  takeWithin,
  deliveryColumns,
  streamColumns,
  toAddressRecord,
  toDeliverySummary,
  toStreamRecord,
} from './rows.ts';
import { joinBody } from './body.ts';
import { fromDigits } from './packedAddresses.ts';
import { readTransport } from './transport.ts';

/** From the end of a spell to the outcome of the attempt that asks whether the receiver is back. */
const PROBE_TAKES_MS = 30_000;

/** Of a stream whose receiver is spared, and the time of the ledger's clock. */
type Spell = { now: number } & Pick<
  Tables['stream'],
  'id' | 'status' | 'error_since' | 'probe_at' | 'spared_reason' | 'spared_since' | 'spared_until'
>;

/** At most 100 kB each. */
const PARTS_PER_PAGE = 20;

/** The addresses of a stream in their order: without what a change that is not active added or removed. */
function selectAddresses(db: Kysely<Tables>, streamId: string, after: string | undefined) {
  const pending = sql<number>`coalesce((
    select id from address_change where stream_id = ${streamId} and state <> 'active'), -1)`;
  const rows = db
    .selectFrom('stream_address')
    .where('stream_id', '=', streamId)
    .where('added_by', '!=', pending)
    .where((eb) => eb.or([eb('removed_by', 'is', null), eb('removed_by', '=', pending)]))
    .orderBy('address');
  return after === undefined ? rows : rows.where('address', '>', after);
}

async function addressPageOf(
  chosen: ReturnType<typeof selectAddresses>,
  limit: number,
): Promise<AddressRecordPage> {
  const rows = await chosen
    .leftJoin('api_key', 'api_key.id', 'stream_address.key_id')
    .select(['address', 'label', 'added_at', 'key_id', 'api_key.name as adder'])
    .limit(limit + 1)
    .execute();
  const addresses = rows.slice(0, limit).map(toAddressRecord);
  return { addresses, next: rows.length > limit ? addresses.at(-1)?.address : undefined };
}

/** Beyond every hex digit. */
const AFTER_DIGITS = 'g';
/** With what was left out between them, as hashes are shown. */
const ENDS = /^(0x[0-9a-f]*)(?:…|\.\.\.)([0-9a-f]*)$/;

/** Which addresses a search finds: by the key where it says how they begin, else each is looked at. */
function isSought(find: string) {
  const wanted = find.toLowerCase();
  const [, head = wanted, tail = ''] = ENDS.exec(wanted) ?? [];
  if (!/^0x[0-9a-f]*$/.test(head)) {
    const pattern = `%${find.replaceAll(/[\\%_]/g, '\\$&')}%`;
    // Both are lowered by the engine: they know different letters.
    return sql<SqlBool>`(lower(label) like lower(${pattern}) escape '\\'
      or address like lower(${pattern}) escape '\\')`;
  }
  // Of Aptos people leave out the zeros.
  const padded = `0x${head.slice(2).padStart(64, '0')}`;
  return sql<SqlBool>`(address >= ${head} and address < ${head + AFTER_DIGITS} and address like ${`%${tail}`}
    or address = ${padded} and ${tail} = '')`;
}

/** Options and headers of the streams of one page together, in bytes. */
const PAGE_BYTES = 2 * 1024 * 1024;

/** The statements that change nothing, over one connection or pool. */
export function createReads(db: Kysely<Tables>, engine: Engine): Reads {
  return {
    ...createEnrichReads(db, engine),
    ...createAccessReads(db, engine),
    ...createHistoryReads(db, engine),
    ...createTotalReads(db),
    ...createJobReads(db),
    ...createFacetReads(db, engine),
    ...createReplayReads(db, engine),
    ...createOperatorNoticeReads(db, engine),
    ...createInvariantReads(db, engine),
    ...createExplainReads(db),
    ...createActivityReads(db, engine),
    ...createRetentionReads(db),
    ...createInboxReads(db),

    async readSetting(key) {
      const row = await db
        .selectFrom('setting')
        .select('value')
        .where('key', '=', key)
        .executeTakeFirst();
      return row?.value;
    },

    async readStream(id) {
      const row = await db
        .selectFrom('stream')
        .select(streamColumns)
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      return row && toStreamRecord(row);
    },

    async listStreams({ limit, after, family, status }) {
      const chosen = sql<SqlBool>`deleted_at is null
        ${family === undefined ? sql`` : sql`and family = ${family}`}
        ${status === undefined ? sql`` : sql`and status = ${status}`}`;
      let query = db
        .selectFrom('stream')
        .select(['id', 'created_at'])
        .select(sql<number>`octet_length(options) + octet_length(headers)`.as('bytes'))
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
      const page = takeWithin(found.slice(0, limit), PAGE_BYTES);
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

    async listAddresses(streamId, { limit, after }) {
      return addressPageOf(selectAddresses(db, streamId, after), limit);
    },

    async findAddresses(streamId, { find, limit, after }) {
      return addressPageOf(selectAddresses(db, streamId, after).where(isSought(find)), limit);
    },

    async readRules<Name extends ChainFamily = 'evm'>(
      afterRevision: number,
      family = 'evm' as Name,
    ) {
      // One transaction, so that the revision is never newer than the rows it stands for.
      return db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          const { revision, trimmed } = await trx
            .selectFrom('rule_revision')
            .select(['revision', 'trimmed'])
            .executeTakeFirstOrThrow();
          const whole = afterRevision < trimmed;
          const streams = await trx
            .selectFrom('stream')
            .select([...streamColumns, 'deleted_at'])
            .where('family', '=', family)
            .where('revision', '>', whole ? -1 : afterRevision)
            .execute();
          const live = streams.filter(
            (row) => row.deleted_at === null && (row.status === 'active' || row.status === 'error'),
          );
          const gone = streams.filter((row) => !live.includes(row)).map((row) => row.id);
          const changed = live.map(toStreamRecord) as StreamOfFamily<Name>[];
          return { revision, whole, changed, gone };
        });
    },

    async readAddresses(streamId, after) {
      const page = selectAddresses(db, streamId, after)
        .select('address')
        .limit(ADDRESSES_PER_PART)
        .as('page');
      const { digits, last } = await db
        .selectFrom(page)
        .select([
          sql<string | null>`string_agg(substr(address, 3), '' order by address)`.as('digits'),
          sql<string | null>`max(address)`.as('last'),
        ])
        .executeTakeFirstOrThrow();
      const width = last?.length === 66 ? 32 : 20;
      const bytes = fromDigits(digits ?? '');
      const isLast = bytes.length < ADDRESSES_PER_PART * width;
      return { addresses: { width, bytes }, next: isLast ? undefined : (last ?? undefined) };
    },

    async readAddressChanges(after, upTo) {
      const page = await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          const { trimmed } = await trx
            .selectFrom('rule_revision')
            .select('trimmed')
            .executeTakeFirstOrThrow();
          if (after.revision < trimmed) return undefined;
          return trx
            .selectFrom('address_change as change')
            .innerJoin('address_change_part as part', 'part.change_id', 'change.id')
            .select(['change.revision', 'change.id', 'change.stream_id', 'part.part', 'part.kind'])
            .select(['part.width', 'part.digits'])
            .where('change.revision', '>=', after.revision)
            .where('change.revision', '<=', upTo)
            .where(
              sql<boolean>`(change.revision, change.id, part.part)
                > (${after.revision}, ${after.change}, ${after.part})`,
            )
            .orderBy('change.revision')
            .orderBy('change.id')
            .orderBy('part.part')
            .limit(PARTS_PER_PAGE)
            .execute();
        });
      const last = page?.at(-1);
      return (
        page && {
          changes: page.map(({ stream_id: streamId, kind, width, digits }) => ({
            streamId,
            kind,
            addresses: { width, bytes: fromDigits(digits) },
          })),
          next:
            page.length === PARTS_PER_PAGE && last
              ? { revision: last.revision!, change: last.id, part: last.part }
              : undefined,
        }
      );
    },

    async readCheckpoint(chain) {
      const row = await db
        .selectFrom('checkpoint')
        .select(['number', 'hash', 'genesis_hash'])
        .where('chain', '=', chain)
        .executeTakeFirst();
      return row && { number: row.number, hash: row.hash, genesisHash: row.genesis_hash };
    },

    async listSpared() {
      const { rows } = await sql<Spell>`
        select id, status, error_since, probe_at, spared_reason, spared_since, spared_until,
          ${engine.now()} as now
        from stream where deleted_at is null and (
          (status = 'active' and spared_until > ${engine.now()} - ${sql.lit(PROBE_TAKES_MS)})
          or (status = 'error' and probe_at > ${engine.now()} - ${sql.lit(PROBE_TAKES_MS)}))`.execute(
        db,
      );
      return rows.map((row) => {
        const isInError = row.status === 'error';
        const until = (isInError ? row.probe_at : row.spared_until) ?? row.now;
        return {
          streamId: row.id,
          reason: row.spared_reason ?? 'failures',
          since: (isInError ? row.error_since : row.spared_since) ?? row.now,
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

    async listLeases() {
      const { rows } = await sql<Tables['lease'] & { now: number }>`
        select lease.*, ${engine.now()} as now from lease order by name`.execute(db);
      return rows.map(({ name, holder, until, report, now }) => ({
        name,
        holder,
        freeForMs: Math.max(0, now - until),
        report: report === null ? null : (JSON.parse(report) as ChainReport),
      }));
    },

    async readWindow(chain, limit) {
      const rows = await db
        .selectFrom('block')
        .select(['number', 'hash', 'parent_hash', 'timestamp', 'matches'])
        .where('chain', '=', chain)
        .orderBy('number', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ parent_hash: parentHash, ...row }) => ({ ...row, parentHash }));
    },

    async listDeliveries({ limit, after, order, ...filter }) {
      const isNewestFirst = order !== 'oldest';
      let query = db
        .selectFrom('delivery')
        .select(deliveryColumns)
        .where(allOf(toConditions(filter)));
      if (after !== undefined) query = query.where('id', isNewestFirst ? '<' : '>', after);
      const rows = await query
        .orderBy('id', isNewestFirst ? 'desc' : 'asc')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        rows: page.map(toDeliverySummary),
        next: rows.length > limit ? last?.id : undefined,
      };
    },

    async readOldestDelivery() {
      const row = await db
        .selectFrom('delivery')
        .select('created_at')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      return row?.created_at ?? null;
    },

    async readDelivery(id): Promise<KeptDelivery | undefined> {
      const row = await db
        .selectFrom('delivery')
        .innerJoin('match', 'match.id', 'delivery.match_id')
        .innerJoin('stream', 'stream.id', 'delivery.stream_id')
        .select(deliveryColumns.map((column) => `delivery.${column}` as const))
        .select(['match.block_hash', 'stream.webhook_url'])
        .select('delivery.fast_retried')
        .where('delivery.id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const attempts = await db
        .selectFrom('attempt')
        .selectAll()
        .where('delivery_id', '=', id)
        .orderBy('number')
        .execute();
      const pair = await db
        .selectFrom('delivery')
        .select(deliveryColumns)
        .where('match_id', '=', row.match_id)
        .where('phase', row.phase === 'unconfirmed' ? '<>' : '=', 'unconfirmed')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return {
        ...toDeliverySummary(row),
        pair: pair === undefined ? null : toDeliverySummary(pair),
        fastRetried: row.fast_retried === 1,
        blockHash: row.block_hash,
        webhookUrl: row.webhook_url,
        attemptList: attempts.map((attempt) => ({
          number: attempt.number,
          webhookUrl: attempt.webhook_url,
          startedAt: attempt.started_at,
          durationMs: attempt.duration_ms,
          status: attempt.status,
          error: attempt.error,
          responseBody: attempt.response_body,
          ...readTransport(attempt),
        })),
      };
    },

    async readDeliveryBody(id) {
      const row = await db
        .selectFrom('delivery')
        .innerJoin('match', 'match.id', 'delivery.match_id')
        .select(['match.body_head', 'match.body_tail', 'delivery.phase', 'delivery.attempts'])
        .where('delivery.id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return joinBody({
        bodyHead: row.body_head,
        bodyTail: row.body_tail,
        phase: row.phase,
        retries: Math.max(0, row.attempts - 1),
      });
    },

    async hasDueSuspect() {
      const { open } = await readMoment(engine, db);
      const { rows } = await sql`
        select 1 from delivery join stream on stream.id = delivery.stream_id
        where ${open('block_day')} and state = 'pending' and lost >= 2 and run_at <= ${engine.now()}
          and stream.status = 'active' and stream.deleted_at is null limit 1`.execute(db);
      return rows.length > 0;
    },

    async readOldestDue() {
      const { now, open } = await readMoment(engine, db);
      // One index seek per stream that has any pending, as claims find them.
      const { rows } = await sql<{ oldest: number | null }>`
        ${lanesIn('pending', open)}
        select min((select min(run_at) from delivery
          where ${open('block_day')} and stream_id = lane.id and state = 'pending')) as oldest
        from lane join stream on stream.id = lane.id
        where stream.status = 'active' and stream.deleted_at is null`.execute(db);
      const waiting = await listEnrichingSince(db, open);
      const oldest = Math.min(
        rows[0]?.oldest ?? Number.POSITIVE_INFINITY,
        ...waiting.map(({ since }) => since),
      );
      return oldest > now ? null : oldest;
    },

    async listEnrichingSince() {
      const { open } = await readMoment(engine, db);
      return listEnrichingSince(db, open);
    },

    async countWaitingCommits() {
      if (engine.name === 'sqlite') return 0;
      const { rows } = await sql.raw<{ n: number }>(WAITING_COMMITS).execute(db);
      return rows[0]!.n;
    },

    async readOldestTransactionAge() {
      if (engine.name === 'sqlite') return null;
      const { rows } = await sql<{ age: number }>`
        select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as age
        from pg_stat_activity where backend_xmin is not null or backend_xid is not null`.execute(
        db,
      );
      return rows[0]!.age * 1000;
    },
  };
}

async function listEnrichingSince(
  db: Kysely<Tables>,
  open: DayFilter,
): Promise<{ chain: string; since: number }[]> {
  const { rows } = await sql<{ chain: string; since: number }>`
    select delivery.chain, min(delivery.run_at) as since
    from delivery join stream on stream.id = delivery.stream_id
    where ${open('delivery.block_day')} and delivery.state = 'enriching'
      and stream.status = 'active' and stream.deleted_at is null
    group by delivery.chain`.execute(db);
  return rows;
}
