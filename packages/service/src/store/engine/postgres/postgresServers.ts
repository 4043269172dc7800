/**
 * Connections to the PostgreSQL server that the ledger is written to. Of several servers it is the one
 * that takes writes; after a failover the one that was promoted last.
 */
import { RetryableError, configError } from '../../../base/errors.ts';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { toLedgerValue } from '../ledgerText.ts';

/**
 * A query that is not answered for so long is given up with its connection: the network may have lost it.
 * Not a `statement_timeout`: that would end a commit's wait for its standby, and report it as done.
 */
const QUERY_TIMEOUT_MS = 30_000;
/** To connect, or for one of the connections to be free. */
const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS = 10;

/**
 * What a process that vanished held is free again soon. The last one is not to be had on every platform.
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
 * Commits that wait for a standby although it does not answer. Whoever gives such a query up leaves its
 * session behind: the server ends it when the standby is back, and on no account sooner.
 */
export const WAITING_COMMITS = `
  select count(*)::int as n from pg_stat_activity
  where datname = current_database() and wait_event = 'SyncRep'
    and query_start < clock_timestamp() - interval '2 s'`;
/** With so many, no session is added: what it writes would wait as well, and its connection be left. */
const MOST_WAITING_COMMITS = 20;

/** The first eight digits of a WAL file's name: each promotion begins a newer timeline. */
const STANDING = `
  select current_setting('transaction_read_only') = 'off' as writable,
    case when not pg_is_in_recovery()
      then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

interface Standing {
  writable: boolean;
  timeline: string | null;
}

/**
 * The URL of each server of `postgres://user:password@host:port,host:port/database`.
 *
 * @throws CallerError where a part of it is no URL, or another `target_session_attrs` than `read-write` is asked
 *   for.
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
        `--database-url: target_session_attrs=${wanted} cannot be had, the ledger is written to; ` +
          'leave it out, or say read-write',
      );
    }
    server.searchParams.delete('target_session_attrs');
    return server.href;
  });
}

/**
 * Connections for Kysely. With `isPatient` a query may take as long as it does.
 *
 * @throws Error as {@link parseServers}.
 */
export function createServers(url: string, { isPatient = false } = {}): PostgresPool {
  const urls = parseServers(url);
  const pools = urls.map(createPool);
  let primary: Promise<pg.Pool> | undefined;
  /** A server on an older one was left behind by a failover, whatever it says of itself. */
  let newestTimeline = '';

  const findPrimary = async (): Promise<pg.Pool> => {
    const seen = await Promise.allSettled(
      pools.map(async (pool) => {
        const client = await pool.connect();
        try {
          const { rows } = await askInTime(client, () => client.query<Standing>(STANDING));
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
      `none of the ${urls.length} PostgreSQL servers takes writes: ` +
        seen
          .map((outcome, n) => `${new URL(urls[n]!).host} ${describe(outcome, newestTimeline)}`)
          .join(', '),
    );
  };

  /** Another one may be the primary by now: the next connection asks anew. */
  const doubt = (): void => {
    primary = undefined;
  };

  return {
    async connect() {
      // With one server there is nothing to choose: what it refuses, it says itself.
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
    // A connection that breaks is replaced at the next query, and a query under way on it rejects. Unheard,
    // its error would end the process: while it is idle the pool hears it, between two queries of a
    // transaction nobody else does.
    verify(client, done) {
      client.on('error', () => {});
      void openSession(client, done);
    },
    // Every bigint of the ledger is a block number or a time in milliseconds: below 2^53.
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

/** Fails where commits wait for a standby by the dozen. */
async function openSession(client: pg.ClientBase, done: (error?: Error) => void): Promise<void> {
  try {
    await askInTime(client, () => client.query(SESSION));
    const { rows } = await askInTime(client, () => client.query<{ n: number }>(WAITING_COMMITS));
    const { n } = rows[0]!;
    if (n < MOST_WAITING_COMMITS) done();
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

/** Ended while a query is under way, a connection is cut, and its query rejects. */
export async function askInTime<T>(client: pg.ClientBase, ask: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => void (client as pg.Client).end(), QUERY_TIMEOUT_MS);
  try {
    return await ask();
  } finally {
    clearTimeout(timer);
  }
}

const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();

/** A client whose queries end in time. */
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
        return await askInTime(client, () => client.query(text, values.map(toLedgerValue)));
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
