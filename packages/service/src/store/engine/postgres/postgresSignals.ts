/** Signals over LISTEN and NOTIFY, on a separate session that is reopened when it breaks. */
import { randomUUID } from 'node:crypto';
import { type Signal, type Signals, createSignals } from '../../live/signals.ts';
import { type Session, createServers } from './postgresServers.ts';

const CHANNEL = 'sluice';
const RECONNECT_MS = 1_000;
/** Signals need no durability, so they do not wait for the disk or a standby. */
const SESSION = `set synchronous_commit = off; listen ${CHANNEL}`;
const EVERYTHING: readonly Signal[] = [
  'deliveries',
  'rules',
  'jobs',
  'replays',
  'settings',
  'leases',
  'events',
  'feeds',
  'consumers',
];

/**
 * Sends and receives signals. Connects in the background; until the connection is open, processes
 * detect changes by polling.
 */
export function createPostgresSignals(url: string): Signals {
  const local = createSignals();
  const servers = createServers(url);
  const self = randomUUID();
  /** Signals that were sent in this process, but not yet to other processes. */
  const unsent = new Set<Signal>();
  let opening: Session | undefined;
  let session: Session | undefined;
  let isSending = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    try {
      const client = await servers.connect();
      opening = client;
      const leave = (): void => {
        if (session !== client) return;
        session = undefined;
        client.release(true);
        reconnect();
      };
      client.on('error', leave);
      client.on('end', leave);
      client.on('notification', ({ payload = '' }) => {
        const [from, what = ''] = payload.split(' ');
        if (from !== self) local.send(what.split(',') as Signal[]);
      });
      await client.query(SESSION, []);
      opening = undefined;
      session = client;
      if (isClosed) leave();
      // Signals may have been missed while the session was closed.
      else local.send(EVERYTHING);
    } catch {
      // The ledger's other connections report the problem. If the client were not released, ten
      // failures would use up the pool.
      opening?.release(true);
      opening = undefined;
      reconnect();
    }
  };
  const reconnect = (): void => {
    if (!isClosed) timer = setTimeout(() => void connect(), RECONNECT_MS);
  };
  void connect();

  /** Sends one NOTIFY for all signals that arrived during the previous one. */
  const pass = async (): Promise<void> => {
    while (unsent.size > 0 && session !== undefined) {
      const client = session;
      const payload = `${self} ${[...unsent].join(',')}`;
      unsent.clear();
      try {
        await client.query('select pg_notify($1, $2)', [CHANNEL, payload]);
      } catch {
        // The session will be reopened; other processes poll in the meantime.
      }
    }
    isSending = false;
  };

  return {
    send(what) {
      local.send(what);
      if (session === undefined) return;
      for (const each of what) unsent.add(each);
      if (isSending) return;
      isSending = true;
      void pass();
    },
    on: local.on,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      session?.release(true);
      session = undefined;
      // Closes a connection that is still being opened, so that its pending query rejects.
      const unopened = opening;
      opening = undefined;
      unopened?.release(true);
      await servers.end();
    },
  };
}
