/**
 * Webhook URLs of tables: `postgres://user:password@host:5432/database?schema=NAME`. The records of
 * webhooks are written to tables of the schema.
 */

/** Port of PostgreSQL. */
export const TABLES_PORT = 5432;

/** How a connection uses TLS, as in the parameter `sslmode` of PostgreSQL. */
export type TablesTls = 'disable' | 'require' | 'verify-full';

const TLS_MODES: readonly string[] = ['disable', 'require', 'verify-full'] satisfies TablesTls[];

/** The URL of a stream whose records are written to tables. */
export interface TablesUrl {
  /** Without brackets. */
  host: string;
  port: number;
  database: string;
  schema: string;
  tls: TablesTls;
}

/** A webhook URL of tables, with names to replace. */
export const TABLES_EXAMPLE = 'postgres://user:password@host:5432/database?schema=NAME';
/** Maximum length of a PostgreSQL identifier in bytes. */
const MAX_NAME_BYTES = 63;

/** Start of the webhook URLs of tables, whose schemes are `postgres:` and `postgresql:`. */
export const TABLES_PREFIX = 'postgres';

/** Returns whether the webhooks of a URL are written to tables. */
export const isTablesUrl = (url: string): boolean => /^postgres(?:ql)?:\/\//.test(url);

/**
 * Parses the webhook URL of tables.
 *
 * @throws Error with the problem, which completes "webhookUrl …"
 */
export function parseTablesUrl(text: string): TablesUrl {
  const url = URL.parse(text);
  const database = url === null ? '' : decode(url.pathname.slice(1));
  if (url === null || url.hostname === '' || database === '' || url.hash !== '') {
    throw new Error(
      `should be a URL with a host, a database and a schema, such as ${TABLES_EXAMPLE}`,
    );
  }
  const { searchParams } = url;
  const unknown = [...searchParams.keys()].find((name) => !['schema', 'sslmode'].includes(name));
  if (unknown !== undefined) {
    throw new Error(`should have no parameters except schema and sslmode, not ${unknown}`);
  }
  const schema = searchParams.get('schema') ?? '';
  if (schema === '' || schema.includes('\0') || schema.startsWith('pg_')) {
    throw new Error('should name the schema of the tables, such as ?schema=payments');
  }
  if (new TextEncoder().encode(schema).length > MAX_NAME_BYTES) {
    throw new Error(`should have a schema of at most ${MAX_NAME_BYTES} bytes`);
  }
  const tls = searchParams.get('sslmode') ?? 'disable';
  if (!TLS_MODES.includes(tls)) {
    throw new Error(`should have one of the values ${TLS_MODES.join(', ')} for sslmode`);
  }
  return {
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    port: url.port === '' ? TABLES_PORT : Number(url.port),
    database,
    schema,
    tls: tls as TablesTls,
  };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Error('should have a % only before two hexadecimal digits');
  }
}

/** Returns why a text that starts with `postgres://` is not a valid URL; undefined if it is. */
export function tablesUrlProblem(text: string): string | undefined {
  try {
    parseTablesUrl(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
