/**
 * Connects to the PostgreSQL server that accepts writes. If several servers accept writes after a
 * failover, uses the one that was promoted last.
 */
import { RetryableError, configError } from '../../../base/errors.ts';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { toLedgerValue } from '../ledgerText.ts';

/**
 * Timeout for queries. The connection is closed as well, because the network may have lost the
 * response. The server's `statement_timeout` is not used, because it would report a commit that
 * waits for its standby as committed.
 */
const QUERY_TIMEOUT_MS = 30_000;
/** Timeout for opening a connection, or for a connection of the pool to become free. */
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS = 10;

/**
 * Settings with which the server releases the locks of a vanished process within half a minute. The
 * last setting is not available on every platform.
 */
const SESSION = `
  set idle_in_transaction_session_timeout = '10s';
  set tcp_keepalives_idle = 10;
  set tcp_keepalives_interval = 5;
  set tcp_keepalives_count = 3;
  set tcp_user_timeout = '20s';
  do $$ begin
    perform set_config('client_connection_check_interval', '5s', false);
  exception when others then null; end $$`;

/**
 * Query for the number of commits that have waited for a standby for at least two seconds. After
 * such a commit times out, its session remains until the standby is back.
 */
export const WAITING_COMMITS = `
  select count(*)::int as n from pg_stat_activity
  where datname = current_database() and wait_event = 'SyncRep'
    and query_start < clock_timestamp() - interval '2 s'`;
/** Number of waiting commits at which new sessions fail, because their writes would wait, too. */
const MAX_WAITING_COMMITS = 20;

/**
 * Query that returns whether the server is writable, and its timeline: the first eight digits of
 * the name of a WAL file. Each promotion starts a new timeline.
 */
const STANDING = `
  select current_setting('transaction_read_only') = 'off' as writable,
    case when not pg_is_in_recovery()
      then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

interface Standing {
  writable: boolean;
  timeline: string | null;
}

/**
 * Returns the URL of each server in `postgres://user:password@host:port,host:port/database`.
 *
 * @throws CallerError if a part is not a URL, or `target_session_attrs` has a value other than
 * `read-write` or `primary`.
 */
export function parseServers(url: string): string[] {
  const scheme = /^postgres(?:ql)?:\/\//.exec(url)?.[0];
  const authority = url.slice(scheme?.length).split(/[/?]/, 1)[0]!;
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  const at = (scheme?.length ?? 0) + authority.length - hosts.length;
  const servers = hosts
    .split(',')
    .map((host) => url.slice(0, at) + host + url.slice(at + hosts.length));
  if (scheme === undefined || !servers.every((each) => URL.canParse(each))) {
    throw configError(
      '--database-url: should be a URL such as postgres://localhost:5432/sluice, with ' +
        'host:port,host:port for several servers',
    );
  }
  return servers.map((each) => {
    const server = new URL(each);
    const wanted = server.searchParams.get('target_session_attrs');
    if (wanted !== null && wanted !== 'read-write' && wanted !== 'primary') {
      throw configError(
        `--database-url: target_session_attrs=${wanted} is not supported, because the ledger must be writable; ` +
          'omit it or use read-write',
      );
    }
    server.searchParams.delete('target_session_attrs');
    return server.href;
  });
}

/**
 * Creates a connection pool for Kysely. With `isPatient`, queries have no timeout.
 * @throws CallerError as {@link parseServers} does
 */
