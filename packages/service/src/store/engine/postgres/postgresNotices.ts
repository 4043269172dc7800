/** Notices over LISTEN and NOTIFY, on a session of their own that is opened again when it breaks. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { type Notice, type Notices, createNotices } from '../../live/notices.ts';
import { askInTime, createServers } from './postgresServers.ts';

const CHANNEL = 'sluice';
const RECONNECT_MS = 1_000;
/** A notice needs no promise, so nobody waits for the disk or a standby on its account. */
const SESSION = `set synchronous_commit = off; listen ${CHANNEL}`;
const EVERYTHING: readonly Notice[] = [
  'deliveries',
  'rules',
  'jobs',
  'settings',
  'leases',
  'events',
];

/** Connects by and by: until then the processes find out what changed by looking. */
export function createPostgresNotices(url: string): Notices {
  const local = createNotices();
  const servers = createServers(url, { isPatient: true });
  const self = randomUUID();
  /** Said here, and not to the others yet. */
  const untold = new Set<Notice>();
  let opening: pg.PoolClient | undefined;
  let session: pg.PoolClient | undefined;
  let isTelling = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const connect = async (): Promise<void> => {
    try {
      const client = (await servers.connect()) as unknown as pg.PoolClient;
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
        if (from !== self) local.tell(what.split(',') as Notice[]);
      });
      await askInTime(client, () => client.query(SESSION));
      opening = undefined;
      session = client;
      if (isClosed) leave();
      // What was told while nobody listened is looked up.
      else local.tell(EVERYTHING);
    } catch {
      // The ledger's other connections say what is wrong. Kept, ten of them would be all there may be.
      opening?.release(true);
      opening = undefined;
      reconnect();
    }
  };
  const reconnect = (): void => {
    if (!isClosed) timer = setTimeout(() => void connect(), RECONNECT_MS);
  };
  void connect();

  /** One NOTIFY for all that was told while the last was under way. */
  const pass = async (): Promise<void> => {
    while (untold.size > 0 && session !== undefined) {
      const client = session;
      const payload = `${self} ${[...untold].join(',')}`;
      untold.clear();
      try {
        await askInTime(client, () => client.query('select pg_notify($1, $2)', [CHANNEL, payload]));
      } catch {
        // The session is opened again, and the others look by themselves meanwhile.
      }
    }
    isTelling = false;
  };

  return {
    tell(what) {
      local.tell(what);
      if (session === undefined) return;
      for (const each of what) untold.add(each);
      if (isTelling) return;
      isTelling = true;
      void pass();
    },
    on: local.on,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      session?.release(true);
      session = undefined;
      // What it was asked then rejects.
      void (opening as pg.Client | undefined)?.end();
      await servers.end();
    },
  };
}
