import { execFile, execFileSync } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { findPostgres } from './findPostgres.ts';
import { type Tethered, startTethered } from './tether.ts';

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

const startDeadlineMs = 30_000;

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
  const programs = findPostgres();
  if (!programs) throw new Error(missingPostgres);

  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-postgres-'));
  const user = process.getuid?.() === 0 ? findUnprivilegedUser() : undefined;
  // Its own folder as the working directory: ours may be closed to that user.
  const child = { cwd: folder, env: { ...process.env, LC_ALL: 'C' }, ...user };
  const data = path.join(folder, 'data');
  try {
    if (user) await chown(folder, user.uid, user.gid);
    await promisify(execFile)(
      path.join(programs, 'initdb'),
      [
        `--pgdata=${data}`,
        '--username=postgres',
        '--auth=trust',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      child,
    );
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }

  const launch = (port: number) => {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      fsync: 'off',
      ...options.settings,
    };
    return launchPostgres(
      path.join(programs, 'postgres'),
      [
        '-D',
        data,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      { ...child, lostFolder: folder },
    );
  };

  let { server, port } = await launchOnFreePort(launch).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });

  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    get pid() {
      return server.pid;
    },
    stop: async () => {
      server.signal('SIGINT'); // the "fast" shutdown
      await server.exited;
      await rm(folder, { recursive: true, force: true });
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

const missingPostgres =
  'No PostgreSQL server on this machine. Install it: `apt-get install postgresql` (Debian, Ubuntu), ' +
  '`dnf install postgresql-server` (Fedora), `brew install postgresql` (macOS).';

interface ServerUser {
  uid: number;
  gid: number;
}

function findUnprivilegedUser(): ServerUser {
  for (const name of ['postgres', 'nobody']) {
    try {
      const idOf = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }));
      return { uid: idOf('-u'), gid: idOf('-g') };
    } catch {
      // no such user here
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user `postgres` or `nobody`');
}

/** Starts the postmaster and resolves when it accepts connections. */
async function launchPostgres(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; lostFolder: string } & Partial<ServerUser>,
): Promise<Tethered> {
  const server = await startTethered(program, args, { ...options, lostSignal: 'QUIT' });
  server.stdout.resume();
  // Read to the end: a full pipe would stop the server.
  let said = '';
  const isReady = new Promise<true>((resolve) => {
    server.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
      if (said.includes('database system is ready to accept connections')) resolve(true);
    });
  });
  const timer = new AbortController();
  const started = await Promise.race([
    isReady,
    server.exited,
    delay(startDeadlineMs, undefined, { signal: timer.signal }).catch(() => {}),
  ]);
  timer.abort();
  if (started) return server;
  server.signal('SIGKILL');
  await server.exited;
  throw new Error(`PostgreSQL did not start: ${said.trim()}`);
}

/**
 * PostgreSQL takes no port 0, so a free one is found first; between the two another program may take
 * it, and then the next is tried.
 */
async function launchOnFreePort(
  launch: (port: number) => Promise<Tethered>,
): Promise<{ server: Tethered; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      return { server: await launch(port), port };
    } catch (error) {
      if (attempt === 5 || !String(error).includes('Address already in use')) throw error;
    }
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
