/** The parts that a single server and a cluster share: folder, user and postmaster. */
import { execFile, execFileSync } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chown, cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '../freePort.ts';
import { findPostgres } from './findPostgres.ts';
import { type TetheredProcess, startTethered } from '../tether.ts';

const startDeadlineMs = 30_000;

/** A temporary folder, owned by the user that runs PostgreSQL, with functions that run a server. */
export interface PostgresHome {
  readonly folder: string;
  /** Initializes the folder `data` for a new server. */
  initialize(data: string): Promise<void>;
  /** Makes the user that runs PostgreSQL the owner of a file or folder. */
  own(file: string): Promise<void>;
  /**
   * Starts a server with this data folder on this port of 127.0.0.1; resolves when it accepts
   * connections. `fsync` is `off` by default.
   */
  launch(data: string, port: number, settings: Record<string, string>): Promise<TetheredProcess>;
  remove(): Promise<void>;
}

/**
 * Creates the temporary folder. PostgreSQL refuses to run as root, so under root it runs as the
 * user `postgres` or `nobody`.
 *
 * @param programs the folder with PostgreSQL's programs, by default those of the first
 *   server that `findPostgres` returns.
 * @throws Error if the machine has no PostgreSQL server (the message explains how to install it),
 *   or if this process runs as root and neither user exists.
 */
export async function makePostgresHome(
  programs = findPostgres()[0]?.programs,
): Promise<PostgresHome> {
  if (programs === undefined) throw new Error(missingPostgres);
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-postgres-'));
  const user = process.getuid?.() === 0 ? findUnprivilegedUser() : undefined;
  if (user) await chown(folder, user.uid, user.gid);
  // Uses the new folder as working directory, because the server's user may be unable to read ours.
  const child = { cwd: folder, env: { ...process.env, LC_ALL: 'C' }, ...user };
  return {
    folder,
    initialize: async (data) => {
      const initialized = initializedBy(programs);
      if (!existsSync(initialized)) {
        await run(path.join(programs, 'initdb'), [`--pgdata=${data}`, ...initdbArgs], child);
        await keepCopy(data, initialized);
        return;
      }
      await copy(initialized, data);
      if (user) await run('chown', ['-R', `${user.uid}:${user.gid}`, data]);
    },
    own: async (file) => {
      if (user) await chown(file, user.uid, user.gid);
    },
    launch: (data, port, settings) => {
      const all = {
        listen_addresses: '127.0.0.1',
        port: String(port),
        unix_socket_directories: '',
        fsync: 'off',
        ...settings,
      };
      return launchPostgres(
        path.join(programs, 'postgres'),
        ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        { ...child, lostFolder: folder },
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const run = promisify(execFile);

/** Sorts text by the rules of a language, like databases of the official container image. */
const initdbArgs = [
  ...['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'],
  ...['--locale=C', '--locale-provider=icu', '--icu-locale=en-US'],
];

/**
 * Returns the folder with the data of a new server by these programs. The tests start dozens of
 * servers, and copying the data takes a third of the time of `initdb`.
 */
function initializedBy(programs: string): string {
  const { mtimeMs } = statSync(path.join(programs, 'initdb'));
  const name = hash('sha256', JSON.stringify([programs, mtimeMs, initdbArgs])).slice(0, 16);
  return fileURLToPath(new URL(`postgres/${name}`, cache));
}

const cache = new URL('../../../../node_modules/.cache/', import.meta.url);

const copy = (from: string, to: string) =>
  cp(from, to, { recursive: true, preserveTimestamps: true });

/** Copies the data for later servers. Does nothing if another process was faster. */
async function keepCopy(data: string, kept: string): Promise<void> {
  const fresh = `${kept}.${randomUUID()}`;
  await copy(data, fresh);
  await rename(fresh, kept).catch(() => rm(fresh, { recursive: true }));
}

const missingPostgres =
  'The PostgreSQL server was not found. Install it: `apt-get install postgresql` (Debian, Ubuntu), ' +
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
      // The user does not exist.
    }
  }
  throw new Error(
    'PostgreSQL does not run as root, and the users `postgres` and `nobody` do not exist',
  );
}

/** Starts the postmaster and resolves when it accepts connections. */
async function launchPostgres(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; lostFolder: string } & Partial<ServerUser>,
): Promise<TetheredProcess> {
  const server = await startTethered(program, args, { ...options, lostSignal: 'QUIT' });
  server.stdout.resume();
  // The output must be read, because a full pipe would block the server.
  let said = '';
  const isReady = new Promise<true>((resolve) => {
    server.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
      if (/ready to accept (read-only )?connections/.test(said)) resolve(true);
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
 * Starts a server on a free port. Finds the port first, because PostgreSQL does not accept port 0.
 * If another program takes the port in the meantime, tries a new port, up to five in total.
 */
export async function launchOnFreePort(
  launch: (port: number) => Promise<TetheredProcess>,
): Promise<{ server: TetheredProcess; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    try {
      return { server: await launch(port), port };
    } catch (error) {
      if (attempt === 5 || !String(error).includes('Address already in use')) throw error;
    }
  }
}
