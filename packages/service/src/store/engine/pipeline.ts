/** Executes statements of a transaction that do not depend on each other's rows. */
import type { CompiledQuery, DatabaseConnection } from 'kysely';
import type { Db } from '../tables/tables.ts';

/** Builds a statement; undefined if it is not needed. */
type Build<Row> = () => CompiledQuery<Row> | undefined;

export type Pipeline = <Rows extends readonly unknown[]>(
  trx: Db,
  builds: readonly [...{ [N in keyof Rows]: Build<Rows[N]> }],
) => Promise<{ [N in keyof Rows]: Rows[N][] }>;

type Execute = (
  connection: DatabaseConnection,
  builds: readonly Build<unknown>[],
) => Promise<unknown[][]>;

const toPipeline = (execute: Execute): Pipeline =>
  ((trx: Db, builds: readonly Build<unknown>[]) =>
    trx.getExecutor().provideConnection((connection) => execute(connection, builds))) as Pipeline;

async function run(connection: DatabaseConnection, build: Build<unknown>): Promise<unknown[]> {
  const statement = build();
  return statement === undefined ? [] : (await connection.executeQuery(statement)).rows;
}

/**
 * Executes one statement after another. On a full disk, SQLite rolls the transaction back, so a
 * statement after the failed one would be executed outside of it.
 */
export const oneByOne = toPipeline(async (connection, builds) => {
  const results: unknown[][] = [];
  for (const build of builds) results.push(await run(connection, build));
  return results;
});

/**
 * Sends each statement before the previous ones have returned, so that none waits for the network,
 * and a statement is built while the server executes the previous one. After an error, PostgreSQL
 * refuses the later statements.
 */
export const withoutWaiting = toPipeline(async (connection, builds) => {
  const outcomes = await Promise.allSettled(builds.map((build) => run(connection, build)));
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
});
