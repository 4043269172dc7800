import path from 'node:path';
import { initData, launchOnFreePort, makePostgresHome } from './postgresHome.ts';
import type { Tethered } from '../tether.ts';

/** A PostgreSQL server of our own, with an empty database that goes when it stops. */
export interface Postgres {
  /** `postgres://postgres@127.0.0.1:<port>/postgres`: a superuser, and no password. */
  readonly url: string;
  /** The same through `kill` and `restart`. */
  readonly port: number;
  /** The postmaster's process id; another one after `restart`. */
  readonly pid: number;
  /** Ends the server, breaking its connections, and deletes its data. A second call does nothing. */
  stop(): Promise<void>;
  /** Ends the postmaster with SIGKILL; resolves when all its processes have gone. The data stay. */
  kill(): Promise<void>;
  /**
   * Starts the server again on the same port and data; it is ended before, where it runs. `fast` (the
   * default) rolls back and disconnects; `immediate` leaves a recovery to the start, as a crash does.
   */
  restart(mode?: 'fast' | 'immediate'): Promise<void>;
}

export interface PostgresOptions {
  /**
   * Settings of the server, such as `{ max_connections: '20' }`. By default `fsync` is `off`: a
   * process may be killed without harm, since the machine goes on; tests are faster by far.
   */
  settings?: Record<string, string>;
}

/**
 * Makes a cluster in a temporary folder and starts it, on 127.0.0.1 alone. The server never outlives
 * this process, and its data are deleted even when this process is killed.
 *
 * PostgreSQL refuses to run as root: started by root, it runs as `postgres`, or else as `nobody`.
 *
 * @throws Error when the machine has no PostgreSQL server (the message says what installs it), and
 *   when it does not start (the message holds what it said).
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const home = await makePostgresHome();
  const data = path.join(home.folder, 'data');
  const launch = (port: number) => home.launch(data, port, options.settings ?? {});
  let server: Tethered;
  let port: number;
  try {
    await initData(home, data);
    ({ server, port } = await launchOnFreePort(launch));
  } catch (error) {
    await home.remove();
    throw error;
  }

  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    get pid() {
      return server.pid;
    },
    stop: async () => {
      server.signal('SIGINT'); // the "fast" shutdown
      await server.exited;
      await home.remove();
    },
    kill: async () => {
      server.signal('SIGKILL');
      await server.exited;
    },
    restart: async (mode = 'fast') => {
      server.signal(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await server.exited;
      server = await launch(port);
    },
  };
}
