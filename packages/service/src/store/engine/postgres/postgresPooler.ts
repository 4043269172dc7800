/** Detects a connection pooler in transaction mode, with which the ledger would lose data. */
import { CallerError } from '../../../base/errors.ts';
import type { Servers, Session } from './postgresServers.ts';

/**
 * Number of transactions that are open at once. In transaction mode, one of them most likely gets
 * the server's session that the idle connection used before.
 */
const TRANSACTIONS = 3;

/**
 * Checks that each connection has its own session of the server. A pooler in transaction mode
 * shares sessions, and with them settings such as `synchronous_commit`, so that commits would not
 * be durable.
 *
 * @throws CallerError if two connections share a session
 */
export async function refuseTransactionPooler(servers: Servers, host: string): Promise<void> {
  const sessions: Session[] = [];
  const connect = async (): Promise<Session> => {
    const session = await servers.connect();
    sessions.push(session);
    return session;
  };
  try {
    const idle = await connect();
    const pid = await readPid(idle);
    for (let n = 0; n < TRANSACTIONS; n++) {
      const busy = await connect();
      await busy.query('begin', []);
      if ((await readPid(busy)) === pid) throw poolerError(host);
    }
    if ((await readPid(idle)) !== pid) throw poolerError(host);
  } finally {
    // Ends the transactions with their connections.
    for (const session of sessions) session.release(true);
  }
}

async function readPid(session: Session): Promise<number> {
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid', []);
  return rows[0]!.pid;
}

const poolerError = (host: string): CallerError =>
  new CallerError(
    'database_refused',
    `${host} is a connection pooler in transaction mode: connections share sessions, so a commit could be lost in a crash`,
    {
      fix: 'connect to PostgreSQL directly, or to a pooler in session mode; hosted databases have a direct URL, e.g. without -pooler in the host, or with port 5432 instead of 6543',
    },
  );
