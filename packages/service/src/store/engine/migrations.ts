/** The schema as migrations. A released migration is never edited; later changes need a new one. */
import { createHash } from 'node:crypto';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { CallerError } from '../../base/errors.ts';

const isPostgres = (db: Kysely<unknown>): boolean =>
  db.getExecutor().adapter instanceof PostgresAdapter;

/**
 * Returns the clause that partitions a table on PostgreSQL (see `partitions.ts`), for the end of
 * its definition; empty on SQLite.
 */
const byDay = (db: Kysely<unknown>) =>
  isPostgres(db) ? sql`partition by range (block_day)` : sql``;

/**
 * Returns the columns of a unique key. On PostgreSQL, the key must include the column that
 * partitions the table.
 */
const withDay = (db: Kysely<unknown>, columns: string[]): never[] =>
  (isPostgres(db) ? [...columns, 'block_day'] : columns) as never[];

const ledger: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('setting')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('api_key')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('cidrs', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('last_used_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .execute();

    await db.schema
      .createTable('ended_session')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('audit')
      .addColumn('seq', 'bigint', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('target', 'text', (column) => column.notNull())
      .addColumn('previous_hash', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('rule_revision')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('revision', 'bigint', (column) => column.notNull())
      .addColumn('trimmed', 'bigint', (column) => column.notNull())
      .execute();
    await sql`insert into rule_revision (id, revision, trimmed) values (1, 0, 0)`.execute(db);

    await db.schema
      .createTable('stream')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('family', 'text', (column) => column.notNull())
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('webhook_url', 'text', (column) => column.notNull())
      .addColumn('chain_ids', 'text', (column) => column.notNull())
      .addColumn('options', 'text', (column) => column.notNull())
      .addColumn('deliver', 'text', (column) => column.notNull())
      .addColumn('notify_removed', 'integer', (column) => column.notNull())
      .addColumn('headers', 'text', (column) => column.notNull())
      .addColumn('max_in_flight', 'integer')
      .addColumn('max_per_second', 'double precision')
      .addColumn('strict_order', 'integer', (column) => column.notNull())
      .addColumn('next_send_at', 'bigint')
      .addColumn('secrets', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('status_message', 'text', (column) => column.notNull())
      .addColumn('error_since', 'bigint')
      .addColumn('probe_at', 'bigint')
      .addColumn('spared_reason', 'text')
      .addColumn('spared_since', 'bigint')
      .addColumn('spared_until', 'bigint')
      .addColumn('certificate_ends_at', 'bigint')
      .addColumn('address_count', 'bigint', (column) => column.notNull())
      .addColumn('revision', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('deleted_at', 'bigint')
      .execute();
    await db.schema.createIndex('stream_revision').on('stream').column('revision').execute();
    await db.schema
      .createIndex('stream_page')
      .on('stream')
      .columns(['created_at', 'id'])
      .where(sql.ref('deleted_at'), 'is', null)
      .execute();

    await db.schema
      .createTable('stream_address')
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('label', 'text')
      .addColumn('added_at', 'bigint', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('added_by', 'bigint', (column) => column.notNull())
      .addColumn('removed_by', 'bigint')
      .addPrimaryKeyConstraint('stream_address_pk', ['stream_id', 'address', 'added_by'])
      // A row is little more than its key, which SQLite would otherwise store twice.
      .modifyEnd(isPostgres(db) ? sql`` : sql`without rowid`)
      .execute();

    await db.schema
      .createTable('address_change')
      .addColumn('id', isPostgres(db) ? 'bigserial' : 'integer', (column) =>
        isPostgres(db) ? column.primaryKey() : column.primaryKey().autoIncrement(),
      )
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('revision', 'bigint')
      .addColumn('parts', 'bigint', (column) => column.notNull())
      .addColumn('delta', 'bigint', (column) => column.notNull())
      .addColumn('touched_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('address_change_open')
      .unique()
      .on('address_change')
      .column('stream_id')
      .where(sql.ref('state'), '!=', sql.lit('active'))
      .execute();
    await db.schema
      .createIndex('address_change_revision')
      .on('address_change')
      .column('revision')
      .execute();

    await db.schema
      .createTable('address_change_part')
      .addColumn('change_id', 'bigint', (column) => column.notNull())
      .addColumn('part', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('width', 'integer', (column) => column.notNull())
      .addColumn('digits', 'text', (column) => column.notNull())
      .addColumn('dead', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('address_change_part_pk', ['change_id', 'part'])
      .execute();
    await db.schema
      .createIndex('address_change_part_dead')
      .on('address_change_part')
      .column('change_id')
      .where(sql.ref('dead'), '>', sql.lit(0))
      .execute();

    await db.schema
      .createTable('checkpoint')
      .addColumn('chain', 'text', (column) => column.primaryKey())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('genesis_hash', 'text', (column) => column.notNull())
      .addColumn('version', 'bigint')
      .addColumn('settled_number', 'bigint')
      .addColumn('settled_version', 'bigint')
      .addColumn('settled_revision', 'bigint')
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('lease')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('holder', 'text', (column) => column.notNull())
      .addColumn('epoch', 'bigint', (column) => column.notNull())
      .addColumn('until', 'bigint', (column) => column.notNull())
      .addColumn('report', 'text')
      .execute();

    await db.schema
      .createTable('block')
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('parent_hash', 'text', (column) => column.notNull())
      .addColumn('timestamp', 'bigint', (column) => column.notNull())
      .addColumn('matches', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('block_pk', ['chain', 'number'])
      .execute();

    await db.schema
      .createTable('coverage')
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('from_block', 'bigint')
      .addPrimaryKeyConstraint('coverage_pk', ['stream_id', 'chain'])
      .execute();
    await db.schema
      .createTable('hole')
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('stream_id', 'text')
      .addColumn('from_block', 'bigint', (column) => column.notNull())
      .addColumn('to_block', 'bigint')
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('hole_place').on('hole').columns(['chain', 'stream_id']).execute();

    await db.schema
      .createTable('operator_notice')
      .addColumn('subject', 'text', (column) => column.primaryKey())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('told', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('body', 'text')
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('run_at', 'bigint', (column) => column.notNull())
      .addColumn('sent_at', 'bigint')
      .execute();

    await db.schema
      .createTable('replay')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('filter', 'text', (column) => column.notNull())
      .addColumn('per_second', 'double precision', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('total', 'bigint', (column) => column.notNull())
      .addColumn('replayed', 'bigint', (column) => column.notNull())
      .addColumn('position', 'text', (column) => column.notNull())
      .addColumn('last_id', 'text', (column) => column.notNull())
      .addColumn('next_at', 'bigint', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('job')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('block_from', 'bigint', (column) => column.notNull())
      .addColumn('block_to', 'bigint', (column) => column.notNull())
      .addColumn('next_block', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('message', 'text', (column) => column.notNull())
      .addColumn('matches', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('job_stream').on('job').columns(['stream_id', 'id']).execute();
    await db.schema
      .createIndex('job_running')
      .on('job')
      .columns(['chain', 'id'])
      .where(sql.ref('state'), '=', sql.lit('running'))
      .execute();

    await db.schema
      .createTable('reorg')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('depth', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('reorg_page').on('reorg').columns(['chain', 'id']).execute();

    await db.schema
      .createTable('stream_change')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('fields', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('stream_change_page')
      .on('stream_change')
      .columns(['stream_id', 'id'])
      .execute();

    await db.schema
      .createTable('gap')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('from_block', 'bigint', (column) => column.notNull())
      .addColumn('to_block', 'bigint')
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .execute();
    await db.schema.createIndex('gap_page').on('gap').columns(['chain', 'id']).execute();

    await db.schema
      .createTable('inbox')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('answer', 'text', (column) => column.notNull())
      .addColumn('received', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('inbox_request')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('inbox', 'text', (column) => column.notNull())
      .addColumn('received_at', 'bigint', (column) => column.notNull())
      .addColumn('webhook_id', 'text', (column) => column.notNull())
      .addColumn('delivery', 'text')
      .addColumn('verified', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('headers', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('body_bytes', 'bigint', (column) => column.notNull())
      .addColumn('answer_body', 'text', (column) => column.notNull())
      .addColumn('answer_delay_ms', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('inbox_request_page')
      .on('inbox_request')
      .columns(['inbox', 'id', 'body_bytes', 'received_at'])
      .execute();

    await db.schema
      .createTable('match')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('block_hash', 'text', (column) => column.notNull())
      .addColumn('block_day', 'text', (column) => column.notNull())
      .addColumn('part', 'integer', (column) => column.notNull())
      .addColumn('parts', 'integer', (column) => column.notNull())
      .addColumn('origin', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('logs', 'bigint', (column) => column.notNull())
      .addColumn('transactions', 'bigint', (column) => column.notNull())
      .addColumn('internal_transactions', 'bigint', (column) => column.notNull())
      .addColumn('about', 'text', (column) => column.notNull())
      .addColumn('enrichment', 'text')
      .addColumn('body_head', 'text', (column) => column.notNull())
      .addColumn('body_tail', 'text', (column) => column.notNull())
      .addColumn('body_bytes', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('match_pk', withDay(db, ['id']))
      .addUniqueConstraint('match_once', [
        'chain',
        'block_hash',
        'stream_id',
        'part',
        'origin',
        'block_day',
      ])
      .modifyEnd(byDay(db))
      .execute();
    await db.schema
      .createIndex('match_to_confirm')
      .on('match')
      .columns(['chain', 'block_number'])
      .where(sql.ref('state'), '=', sql.lit('frozen'))
      .execute();
    await db.schema
      .createIndex('match_to_enrich')
      .on('match')
      .columns(['chain', 'stream_id', 'id'])
      .where(sql.ref('enrichment'), 'is not', null)
      .execute();
    await db.schema
      .createIndex('match_orphaned')
      .on('match')
      .column('id')
      .where(sql.ref('state'), '=', sql.lit('orphaned'))
      .execute();
    await db.schema
      .createIndex('match_by_block')
      .on('match')
      .columns(['chain', 'block_number'])
      .execute();

    await db.schema
      .createTable('match_transaction')
      .addColumn('transaction_hash', 'text', (column) => column.notNull())
      .addColumn('match_id', 'text', (column) => column.notNull())
      .addColumn('block_day', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint(
        'match_transaction_pk',
        withDay(db, ['transaction_hash', 'match_id']),
      )
      .modifyEnd(byDay(db))
      .execute();
    await db.schema
      .createIndex('match_transaction_match')
      .on('match_transaction')
      .column('match_id')
      .execute();

    await db.schema
      .createTable('token')
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('symbol', 'text', (column) => column.notNull())
      .addColumn('decimals', 'integer')
      .addColumn('standard', 'text', (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('token_pk', ['chain', 'address'])
      .execute();

    await db.schema
      .createTable('delivery')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('match_id', 'text', (column) => column.notNull())
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('phase', 'text', (column) => column.notNull())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('block_day', 'text', (column) => column.notNull())
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('records', 'bigint', (column) => column.notNull())
      .addColumn('about', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('claims', 'integer', (column) => column.notNull())
      .addColumn('lost', 'integer', (column) => column.notNull())
      .addColumn('ordered', 'integer', (column) => column.notNull())
      .addColumn('fast_retried', 'integer', (column) => column.notNull())
      .addColumn('body_bytes', 'bigint', (column) => column.notNull())
      .addColumn('run_at', 'bigint', (column) => column.notNull())
      .addColumn('replay_id', 'text')
      .addColumn('lease_token', 'text')
      .addColumn('lease_until', 'bigint')
      .addColumn('last_status', 'integer')
      .addColumn('last_error', 'text')
      .addColumn('last_duration_ms', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('delivery_pk', withDay(db, ['id']))
      .modifyEnd(byDay(db))
      .execute();
    // Prevents duplicates, together with `match_once`, when a block is read twice.
    await db.schema
      .createIndex('delivery_once')
      .unique()
      .on('delivery')
      .columns(['match_id', 'phase', 'block_day'])
      .execute();
    await db.schema
      .createIndex('delivery_due')
      .on('delivery')
      .columns(['stream_id', 'run_at'])
      .where(sql.ref('state'), '=', sql.lit('pending'))
      .execute();
    await db.schema
      .createIndex('delivery_in_order')
      .on('delivery')
      .columns(['stream_id', 'id'])
      .where(sql<boolean>`ordered = 1 and state in ('enriching', 'pending', 'leased')`)
      .execute();
    await db.schema
      .createIndex('delivery_quarantined')
      .on('delivery')
      .columns(['stream_id', 'id'])
      .where(sql.ref('state'), '=', sql.lit('quarantined'))
      .execute();
    await db.schema
      .createIndex('delivery_replayed')
      .on('delivery')
      .columns(['replay_id', 'state', 'updated_at'])
      .where(sql.ref('replay_id'), 'is not', null)
      .execute();
    await db.schema
      .createIndex('delivery_enriching')
      .on('delivery')
      .column('stream_id')
      .where(sql.ref('state'), '=', sql.lit('enriching'))
      .execute();
    await db.schema
      .createIndex('delivery_suspect')
      .on('delivery')
      .column('run_at')
      .where(sql<boolean>`state = 'pending' and lost >= 2`)
      .execute();
    await db.schema
      .createIndex('delivery_leased')
      .on('delivery')
      .column('stream_id')
      .where(sql.ref('state'), '=', sql.lit('leased'))
      .execute();
    await db.schema
      .createIndex('delivery_stream_page')
      .on('delivery')
      .columns(['stream_id', 'id'])
      .execute();
    // The result of the last attempt decides which pair of indexes contains a delivery: by chain,
    // and by stream and chain. Lists of attempted deliveries are read and counted from these
    // indexes only.
    for (const [name, outcome] of [
      ['delivery_undelivered', sql`last_error is not null`],
      ['delivery_delivered', sql`attempts > 0 and last_error is null`],
    ] as const) {
      await sql`create index ${sql.ref(name)} on delivery (chain, id) where ${outcome}`.execute(db);
      await sql`
        create index ${sql.ref(`${name}_stream`)} on delivery (stream_id, chain, id)
        where ${outcome}`.execute(db);
    }

    await db.schema
      .createTable('attempt')
      .addColumn('delivery_id', 'text', (column) => column.notNull())
      .addColumn('number', 'integer', (column) => column.notNull())
      .addColumn('block_day', 'text', (column) => column.notNull())
      .addColumn('webhook_url', 'text', (column) => column.notNull())
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('duration_ms', 'bigint', (column) => column.notNull())
      .addColumn('status', 'integer')
      .addColumn('error', 'text')
      .addColumn('response_body', 'text', (column) => column.notNull())
      .addColumn('transport', 'text')
      .addPrimaryKeyConstraint('attempt_pk', withDay(db, ['delivery_id', 'number']))
      // On SQLite, the primary key contains the rows themselves, so that only one tree is written.
      .modifyEnd(isPostgres(db) ? byDay(db) : sql`without rowid`)
      .execute();

    if (isPostgres(db)) {
      await db.schema
        .createTable('partition')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('from_day', 'text', (column) => column.notNull())
        .addColumn('to_day', 'text', (column) => column.notNull())
        .addColumn('open', 'boolean', (column) => column.notNull())
        .execute();
      await sql`
        create unlogged table live_event (
          xid bigint primary key, created_at bigint not null, events text not null)`.execute(db);
    }

    for (const table of ['stat_delta', 'stat', 'stat_hour']) {
      await db.schema
        .createTable(table)
        .addColumn('stream_id', 'text', (column) => column.notNull())
        .addColumn('minute', 'bigint', (column) => column.notNull())
        .addColumn('chain', 'text', (column) => column.notNull())
        .addColumn('metric', 'text', (column) => column.notNull())
        .addColumn('n', 'bigint', (column) => column.notNull())
        .execute();
    }
    for (const table of ['stat', 'stat_hour']) {
      await db.schema
        .createIndex(`${table}_once`)
        .unique()
        .on(table)
        .columns(['stream_id', 'minute', 'metric', 'chain'])
        .execute();
      await db.schema.createIndex(`${table}_minute`).on(table).column('minute').execute();
    }
  },
};

const setAside: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('match').addColumn('set_aside', 'text').execute();
  },
};

const unverifiedBlocks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('unverified')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('from_block', 'bigint', (column) => column.notNull())
      .addColumn('to_block', 'bigint', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('unverified_page')
      .on('unverified')
      .columns(['chain', 'id'])
      .execute();
  },
};

const standardNames: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('operator_notice').renameTo('alert').execute();
    await db.schema.alterTable('alert').renameColumn('told', 'reported').execute();
    for (const field of ['reason', 'since', 'until']) {
      await db.schema
        .alterTable('stream')
        .renameColumn(`spared_${field}`, `back_off_${field}`)
        .execute();
    }
  },
};

const blocksByRange: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('unverified').addColumn('stream_id', 'text').execute();
  },
};

const readers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('reader')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('chains', 'text', (column) => column.notNull())
      .addColumn('joined_at', 'bigint', (column) => column.notNull())
      .addColumn('until', 'bigint', (column) => column.notNull())
      .execute();
  },
};

const sessionNames: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('audit')
      .addColumn('session_name', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  },
};

const retriesApart: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.dropIndex('delivery_due').execute();
    await sql`
      create index delivery_due on delivery
        (stream_id, (case when attempts = 0 then 0 else 1 end), run_at)
      where state = 'pending'`.execute(db);
  },
};

const addedUrls: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('added_url')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('chain', 'text')
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    // SQLite cannot change the primary key of a table, so the rows are copied to a new table.
    await db.schema.alterTable('alert').renameTo('former_alert').execute();
    await db.schema
      .createTable('alert')
      .addColumn('receiver', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('reported', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('body', 'text')
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('run_at', 'bigint', (column) => column.notNull())
      .addColumn('sent_at', 'bigint')
      .addPrimaryKeyConstraint('alert_place', ['receiver', 'subject'])
      .execute();
    await sql`
      insert into alert (receiver, subject, state, reported, id, body, attempts, run_at, sent_at)
      select '', subject, state, reported, id, body, attempts, run_at, sent_at
      from former_alert`.execute(db);
    await db.schema.dropTable('former_alert').execute();
  },
};

const oauth2: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('stream').addColumn('oauth2', 'text').execute();
  },
};

const unverifiedMatches: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable('stream')
      .addColumn('hold_unverified', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable('match').addColumn('unverified', 'text').execute();
    await db.schema.alterTable('match').addColumn('witnesses', 'integer').execute();
    await db.schema
      .alterTable('match')
      .addColumn('held', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createIndex('match_held')
      .on('match')
      .columns(['chain', 'block_number'])
      .where(sql.ref('held'), '=', sql.lit(1))
      .execute();
    await db.schema
      .createIndex('delivery_held')
      .on('delivery')
      .columns(['stream_id', 'chain'])
      .where(sql.ref('state'), '=', sql.lit('held'))
      .execute();
    await db.schema.dropIndex('delivery_in_order').execute();
    await db.schema
      .createIndex('delivery_in_order')
      .on('delivery')
      .columns(['stream_id', 'id'])
      .where(sql<boolean>`ordered = 1 and state in ('enriching', 'held', 'pending', 'leased')`)
      .execute();
  },
};

/**
 * The text columns of all indexes, except `block_day`, which cannot change because it partitions
 * tables; its digits have the same order in every locale.
 */
const KEYS = {
  added_url: ['id'],
  address_change: ['stream_id'],
  alert: ['receiver', 'subject'],
  api_key: ['id'],
  attempt: ['delivery_id'],
  block: ['chain'],
  checkpoint: ['chain'],
  coverage: ['stream_id', 'chain'],
  delivery: ['id', 'match_id', 'stream_id', 'chain', 'phase', 'state', 'replay_id'],
  ended_session: ['id'],
  gap: ['id', 'chain'],
  hole: ['chain', 'stream_id'],
  inbox: ['name'],
  inbox_request: ['id', 'inbox'],
  job: ['id', 'chain', 'stream_id'],
  lease: ['name'],
  match: ['id', 'stream_id', 'chain', 'block_hash', 'origin'],
  match_transaction: ['transaction_hash', 'match_id'],
  partition: ['name'],
  reader: ['id'],
  reorg: ['id', 'chain'],
  replay: ['id'],
  setting: ['key'],
  stat: ['stream_id', 'metric', 'chain'],
  stat_hour: ['stream_id', 'metric', 'chain'],
  stream: ['id'],
  stream_address: ['stream_id', 'address'],
  stream_change: ['id', 'stream_id'],
  token: ['chain', 'address'],
  unverified: ['id', 'chain'],
};

/**
 * Compares keys by bytes, like SQLite. By default, PostgreSQL compares them by the rules of the
 * database's locale, and an update of these rules can damage the indexes.
 */
const keysByBytes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    if (!isPostgres(db)) return;
    for (const [table, columns] of Object.entries(KEYS)) {
      const changes = columns.map((name) => sql`alter ${sql.ref(name)} type text collate "C"`);
      await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db);
    }
  },
};

const uncertainBlocks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // PostgreSQL compares keys by bytes, like SQLite; see `keysByBytes`.
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema
      .createTable('uncertain')
      .addColumn('chain', text, (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('block_hash', text, (column) => column.notNull())
      .addColumn('job_id', text, (column) => column.notNull())
      .addColumn('parent_hash', 'text', (column) => column.notNull())
      .addColumn('block_timestamp', 'bigint', (column) => column.notNull())
      .addColumn('codes', 'text', (column) => column.notNull())
      .addColumn('step', 'integer', (column) => column.notNull())
      .addColumn('accepted_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('left_at', 'bigint')
      .addColumn('needs', 'text', (column) => column.notNull())
      .addColumn('records', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('uncertain_key', ['chain', 'block_hash', 'job_id'])
      .execute();
    await db.schema
      .createIndex('uncertain_due')
      .on('uncertain')
      .columns(['chain', 'due_at'])
      .execute();
  },
};

const streamAttempts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable('stream').addColumn('timeout_seconds', 'double precision').execute();
    await db.schema
      .alterTable('stream')
      .addColumn('retries', 'text', (column) => column.notNull().defaultTo('"standard"'))
      .execute();
  },
};

const streamConfirmations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // PostgreSQL compares keys by bytes, like SQLite; see `keysByBytes`.
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    for (const table of ['stream', 'match']) {
      await db.schema
        .alterTable(table)
        .addColumn('confirm_by', text, (column) => column.notNull().defaultTo('chain'))
        .execute();
      await db.schema
        .alterTable(table)
        .addColumn('confirm_depth', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    }
    await db.schema.dropIndex('match_to_confirm').execute();
    await db.schema
      .createIndex('match_to_confirm')
      .on('match')
      .columns(['chain', 'confirm_by'])
      .expression(sql`(block_number + confirm_depth)`)
      .column('stream_id')
      .where(sql.ref('state'), '=', sql.lit('frozen'))
      .execute();
  },
};

const children: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // PostgreSQL compares keys by bytes, like SQLite; see `keysByBytes`.
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema
      .createTable('child')
      .addColumn('stream_id', text, (column) => column.notNull())
      .addColumn('chain', text, (column) => column.notNull())
      .addColumn('factory', text, (column) => column.notNull())
      .addColumn('address', text, (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('child_key', ['stream_id', 'chain', 'factory', 'address'])
      // A row is little more than its key, which SQLite would otherwise store twice.
      .modifyEnd(isPostgres(db) ? sql`` : sql`without rowid`)
      .execute();
    await db.schema
      .createIndex('child_address')
      .on('child')
      .columns(['address', 'chain'])
      .execute();
    await db.schema
      .createIndex('child_block')
      .on('child')
      .columns(['chain', 'block_number'])
      .execute();
  },
};

const values: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // PostgreSQL compares keys by bytes, like SQLite; see `keysByBytes`.
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema
      .createTable('pending_state')
      .addColumn('chain', text, (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('block_hash', text, (column) => column.notNull())
      .addColumn('parent_hash', text, (column) => column.notNull())
      .addColumn('block_timestamp', 'bigint', (column) => column.notNull())
      .addColumn('after_number', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('pending_state_key', ['chain', 'block_number'])
      .execute();
    await db.schema
      .createTable('read_value')
      .addColumn('stream_id', text, (column) => column.notNull())
      .addColumn('chain', text, (column) => column.notNull())
      .addColumn('read_key', text, (column) => column.notNull())
      .addColumn('from_block', 'bigint', (column) => column.notNull())
      .addColumn('to_block', 'bigint', (column) => column.notNull())
      .addColumn('to_timestamp', 'bigint', (column) => column.notNull())
      .addColumn('value', 'text')
      .addColumn('error', 'text')
      .addPrimaryKeyConstraint('read_value_key', ['chain', 'stream_id', 'read_key', 'from_block'])
      .execute();
    await db.schema
      .createIndex('read_value_block')
      .on('read_value')
      .columns(['chain', 'from_block'])
      .execute();
    await db.schema.createIndex('read_value_stream').on('read_value').column('stream_id').execute();
  },
};

const pastChildren: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema
      .createTable('left_factory')
      .addColumn('stream_id', text, (column) => column.notNull())
      .addColumn('factory', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('left_factory_key', ['stream_id', 'factory'])
      .execute();
    await db.schema
      .alterTable('job')
      .addColumn('kind', 'text', (column) => column.notNull().defaultTo('records'))
      .execute();
    await db.schema
      .alterTable('job')
      .addColumn('extensions', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createTable('child_label')
      .addColumn('stream_id', text, (column) => column.notNull())
      .addColumn('address', text, (column) => column.notNull())
      .addColumn('label', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('child_label_key', ['stream_id', 'address'])
      .execute();
  },
};

const childCounts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // PostgreSQL compares keys by bytes, like SQLite; see `keysByBytes`.
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema
      .createTable('child_list')
      .addColumn('stream_id', text, (column) => column.notNull())
      .addColumn('chain', text, (column) => column.notNull())
      .addColumn('factory', text, (column) => column.notNull())
      .addColumn('children', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('child_list_key', ['stream_id', 'chain', 'factory'])
      .execute();
    await sql`
      insert into child_list (stream_id, chain, factory, children)
      select stream_id, chain, factory, count(*) from child
      group by stream_id, chain, factory`.execute(db);
    await db.schema
      .alterTable('job')
      .addColumn('left_out', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};

const lastingValues: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema
      .alterTable('read_value')
      .addColumn('lasts', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createTable('read_up_to')
      .addColumn('stream_id', text, (column) => column.notNull())
      .addColumn('chain', text, (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('read_up_to_key', ['stream_id', 'chain'])
      .execute();
  },
};

const pastValues: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema
      .createTable('job_values')
      .addColumn('job_id', text, (column) => column.primaryKey())
      .addColumn('known', 'text', (column) => column.notNull())
      .execute();
  },
};

const feeds: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema.alterTable('delivery').addColumn('feed_position', 'bigint').execute();
    await db.schema
      .createIndex('delivery_feed')
      .on('delivery')
      .columns(['stream_id', 'feed_position'])
      .where(sql.ref('feed_position'), 'is not', null)
      .execute();
    await db.schema
      .createTable('feed')
      .addColumn('stream_id', text, (column) => column.primaryKey())
      .addColumn('head', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('feed_consumer')
      .addColumn('stream_id', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('position', 'bigint', (column) => column.notNull())
      .addColumn('acked', 'text', (column) => column.notNull())
      .addColumn('leases', 'text', (column) => column.notNull())
      .addColumn('missed', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('active_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('feed_consumer_key', ['stream_id', 'name'])
      .execute();
    // A key cannot create keys with scopes that it lacks, so keys with full access keep it.
    await sql`
      update api_key set scopes = replace(scopes, '"history:read"', '"history:read","feed:read"')
      where scopes like '%"settings:admin"%' and scopes like '%"history:read"%'`.execute(db);
  },
};

const destinations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema.alterTable('stream').addColumn('destination_of', text).execute();
    await db.schema
      .createIndex('stream_destination')
      .on('stream')
      .column('destination_of')
      .where(sql.ref('destination_of'), 'is not', null)
      .execute();
    await db.schema.alterTable('job').addColumn('lane_id', text).execute();
  },
};

const incidents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const text = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema
      .createTable('incident')
      .addColumn('id', text, (column) => column.primaryKey())
      .addColumn('subject', text, (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('cause', 'text', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('chain', 'text')
      .addColumn('lanes', 'text', (column) => column.notNull())
      .addColumn('lane_count', 'integer', (column) => column.notNull())
      .addColumn('delivery_id', 'text')
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .execute();
    await db.schema
      .createIndex('incident_open')
      .unique()
      .on('incident')
      .column('subject')
      .where(sql.ref('ended_at'), 'is', null)
      .execute();
  },
};

export const migrations: Record<string, Migration> = {
  '0001 ledger': ledger,
  '0002 matches set aside': setAside,
  '0003 unverified blocks': unverifiedBlocks,
  '0004 standard names': standardNames,
  '0005 blocks by range': blocksByRange,
  '0006 readers': readers,
  '0007 session names': sessionNames,
  '0008 retries apart': retriesApart,
  '0009 added urls': addedUrls,
  '0010 oauth2': oauth2,
  '0011 keys by bytes': keysByBytes,
  '0012 unverified matches': unverifiedMatches,
  '0013 uncertain blocks': uncertainBlocks,
  '0014 attempts per stream': streamAttempts,
  '0015 confirmations per stream': streamConfirmations,
  '0016 children of factories': children,
  '0017 values on chain': values,
  '0018 past children': pastChildren,
  '0019 numbers of children': childCounts,
  '0020 lasting values': lastingValues,
  '0021 values of past blocks': pastValues,
  '0022 feeds': feeds,
  '0023 destinations': destinations,
  '0024 incidents': incidents,
};

/** Table with the names of the applied migrations. */
const DONE_TABLE = 'migrations';
/** Table with the hash that each migration had when it was applied. */
const HASH_TABLE = 'migration_hash';

/**
 * Migrates the database to the newest schema. No other process may migrate it at the same time.
 *
 * @param name name of the ledger in errors
 * @throws Error that names the failed migration; CallerError if another version or build of the
 * program created the ledger
 */
export async function migrate(
  db: Kysely<unknown>,
  steps: Record<string, Migration> = migrations,
  name = 'The ledger',
): Promise<void> {
  await refuseUnknownSchema(db, steps, name);
  const hashed = Object.fromEntries(
    Object.entries(steps).map(([step, migration]) => [step, withHash(step, migration)]),
  );
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(hashed) },
    migrationTableName: DONE_TABLE,
    migrationLockTableName: `${DONE_TABLE}_lock`,
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === 'Error');
  throw new Error(`Migration ${failed?.migrationName ?? '(before the first)'} failed`, {
    cause: error,
  });
}

/**
 * Checks that this program knows the schema of the ledger.
 * @throws CallerError if an applied migration is unknown to this program, or its hash is unknown or
 * differs because the migration was edited after it was applied
 */
export async function refuseUnknownSchema(
  db: Kysely<unknown>,
  steps: Record<string, Migration> = migrations,
  name = 'The ledger',
): Promise<void> {
  const tables = (await db.introspection.getTables()).map((table) => table.name);
  if (!tables.includes(DONE_TABLE)) return;
  const done = await readDone(db, tables.includes(HASH_TABLE));
  const known = Object.keys(steps).toSorted();
  const unknown = done.filter((step) => !known.includes(step.name));
  if (unknown.length > 0) {
    throw new CallerError(
      'invalid_file',
      `${name} was created by a newer version of Sluice: it has migration "${unknown.at(-1)!.name}", and the ` +
        `last one of this version is "${known.at(-1)}"`,
      { fix: 'Start the newer version, or restore a backup from before the upgrade' },
    );
  }
  for (const step of done) {
    const hash = await hashStep(steps[step.name]!, isPostgres(db));
    if (step.hash === hash) continue;
    throw new CallerError(
      'invalid_file',
      `${name} was created by another build of Sluice with a different schema: the hash of "${step.name}" is ` +
        `${step.hash ?? 'unknown'}, but in this build it is ${hash}`,
      {
        fix:
          'Start the build that created it, or use an empty ledger: another data folder or database, or ' +
          'sluice dev --fresh. To keep the streams, run sluice export with the build that created it, ' +
          'then sluice apply with this one',
      },
    );
  }
}

/**
 * Returns the applied migrations with their hashes. One query reads both tables, because another
 * process may be migrating.
 */
async function readDone(
  db: Kysely<unknown>,
  hasHashes: boolean,
): Promise<{ name: string; hash: string | null }[]> {
  const done = sql.table(DONE_TABLE);
  const hashes = sql.table(HASH_TABLE);
  const { rows } = await (
    hasHashes
      ? sql<{ name: string; hash: string | null }>`
          select done.name, hashed.hash from ${done} as done
          left join ${hashes} as hashed on hashed.name = done.name order by done.name`
      : sql<{ name: string; hash: null }>`select name, null as hash from ${done} order by name`
  ).execute(db);
  return rows;
}

/** Extends a migration to record its hash in the ledger. */
const withHash = (name: string, step: Migration): Migration => ({
  async up(db: Kysely<unknown>) {
    await step.up(db);
    const hashes = sql.table(HASH_TABLE);
    await sql`create table if not exists ${hashes} (name text primary key, hash text not null)`.execute(
      db,
    );
    const hash = await hashStep(step, isPostgres(db));
    await sql`insert into ${hashes} (name, hash) values (${name}, ${hash})`.execute(db);
  },
});

/**
 * Returns a hash of the statements of a migration, which identifies the migration regardless of the
 * version of the program.
 */
async function hashStep(step: Migration, onPostgres: boolean): Promise<string> {
  const hash = createHash('sha256');
  const recorder = new Kysely<unknown>({
    dialect: {
      createAdapter: () => (onPostgres ? new PostgresAdapter() : new SqliteAdapter()),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new SqliteIntrospector(of),
      createQueryCompiler: () =>
        onPostgres ? new PostgresQueryCompiler() : new SqliteQueryCompiler(),
    },
    log: ({ query }) => void hash.update(`${query.sql} ${JSON.stringify(query.parameters)}\n`),
  });
  await step.up(recorder);
  return hash.digest('hex').slice(0, 16);
}
