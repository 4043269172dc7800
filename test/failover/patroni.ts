/**
 * One server of the cluster: Patroni with its PostgreSQL, configured by
 * `deploy/patroni/patroni.yaml`. All connections from other servers and from the service pass
 * through proxies, so that the network of the server can fail.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chown, copyFile, mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort, findPostgres, startFaultProxy } from '@sluice/testkit';
import { parse, stringify } from 'yaml';
import type { EtcdMember } from './etcd.ts';
import { type Home, type Program, startProgram } from './home.ts';

/** Password of all users: the superuser, replication and the service. */
export const PASSWORD = 'test-password';
const run = promisify(execFile);
const SCOPE = 'sluice';
const DEPLOYED = fileURLToPath(new URL('../../deploy/patroni/', import.meta.url));
/** Programs that Patroni runs, in addition to `initdb` and `postgres`. */
const NEEDED = ['pg_basebackup', 'pg_controldata', 'pg_ctl', 'pg_isready', 'pg_rewind'];
/** More than `wal_keep_size`, `max_wal_size` and the WAL that `pg_rewind` copies. */
const WAL_DISK = '4g';
/** Free space below which a disk counts as full, in bytes: less than one WAL segment. */
const FULL = 8 * 1024 ** 2;
const TIMEOUT_MS = 2_000;
/** Number of characters of a log to report. */
const LOG_TAIL = 8_000;

export interface PatroniServer {
  readonly name: string;
  /** Port of PostgreSQL for the service, on 127.0.0.1. */
  readonly servicePort: number;
  /** Returns the connection string of the superuser for a database. Does not use a proxy. */
  urlOf(database: string): string;
  /** Returns the state of the server as Patroni reports it; undefined if it does not respond. */
  state(): Promise<{ role: string; state: string } | undefined>;
  /** Returns the last lines that Patroni and PostgreSQL have written. */
  output(): string;
  start(): Promise<void>;
  /** Kills PostgreSQL (SIGKILL). Patroni goes on. */
  killPostgres(): void;
  /** Kills Patroni and PostgreSQL (SIGKILL). */
  kill(): Promise<void>;
  /** Suspends Patroni and PostgreSQL (SIGSTOP). */
  freeze(): void;
  thaw(): void;
  /** Drops all traffic from and to other servers and the service. */
  disconnect(): void;
  reconnect(): void;
  /** Fills the disk that holds the WAL. Requires root and `isOnOwnDisk`. */
  fillDisk(): Promise<void>;
  freeDisk(): Promise<void>;
  /** Switches to a standby with `patronictl switchover`. */
  switchover(candidate: string): Promise<void>;
}

export interface PatroniOptions {
  name: string;
  etcd: readonly EtcdMember[];
  /** The etcd member on the same host, which is reached without a delay. */
  ownEtcd: EtcdMember;
  /** Delay of the traffic between servers, in each direction. */
  delayMs: number;
  /** Whether the WAL is on a small disk of its own, which `fillDisk` can fill. Requires root. */
  isOnOwnDisk: boolean;
}

interface Deployed {
  bootstrap: Record<string, unknown> & { initdb: unknown[] };
  postgresql: Record<string, unknown> & { basebackup: unknown[] };
}

