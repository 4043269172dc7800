/** Checks that both engines accept any UTF-16 string and store the same text. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, startPostgres } from '@sluice/testkit';
import fc from 'fast-check';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from './engine.ts';
import { postgresEngine } from './postgres/postgresEngine.ts';
import { sqliteEngine } from './sqlite/sqliteEngine.ts';
import { migrate } from './migrations.ts';
import { createServers } from './postgres/postgresServers.ts';
import { openSqlite } from './sqlite/sqliteConnection.ts';
import type { Tables } from '../tables/tables.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-text-'));
let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const ENGINES = {
  async sqlite() {
    const { db } = openSqlite(join(folder, 'text.db'), false);
    await migrate(db as unknown as Kysely<unknown>);
    return db;
  },
  async postgres() {
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: createServers(server.url) }),
    });
    await migrate(db as unknown as Kysely<unknown>);
    // The test also writes arbitrary text to `block_day`, which selects the partition, so each
    // table needs a default partition.
    for (const table of ['match', 'match_transaction', 'delivery', 'attempt']) {
      await sql`create table ${sql.table(`${table}_any`)} partition of ${sql.table(table)} default`.execute(
        db,
      );
    }
    return db;
  },
};

const NUL = 0;
const HIGH_SURROGATE = 0xd83d;
const LOW_SURROGATE = 0xde00;
const utf16 = fc
  .array(
    fc.oneof(
      fc.constantFrom(NUL, HIGH_SURROGATE, LOW_SURROGATE),
      fc.integer({ min: 0, max: 0xffff }),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((units) => String.fromCharCode(...units));

interface Column {
  table: string;
  name: string;
  /** A row with a value for each column of the table, except auto-incrementing columns. */
  row: Record<string, unknown>;
}

let last = 1_000;
const valueOf = (dataType: string): unknown => {
  if (/text/i.test(dataType)) return `text ${++last}`;
  return /bool/i.test(dataType) ? false : ++last;
};

async function listTextColumns(db: Kysely<Tables>): Promise<Column[]> {
  const tables = await db.introspection.getTables();
  return tables
    .filter(({ name }) => !name.endsWith('_any'))
    .flatMap(({ name: table, columns }) => {
      const given = columns.filter(({ isAutoIncrementing }) => !isAutoIncrementing);
      return given
        .filter(({ dataType }) => /text/i.test(dataType))
        .map(({ name }) => ({
          table,
          name,
          row: Object.fromEntries(given.map((each) => [each.name, valueOf(each.dataType)])),
        }));
    });
}

/** Writes the text to the column in each way that the ledger writes text, and reads it back. */
async function write(db: Kysely<Tables>, engine: Engine, column: Column, text: string) {
  const ways = [
    sql`(select cast(${text} as text) as given)`,
    engine.rows([{ given: text }], { given: 'text' }),
    engine.texts([text], 'given'),
  ];
  const held: unknown[] = [];
  for (const way of ways) {
    const others = Object.entries(column.row).filter(([name]) => name !== column.name);
    const names = [column.name, ...others.map(([name]) => name)].map((name) => sql.ref(name));
    const values = others.map(([, value]) => sql.lit(value));
    const undo = new Error('undo');
    await db
      .transaction()
      .execute(async (trx) => {
        const { rows } = await sql<{ held: string }>`
          insert into ${sql.table(column.table)} (${sql.join(names)})
          select given${values.length === 0 ? sql`` : sql`, ${sql.join(values)}`} from ${way} as way
          returning ${sql.ref(column.name)} as held`.execute(trx);
        held.push(rows[0]?.held);
        throw undo;
      })
      .catch((error: unknown) => {
        if (error !== undo) throw new Error(`${column.table}.${column.name}`, { cause: error });
      });
  }
  return held;
}

describe.each([
  ['sqlite', sqliteEngine],
  ['postgres', postgresEngine],
] as const)('%s', (name, engine) => {
  let db: Kysely<Tables>;
  let columns: Column[];
  beforeAll(async () => {
    db = await ENGINES[name]();
    columns = await listTextColumns(db);
  });
  afterAll(() => db.destroy());

  test('property: each text column accepts any UTF-16', { timeout: 120_000 }, async () => {
    expect(columns.length).toBeGreaterThan(100);
    await fc.assert(
      fc.asyncProperty(utf16, async (text) => {
        const wanted = text.toWellFormed().replaceAll('\0', '\u{fffd}');
        for (const column of columns) {
          expect(await write(db, engine, column, text)).toEqual([wanted, wanted, wanted]);
        }
      }),
      {
        numRuns: 6,
        endOnFailure: true,
        examples: [['a\ud83d'], ['\0'], ['\ude00'], ['\udfff'], ['\ude00\0\ud83d']],
      },
    );
  });

  test('property: a list of rows keeps its values', async () => {
    const row = fc.record({
      name: fc.option(utf16),
      n: fc.option(fc.maxSafeInteger()),
    });
    const edges = [Number.MIN_SAFE_INTEGER, -(2 ** 32), -1, 0, 2 ** 32, Number.MAX_SAFE_INTEGER];
    await fc.assert(
      fc.asyncProperty(fc.array(row), async (list) => {
        const wanted = list.map(({ name, n }) => ({
          name: name?.toWellFormed().replaceAll('\0', '\u{fffd}') ?? null,
          n,
        }));
        const listed = engine.rows(list, { name: 'text', n: 'bigint' });
        const { rows } = await sql`select name, n from ${listed} as listed`.execute(db);
        expect(rows).toEqual(wanted);
        const names = wanted.flatMap(({ name }) => (name === null ? [] : [name]));
        const { rows: texts } = await sql`
          select name from ${engine.texts(names, 'name')} as listed`.execute(db);
        expect(texts).toEqual(names.map((name) => ({ name })));
      }),
      { examples: [[[]], [edges.map((n) => ({ name: String(n), n }))]] },
    );
  });
});