export function createServers(url: string, { isPatient = false } = {}): PostgresPool {
  const urls = parseServers(url);
  const pools = urls.map(createPool);
  let primary: Promise<pg.Pool> | undefined;
  /**
   * Timeline of the newest primary that was found. A writable server on an older timeline was left
   * behind by a failover.
   */
  let newestTimeline = '';

  const findPrimary = async (): Promise<pg.Pool> => {
    const seen = await Promise.allSettled(
      pools.map(async (pool) => {
        const client = await pool.connect();
        try {
          const { rows } = await queryInTime(client, () => client.query<Standing>(STANDING));
          return rows[0]!;
        } finally {
          client.release();
        }
      }),
    );
    let found: pg.Pool | undefined;
    for (const [n, outcome] of seen.entries()) {
      if (outcome.status === 'rejected' || !outcome.value.writable) continue;
      const { timeline } = outcome.value;
      if (timeline === null || timeline < newestTimeline) continue;
      if (found !== undefined && timeline === newestTimeline) continue;
      newestTimeline = timeline;
      found = pools[n]!;
    }
    if (found !== undefined) return found;
    throw new Error(
      `none of the ${urls.length} PostgreSQL servers is writable: ` +
        seen
          .map((outcome, n) => `${new URL(urls[n]!).host} ${describe(outcome, newestTimeline)}`)
          .join(', '),
    );
  };

  /**
   * Makes the next connection search for the primary again, because it may be another server by
   * now.
   */
  const doubt = (): void => {
    primary = undefined;
  };

  return {
    async connect() {
      // A single server is used without a check, because it reports its own errors.
      const chosen = (primary ??= urls.length === 1 ? Promise.resolve(pools[0]!) : findPrimary());
      try {
        return toClient(await (await chosen).connect(), isPatient, doubt);
      } catch (error) {
        doubt();
        throw error;
      }
    },
    options: {},
    async end() {
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

function createPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A broken connection is replaced at the next query. Without this listener, its error would end
    // the process, because the pool does not listen between the queries of a transaction.
    verify(client, done) {
      client.on('error', () => {});
      void openSession(client, done);
    },
    // Every bigint of the ledger, such as a block number or a time in milliseconds, is below 2^53.
    types: {
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8
          ? (text: string) => Number(text)
          : pg.types.getTypeParser(oid, format),
    },
  });
  pool.on('error', () => {});
  return pool;
}

/** Configures the session. Fails if many commits are waiting for a standby. */
async function openSession(client: pg.ClientBase, done: (error?: Error) => void): Promise<void> {
  try {
    await queryInTime(client, () => client.query(SESSION));
    const { rows } = await queryInTime(client, () => client.query<{ n: number }>(WAITING_COMMITS));
    const { n } = rows[0]!;
    if (n < MAX_WAITING_COMMITS) done();
    else
      done(
        new RetryableError(
          'no_standby',
          `${n} commits are waiting for a standby of the database, and none responds`,
        ),
      );
  } catch (error) {
    done(error as Error);
  }
}

/** Runs a query. If it times out, closes the connection, so that the query rejects. */
export async function queryInTime<T>(client: pg.ClientBase, ask: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => void (client as pg.Client).end(), QUERY_TIMEOUT_MS);
  try {
    return await ask();
  } finally {
    clearTimeout(timer);
  }
}

const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();

/**
 * Wraps a client so that its queries time out, and calls `onLost` when the connection fails. With
 * `isPatient`, returns the client unchanged.
 */
function toClient(
  client: pg.PoolClient,
  isPatient: boolean,
  onLost: () => void,
): PostgresPoolClient {
  if (isPatient) return client;
  const known = clients.get(client);
  if (known !== undefined) return known;
  const inTime = {
    async query(text: string, values: readonly unknown[]) {
      try {
        return await queryInTime(client, () => client.query(text, values.map(toLedgerValue)));
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) onLost();
        throw error;
      }
    },
    release: (destroy?: boolean) => client.release(destroy),
  } as unknown as PostgresPoolClient;
  clients.set(client, inTime);
  return inTime;
}

function describe(outcome: PromiseSettledResult<Standing>, newestTimeline: string): string {
  if (outcome.status === 'rejected') return `(${String(outcome.reason)})`;
  const { writable, timeline } = outcome.value;
  if (!writable || timeline === null) return '(a standby)';
  return `(left behind on timeline ${timeline}, the primary is on ${newestTimeline})`;
}
