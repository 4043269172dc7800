import path from 'node:path';
import { initData, launchOnFreePort, makePostgresHome } from './postgresHome.ts';
import type { Tethered } from '../tether.ts';

/** A temporary PostgreSQL server with an empty database, which is deleted when it stops. */
export interface Postgres {
  /** `postgres://postgres@127.0.0.1:<port>/postgres`: a superuser, and no password. */
  readonly url: string;
  /** Port of the server; `kill` and `restart` do not change it. */
  readonly port: number;
  /** The postmaster's process id, which `restart` changes. */
  readonly pid: number;
  /** Stops the server, drops its connections and deletes its data. A second call does nothing. */
  stop(): Promise<void>;
  /** Kills the postmaster and keeps the data; resolves when all its processes have ended. */
  kill(): Promise<void>;
  /**
   * Restarts the server on the same port and data, or starts it if it is not running. `fast` (the
   * default) rolls back and disconnects; `immediate` requires recovery at the start, like a crash.
   */
  restart(mode?: 'fast' | 'immediate'): Promise<void>;
}

export interface PostgresOptions {
  /**
   * Server settings, such as `{ max_connections: '20' }`. `fsync` is `off` by default, which makes
   * tests much faster and is safe as long as only processes are killed, not the machine.
   */
  settings?: Record<string, string>;
}

/**
 * Creates a cluster in a temporary folder and starts it on 127.0.0.1. The server never outlives
 * this process, and its data is deleted even if this process is killed.
 *
 * PostgreSQL refuses to run as root, so under root it runs as the user `postgres` or `nobody`.
 *
 * @throws Error if the machine has no PostgreSQL server (the message explains how to install it), or if
 *   the server does not start (the message contains its output).
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
