/** The part of a pool of `pg` that tables need, and transactions. */

/** A client of {@link PostgresPool}, such as a `PoolClient` of `pg`. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  /** Returns the client to the pool; with an error, the pool closes its connection. */
  release(error?: Error | boolean): void;
  on?(event: 'error', listener: () => void): unknown;
  off?(event: 'error', listener: () => void): unknown;
}

/** A pool of connections, such as a `Pool` of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
}

/** Runs work in a transaction, which is rolled back if the work fails. */
export async function inTransaction<Result>(
  pool: PostgresPool,
  work: (client: PostgresClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  // A connection that is lost between two queries must not end the process. The next query fails.
  const ignore = (): void => {};
  client.on?.('error', ignore);
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    // Without a response of the server, the connection is in an unknown state.
    if (sqlStateOf(error) === undefined) broken = error as Error;
    else {
      await client.query('rollback').catch((reason: unknown) => {
        broken = reason as Error;
      });
    }
    throw error;
  } finally {
    client.off?.('error', ignore);
    client.release(broken);
  }
}

/** Returns the SQLSTATE of an error; undefined if it is not from the database. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' && /^[0-9FHPX][0-9A-Z]{4}$/.test(code) ? code : undefined;
}
