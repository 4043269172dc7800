/**
 * Keeps the tables of each webhook URL, with a pool of connections that is opened when a webhook
 * needs it. Each new pool resolves the host again, so that addresses are checked again.
 */
import { isIP } from 'node:net';
import { type TablesUrl, parseTablesUrl } from '@sluice/kit/contract';
import { type TableFamily, type Tables, createTables } from '@sluice/kit/postgres';
import pg from 'pg';
import { startStopwatch } from '../../stopwatch.ts';
import { DEFAULT_TIMEOUT_MS } from '../../send/timeouts.ts';
import type { AddressGuard } from '../http/guard.ts';
import { readLogin } from '../login.ts';

/** The open tables of a webhook URL. */
export interface Database {
  readonly tables: Tables;
  /** IP address and port of the server. */
  readonly address: string;
}

interface Entry {
  readonly opening: Promise<Database>;
  pool: pg.Pool | undefined;
  usedMs: () => number;
}

/** Connections per webhook URL: one writes, and one creates tables meanwhile. */
const CONNECTIONS = 2;
const CONNECT_MS = 5_000;
const IDLE_MS = 60_000;

export function createDatabases(guard: Pick<AddressGuard, 'resolve'>) {
  const entries = new Map<string, Entry>();

  const forget = (url: string, { pool }: Entry): void => {
    entries.delete(url);
    void pool?.end().catch(() => {});
  };

  const open = async (url: string, family: TableFamily, entry: Entry): Promise<Database> => {
    const target = parseTablesUrl(url);
    const [host] = await guard.resolve(target.host);
    const pool = new pg.Pool(toPoolConfig(new URL(url), target, host!));
    // The next query of a lost connection fails. Without a listener, the process would end.
    pool.on('error', () => {});
    entry.pool = pool;
    const tables = await createTables({ pool, schema: target.schema, family });
    return { tables, address: `${isIP(host!) === 6 ? `[${host}]` : host}:${target.port}` };
  };

  return {
    /**
     * Returns the tables of a webhook URL, which are created if they are missing.
     *
     * @param family family of the stream, if the tables are not open yet
     * @throws Error of the lookup, the address check or the database
     */
    async reach(url: string, family: TableFamily): Promise<Database> {
      let entry = entries.get(url);
      if (entry === undefined) {
        const added: Entry = {
          opening: Promise.resolve().then(() => open(url, family, added)),
          pool: undefined,
          usedMs: startStopwatch(),
        };
        entry = added;
        entries.set(url, added);
        added.opening.catch(() => forget(url, added));
      }
      entry.usedMs = startStopwatch();
      return entry.opening;
    },
    /** Closes the connections of URLs that were not used for {@link IDLE_MS}. */
    closeIdle() {
      for (const [url, entry] of entries) if (entry.usedMs() > IDLE_MS) forget(url, entry);
    },
    /** Opens new connections for the next webhook, to the current address of the host. */
    reopen(url: string) {
      const entry = entries.get(url);
      if (entry !== undefined) forget(url, entry);
    },
    async close() {
      const pools = [...entries.values()].map(({ pool }) => pool);
      entries.clear();
      await Promise.allSettled(pools.map(async (pool) => pool?.end()));
    },
  };
}

function toPoolConfig(url: URL, { host, port, database, tls }: TablesUrl, address: string) {
  const login = readLogin(url);
  return {
    host: address,
    port,
    database,
    user: login?.user ?? 'postgres',
    password: login?.password ?? '',
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: DEFAULT_TIMEOUT_MS,
    // Ends the wait for a server that no longer responds.
    query_timeout: DEFAULT_TIMEOUT_MS + CONNECT_MS,
    keepAlive: true,
    application_name: 'sluice-tables',
    ssl:
      tls === 'disable'
        ? false
        : {
            rejectUnauthorized: tls === 'verify-full',
            ...(isIP(host) === 0 ? { servername: host } : { host }),
          },
  } satisfies pg.PoolConfig;
}
