/**
 * Connects to the PostgreSQL server that accepts writes. If several servers accept writes after a
 * failover, uses the one that was promoted last.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { RetryableError, usageError } from '../../../base/errors.ts';
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
/**
 * Time without a response after which the other servers are checked for a newer primary. If there
 * is one, all connections to the previous primary are closed, because it may never respond.
 */
const PATIENCE_MS = 3_000;
/** Timeout for each step of a check of a server: the connection, then the query. */
const PROBE_MS = 2_000;
/** Time between searches for a primary during a failover. */
const SEARCH_MS = 250;
const CONNECTIONS = 10;

/**
 * Settings with which the server releases the locks of a vanished process within half a minute, and
 * compresses bodies and events by LZ4, in about a quarter of the time of its default. The settings
 * at the end are not available on every platform and in every build.
 */
const SESSION = `
  set idle_in_transaction_session_timeout = '10s';
  set tcp_keepalives_idle = 10;
  set tcp_keepalives_interval = 5;
  set tcp_keepalives_count = 3;
  set tcp_user_timeout = '20s';
  do $$ begin
    perform set_config('client_connection_check_interval', '5s', false);
  exception when others then null; end $$;
  do $$ begin
    perform set_config('default_toast_compression', 'lz4', false);
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
const SERVER_STATE = `
  select current_setting('transaction_read_only') = 'off' as writable,
    case when not pg_is_in_recovery()
      then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

interface ServerState {
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
    throw usageError(
      'The database URL should be a URL such as postgres://localhost:5432/sluice, with ' +
        'host:port,host:port for several servers',
    );
  }
  return servers.map((each) => {
    const server = new URL(each);
    const wanted = server.searchParams.get('target_session_attrs');
    if (wanted !== null && wanted !== 'read-write' && wanted !== 'primary') {
      throw usageError(
        `The database URL is invalid: target_session_attrs=${wanted} is not supported, because the ledger must be writable; ` +
          'omit it or use read-write',
      );
    }
    server.searchParams.delete('target_session_attrs');
    return server.href;
  });
}

/** A connection of the pool, whose queries have a timeout. */
export interface Session extends PostgresPoolClient {
  on(event: 'error' | 'end', listener: () => void): void;
  on(event: 'notification', listener: (message: pg.Notification) => void): void;
}

export interface Servers extends PostgresPool {
  connect(): Promise<Session>;
}

/**
 * Creates a connection pool for Kysely. With `isPatient`, queries have no timeout.
 * @throws CallerError as {@link parseServers} does
 */