/** Creates a server; `start` starts it. */
export async function createPatroniServer(
  home: Home,
  { name, etcd, ownEtcd, delayMs, isOnOwnDisk }: PatroniOptions,
): Promise<PatroniServer> {
  const folder = join(home.folder, name);
  const data = join(folder, 'data');
  const wal = join(folder, 'wal-disk');
  const ballast = join(wal, 'ballast');
  const logFile = join(folder, 'patroni.log');
  const own = async (path: string): Promise<void> => {
    if (home.user) await chown(path, home.user.uid, home.user.gid);
  };
  await mkdir(folder);
  await own(folder);
  if (isOnOwnDisk) {
    await mkdir(wal);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${WAL_DISK}`, 'tmpfs', wal]);
    home.onRemove(async () => void execFileSync('umount', ['--lazy', wal]));
    await own(wal);
  }

  const [port, restPort] = [await findFreePort(), await findFreePort()];
  const toPostgres = await startFaultProxy({ port, delayMs });
  const toRest = await startFaultProxy({ port: restPort, delayMs });
  const service = await startFaultProxy({ port });
  const toEtcd = await Promise.all(
    etcd.map((member) =>
      startFaultProxy({ port: member.clientPort, delayMs: member === ownEtcd ? 0 : delayMs }),
    ),
  );
  const network = [toPostgres, toRest, service, ...toEtcd];
  for (const proxy of network) home.onRemove(proxy.stop);

  const script = join(folder, 'create-database.sh');
  await copyFile(join(DEPLOYED, 'create-database.sh'), script);
  await own(script);
  const deployed = parse(await readFile(join(DEPLOYED, 'patroni.yaml'), 'utf8')) as Deployed;
  const walFolder = join(wal, 'pg_wal');
  const config = {
    ...deployed,
    name,
    scope: SCOPE,
    etcd3: {
      hosts: toEtcd.map((proxy) => `127.0.0.1:${proxy.port}`),
      // Otherwise, Patroni would connect to the addresses that the members advertise.
      use_proxies: true,
    },
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${toRest.port}` },
    bootstrap: {
      ...deployed.bootstrap,
      initdb: [...deployed.bootstrap.initdb, ...(isOnOwnDisk ? [{ waldir: walFolder }] : [])],
      post_bootstrap: `env POSTGRES_PASSWORD=${PASSWORD} sh ${script}`,
    },
    postgresql: {
      ...deployed.postgresql,
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${toPostgres.port}`,
      bin_dir: findPrograms(),
      data_dir: data,
      pgpass: join(folder, 'pgpass'),
      basebackup: [
        ...deployed.postgresql.basebackup,
        ...(isOnOwnDisk ? [{ waldir: walFolder }] : []),
      ],
      parameters: { unix_socket_directories: folder },
      authentication: {
        superuser: { username: 'postgres', password: PASSWORD },
        replication: { username: 'replicator', password: PASSWORD },
      },
    },
  };
  const configFile = join(folder, 'patroni.yaml');
  await writeFile(configFile, stringify(config));
  await own(configFile);

  let patroni: Program | undefined;
  /** Returns the process IDs of the postmaster and of its children; empty without a postmaster. */
  const postgresProcesses = (): number[] => {
    const postmaster = readPostmasterPid(data);
    return postmaster === undefined ? [] : [postmaster, ...childrenOf(postmaster)];
  };
  const signalAll = (signal: NodeJS.Signals): void => {
    for (const pid of [patroni!.pid, ...postgresProcesses()]) process.kill(pid, signal);
  };
  const killPostgres = (): void => {
    const [postmaster] = postgresProcesses();
    if (postmaster !== undefined) process.kill(postmaster, 'SIGKILL');
  };
  const kill = async (): Promise<void> => {
    // All processes at once, because a suspended child would outlive the postmaster.
    for (const pid of postgresProcesses()) process.kill(pid, 'SIGKILL');
    patroni?.signal('SIGKILL');
    await patroni?.exited;
  };
  home.onRemove(kill);

  return {
    name,
    servicePort: service.port,
    urlOf: (database) => `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`,
    async state() {
      try {
        const signal = AbortSignal.timeout(TIMEOUT_MS);
        const response = await fetch(`http://127.0.0.1:${restPort}/patroni`, { signal });
        return (await response.json()) as { role: string; state: string };
      } catch {
        return undefined;
      }
    },
    output: () => readFileSync(logFile, 'utf8').slice(-LOG_TAIL),
    async start() {
      patroni = await startProgram(home, 'patroni', [configFile], logFile);
    },
    killPostgres,
    kill,
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    disconnect() {
      for (const proxy of network) proxy.blackHole();
    },
    reconnect() {
      for (const proxy of network) proxy.heal();
    },
    async fillDisk() {
      // PostgreSQL may free WAL meanwhile, so fill again until nothing is left.
      for (let part = 0; ; part++) {
        const { bavail, bsize } = await statfs(wal);
        if (bavail * bsize < FULL) return;
        execFileSync('fallocate', ['--length', String(bavail * bsize), `${ballast}-${part}`]);
      }
    },
    async freeDisk() {
      for (const file of readdirSync(wal).filter((each) => each.startsWith('ballast'))) {
        await rm(join(wal, file));
      }
    },
    async switchover(candidate) {
      const servers = ['--leader', name, '--candidate', candidate];
      const command = ['-c', configFile, 'switchover', '--force', SCOPE, ...servers];
      await run('patronictl', command, { cwd: folder, ...home.user });
    },
  };
}

function findPrograms(): string {
  const [found] = findPostgres(NEEDED);
  if (found === undefined) throw new Error(`no PostgreSQL server has ${NEEDED.join(', ')}`);
  return found.programs;
}

function readPostmasterPid(data: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
    // A killed postmaster leaves the file.
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

function childrenOf(parent: number): number[] {
  const list = execFileSync('ps', ['--ppid', String(parent), '--format', 'pid='], {
    encoding: 'utf8',
  });
  return list.split('\n').map(Number).filter(Boolean);
}
