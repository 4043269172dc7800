/** The schema, step by step. A released step is never edited: the next change is a new step. */
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';

const ledger: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('setting')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('rule_revision')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('revision', 'bigint', (column) => column.notNull())
      .execute();
    await sql`insert into rule_revision (id, revision) values (1, 0)`.execute(db);

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
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('status_message', 'text', (column) => column.notNull())
      .addColumn('error_since', 'bigint')
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
      .addColumn('added_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('stream_address_pk', ['stream_id', 'address'])
      .execute();

    await db.schema
      .createTable('checkpoint')
      .addColumn('chain', 'text', (column) => column.primaryKey())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('genesis_hash', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();

    await db.schema
      .createTable('block')
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('number', 'bigint', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('parent_hash', 'text', (column) => column.notNull())
      .addColumn('timestamp', 'bigint', (column) => column.notNull())
      .addColumn('matches', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('block_pk', ['chain', 'number'])
      .execute();

    await db.schema
      .createTable('match')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('block_hash', 'text', (column) => column.notNull())
      .addColumn('block_day', 'text', (column) => column.notNull())
      .addColumn('part', 'integer', (column) => column.notNull())
      .addColumn('origin', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('logs', 'bigint', (column) => column.notNull())
      .addColumn('transactions', 'bigint', (column) => column.notNull())
      .addColumn('internal_transactions', 'bigint', (column) => column.notNull())
      .addColumn('enrichment', 'text')
      .addColumn('body_head', 'text', (column) => column.notNull())
      .addColumn('body_tail', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('match_once', ['chain', 'block_hash', 'stream_id', 'part', 'origin'])
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
      .columns(['stream_id', 'id'])
      .where(sql.ref('enrichment'), 'is not', null)
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
      .addPrimaryKeyConstraint('match_transaction_pk', ['transaction_hash', 'match_id'])
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
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('match_id', 'text', (column) => column.notNull())
      .addColumn('stream_id', 'text', (column) => column.notNull())
      .addColumn('event_key', 'text', (column) => column.notNull())
      .addColumn('phase', 'text', (column) => column.notNull())
      .addColumn('chain', 'text', (column) => column.notNull())
      .addColumn('block_number', 'bigint', (column) => column.notNull())
      .addColumn('block_day', 'text', (column) => column.notNull())
      .addColumn('tag', 'text', (column) => column.notNull())
      .addColumn('records', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('claims', 'integer', (column) => column.notNull())
      .addColumn('run_at', 'bigint', (column) => column.notNull())
      .addColumn('lease_token', 'text')
      .addColumn('lease_until', 'bigint')
      .addColumn('last_status', 'integer')
      .addColumn('last_error', 'text')
      .addColumn('last_duration_ms', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      // The block comes first, so that the rows of one commit stand together in the index.
      .addUniqueConstraint('delivery_once', ['event_key', 'stream_id'])
      .execute();
    await db.schema
      .createIndex('delivery_due')
      .on('delivery')
      .columns(['stream_id', 'run_at'])
      .where(sql.ref('state'), '=', sql.lit('pending'))
      .execute();
    await db.schema
      .createIndex('delivery_leased')
      .on('delivery')
      .column('lease_until')
      .where(sql.ref('state'), '=', sql.lit('leased'))
      .execute();
    await db.schema
      .createIndex('delivery_stream_page')
      .on('delivery')
      .columns(['stream_id', 'id'])
      .execute();
    await db.schema.createIndex('delivery_match').on('delivery').column('match_id').execute();

    await db.schema
      .createTable('attempt')
      .addColumn('delivery_id', 'text', (column) => column.notNull())
      .addColumn('number', 'integer', (column) => column.notNull())
      .addColumn('webhook_url', 'text', (column) => column.notNull())
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('duration_ms', 'bigint', (column) => column.notNull())
      .addColumn('status', 'integer')
      .addColumn('error', 'text')
      .addColumn('response_body', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('attempt_pk', ['delivery_id', 'number'])
      .execute();

    for (const table of ['stat_delta', 'stat']) {
      await db.schema
        .createTable(table)
        .addColumn('stream_id', 'text', (column) => column.notNull())
        .addColumn('minute', 'bigint', (column) => column.notNull())
        .addColumn('metric', 'text', (column) => column.notNull())
        .addColumn('n', 'bigint', (column) => column.notNull())
        .execute();
    }
    await db.schema
      .createIndex('stat_once')
      .unique()
      .on('stat')
      .columns(['stream_id', 'minute', 'metric'])
      .execute();
  },
};

const migrations: Record<string, Migration> = { '0001 ledger': ledger };

/** Brings the schema of this database to the newest step. Throws with the step that failed. */
export async function migrate(db: Kysely<unknown>): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find((result) => result.status === 'Error');
  throw new Error(`Migration ${failed?.migrationName ?? '(before the first)'} failed`, {
    cause: error,
  });
}