export function createServers(url: string, { isPatient = false } = {}): Servers {
  const urls = parseServers(url);
  const pools = urls.map(createPool);
  const sessions = new WeakMap<pg.PoolClient, Session>();
  /** The pool of each connection in use. */
  const inUse = new Map<pg.PoolClient, pg.Pool>();
  let primary: Promise<pg.Pool> | undefined;
  let searching: Promise<void> | undefined;
  let isEnded = false;
  /**
   * Timeline of the newest primary that was found. A writable server on an older timeline was left
   * behind by a failover.
   */
  let newestTimeline = '';

  const findPrimary = async (): Promise<pg.Pool> => {
    const probes = urls.map(probe);
    const candidates = probes.map(async (probing, n) => {
      const { writable, timeline } = await probing;
      if (!writable || timeline === null) throw new Error('a standby');
      return { timeline, pool: pools[n]! };
    });
    const known = newestTimeline;
    // A server that was promoted since the last search is the primary, even if others do not respond.
    const promoted = candidates.map(async (candidate) => {
      const found = await candidate;
      if (known === '' || found.timeline <= known) throw new Error('not promoted');
      return found;
    });
    const found =
      (await Promise.any(promoted).catch(() => undefined)) ??
      (await Promise.allSettled(candidates))
        .flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
        .reduce<{ timeline: string; pool: pg.Pool } | undefined>(
          (best, each) => (best !== undefined && each.timeline <= best.timeline ? best : each),
          undefined,
        );
    if (found !== undefined && found.timeline >= newestTimeline) {
      newestTimeline = found.timeline;
      return found.pool;
    }
    throw new Error(
      `none of the ${urls.length} PostgreSQL servers is writable: ` +
        (await Promise.allSettled(probes))
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

  /** Checks whether another server was promoted, and closes the connections to all others. */
  const search = async (): Promise<void> => {
    const found = await findPrimary().catch(() => undefined);
    if (found === undefined || isEnded) return;
    primary = Promise.resolve(found);
    for (const [client, pool] of inUse) if (pool !== found) close(client);
  };
  const suspect = (): void => {
    if (urls.length > 1) searching ??= search().finally(() => (searching = undefined));
  };

  /** Wraps a client so that its queries time out, and a failed connection causes a new search. */
  const toSession = (client: pg.PoolClient): Session => {
    let isLost = false;
    const session = {
      async query(text: string, values: readonly unknown[] = []) {
        try {
          const ask = () => client.query(text, values.map(toLedgerValue));
          return await queryInTime(client, ask, suspect);
        } catch (error) {
          if (isConnectionLoss(error)) {
            isLost = true;
            doubt();
          }
          throw error;
        }
      },
      release(destroy?: boolean) {
        inUse.delete(client);
        client.release(isLost || destroy);
      },
      on: client.on.bind(client),
    } as unknown as Session;
    sessions.set(client, session);
    return session;
  };

  return {
    async connect() {
      for (const startedAt = performance.now(); ; await wait(SEARCH_MS)) {
        try {
          // A single server is used without a check, because it reports its own errors.
          primary ??= urls.length === 1 ? Promise.resolve(pools[0]!) : findPrimary();
          const pool = await primary;
          const client = await pool.connect();
          if (isPatient) return client;
          inUse.set(client, pool);
          return sessions.get(client) ?? toSession(client);
        } catch (error) {
          doubt();
          const isLate = performance.now() - startedAt > CONNECT_TIMEOUT_MS;
          // Only a failover is worth the wait, not a wrong password at startup.
          const isFailover = urls.length > 1 && newestTimeline !== '';
          if (!isFailover || isLate || isEnded || error instanceof RetryableError) throw error;
        }
      }
    },
    options: {},
    async end() {
      isEnded = true;
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/**
 * Returns whether the connection has ended, or ends soon: the server sends SQLSTATE 57P before it
 * closes a connection.
 */
const isConnectionLoss = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || error.code?.startsWith('57P') === true;

/** Connects to a server without a pool, and returns whether it is writable. */
async function probe(url: string): Promise<ServerState> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<ServerState>(SERVER_STATE)).rows[0]!;
  } finally {
    close(client);
  }
}

function createPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    pipeline: true,
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

/**
 * Runs a query. If it times out, closes the connection, so that the query rejects. Calls `onSlow`
 * after every 3 s without a response.
 */
async function queryInTime<T>(
  client: pg.ClientBase,
  ask: () => Promise<T>,
  onSlow?: () => void,
): Promise<T> {
  let waitedMs = 0;
  const look = (): void => {
    waitedMs += PATIENCE_MS;
    if (waitedMs >= QUERY_TIMEOUT_MS) return close(client);
    onSlow?.();
    timer = setTimeout(look, PATIENCE_MS);
  };
  let timer = setTimeout(look, PATIENCE_MS);
  try {
    return await ask();
  } finally {
    clearTimeout(timer);
  }
}

/** Closes a connection, also of a server that does not respond. Running queries reject. */
function close(client: pg.ClientBase): void {
  const connected = client as pg.Client;
  connected.end().catch(() => {});
  // `end` alone would wait for the responses to queries in a pipeline.
  connected.connection.stream.destroy();
}

function describe(outcome: PromiseSettledResult<ServerState>, newestTimeline: string): string {
  if (outcome.status === 'rejected') return `(${String(outcome.reason)})`;
  const { writable, timeline } = outcome.value;
  if (!writable || timeline === null) return '(a standby)';
  return `(left behind on timeline ${timeline}, the primary is on ${newestTimeline})`;
}
