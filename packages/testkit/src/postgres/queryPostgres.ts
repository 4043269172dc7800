import pg from 'pg';

/**
 * Runs a statement on its own connection and returns its rows as text: a line for each row, with
 * `|` between columns, and an empty string for null. If there are several statements, returns the
 * rows of the last one.
 *
 * @param url connection string of one server.
 * @throws Error if the connection or the statement fails.
 */
export async function queryPostgres(url: string, statement: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, types: { getTypeParser: () => String } });
  // A lost connection rejects the query. Without a listener, it would also end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    const answer = await client.query<(string | null)[]>({ text: statement, rowMode: 'array' });
    const last = Array.isArray(answer) ? (answer as (typeof answer)[]).at(-1)! : answer;
    return last.rows.map((row) => row.map((value) => value ?? '').join('|')).join('\n');
  } finally {
    await client.end();
  }
}
