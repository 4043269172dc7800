import path from 'node:path';
import { launchOnFreePort, makePostgresHome } from './postgresHome.ts';
import type { TetheredProcess } from '../tether.ts';

/** A temporary PostgreSQL server with an empty database. `stop` deletes its data. */
export interface Postgres {
  /**
   * `postgres://postgres@127.0.0.1:<port>/postgres`. The user is a superuser without a password.
   */
  readonly url: string;
  /** Stays the same after `kill` and `restart`. */
  readonly port: number;
  /** The postmaster's process id, which `restart` changes. */
  readonly pid: number;
  /** Stops the server, drops its connections and deletes its data. A second call does nothing. */
  stop(): Promise<void>;
  /**
   * Sends SIGKILL to the postmaster and keeps the data; resolves when all server processes have
   * ended.
   */
  kill(): Promise<void>;
  /**
   * Restarts the server with the same port and data, or starts it if it is not running. `fast` (the
   * default) rolls back open transactions and disconnects clients. `immediate` skips the shutdown
   * checkpoint, so the server must recover at the start, as after a crash.
   */
  restart(mode?: 'fast' | 'immediate'): Promise<void>;
}

export interface PostgresOptions {
  /**
   * Server settings, such as `{ max_connections: '20' }`. `fsync` is `off` by default, which makes
   * tests much faster; data is at risk only if the machine itself crashes.
   */
  settings?: Record<string, string>;
  /**
   * Folder with PostgreSQL's programs. Default: the folder of the first server that `findPostgres`
   * returns.
   */
  programs?: string;
}

/**
 * Creates a server in a temporary folder and starts it on 127.0.0.1. When this process ends, even
 * by SIGKILL, a watchdog stops the server and deletes its data (not on Windows).
 *
 * PostgreSQL refuses to run as root, so under root it runs as the user `postgres` or `nobody`.
 *
 * @throws Error if the machine has no PostgreSQL server, if this process runs as root and neither
 *   user exists, or if the server does not start. The message explains the cause.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const home = await makePostgresHome(options.programs);
  const data = path.join(home.folder, 'data');
  const launch = (port: number) => home.launch(data, port, options.settings ?? {});
  let server: TetheredProcess;
  let port: number;
  try {
    await home.initialize(data);
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
      server.signal('SIGINT'); // requests a "fast" shutdown
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
