import { rm } from 'node:fs/promises';
import path from 'node:path';
import { copyServer } from './copyServer.ts';
import { launchOnFreePort, makePostgresHome } from './postgresHome.ts';
import { queryPostgres as query } from './queryPostgres.ts';
import type { TetheredProcess } from '../tether.ts';

/** A server of a cluster. As a standby, it connects with its name as `application_name`. */
export interface ClusterServer {
  readonly name: string;
  /** `postgres://postgres@127.0.0.1:<port>/postgres`. Stays the same after a restart. */
  readonly url: string;
}

/**
 * A primary with two standbys, one of which must confirm each commit
 * (`synchronous_standby_names = 'ANY 1 (…)'`). There is no automatic failover.
 */
export interface PostgresCluster {
  /** `postgres://postgres@127.0.0.1:<port>,127.0.0.1:<port>,127.0.0.1:<port>/postgres`. */
  readonly url: string;
  readonly primary: ClusterServer;
  /**
   * The standbys of `primary`, including killed ones. A former primary is missing until `rejoin`.
   */
  readonly standbys: readonly ClusterServer[];
  /** Kills a standby with SIGKILL. `revive` starts it as a standby again. */
  killStandby(server: ClusterServer): Promise<void>;
  /** Kills the primary with SIGKILL and returns it when its processes have ended. */
  killPrimary(): Promise<ClusterServer>;
  /**
   * Promotes and returns the standby that has received the most data, and therefore every confirmed
   * commit. The other standby follows the new primary. The previous primary must have been killed
   * before the call, and both standbys must be running.
   */
  promote(): Promise<ClusterServer>;
  /**
   * Restarts a killed server in its old role. A former primary still considers itself the primary.
   */
  revive(server: ClusterServer): Promise<void>;
  /** Stops a server, replaces its data with a copy of the primary's, and starts it as a standby. */
  rejoin(server: ClusterServer): Promise<void>;
  /** Runs a statement and returns its rows as text: `|` between columns, a line for each row. */
  query(server: ClusterServer, statement: string): Promise<string>;
  stop(): Promise<void>;
}

interface Member extends ClusterServer {
  readonly data: string;
  readonly port: number;
  process: TetheredProcess;
}

const NAMES = ['s1', 's2', 's3'] as const;
const DEADLINE_MS = 30_000;

/**
 * Starts a primary and two standbys on free ports of 127.0.0.1.
 *
 * @throws Error as `startPostgres` does, or if the standbys do not connect within 30 s.
 */
export async function startPostgresCluster(): Promise<PostgresCluster> {
  const home = await makePostgresHome();
  const members: Member[] = [];

  const launch = (name: string, data: string, port: number) => {
    const others = NAMES.filter((each) => each !== name).join(',');
    return home.launch(data, port, {
      synchronous_standby_names: `ANY 1 (${others})`,
      // A new standby needs the WAL since its copy began.
      wal_keep_size: '512MB',
    });
  };
  const copy = (from: Member, name: string, data: string) =>
    copyServer(home, { from, to: data, applicationName: name });
  const start = async (name: string, data: string): Promise<Member> => {
    const { server, port } = await launchOnFreePort((free) => launch(name, data, free));
    return {
      name,
      data,
      port,
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      process: server,
    };
  };
  const end = async (member: Member, signal: NodeJS.Signals): Promise<void> => {
    member.process.signal(signal);
    await member.process.exited;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((member) => end(member, 'SIGQUIT')));
    await home.remove();
  };

  let primary: Member;
  let standbys: Member[];
  try {
    const data = path.join(home.folder, NAMES[0]);
    await home.initialize(data);
    primary = await start(NAMES[0], data);
    members.push(primary);
    standbys = [];
    for (const name of NAMES.slice(1)) {
      const folder = path.join(home.folder, name);
      await copy(primary, name, folder);
      const standby = await start(name, folder);
      members.push(standby);
      standbys.push(standby);
    }
  } catch (error) {
    await stop();
    throw error;
  }

  /** Waits until at least `by` standbys stream from the primary; throws after 30 s. */
  const untilFollowed = async (by: number): Promise<void> => {
    const deadline = Date.now() + DEADLINE_MS;
    const streaming = "select count(*) from pg_stat_replication where state = 'streaming'";
    while (Number(await query(primary.url, streaming)) < by) {
      if (Date.now() > deadline)
        throw new Error(`${primary.name} does not have ${by} streaming standbys`);
    }
  };
  await untilFollowed(2);

  return {
    url: `postgres://postgres@${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`,
    get primary() {
      return primary;
    },
    get standbys() {
      return standbys;
    },
    query: (server, statement) => query(server.url, statement),
    stop,
    async killStandby(server) {
      await end(
        members.find(({ name }) => name === server.name)!,
        'SIGKILL',
      );
    },
    async killPrimary() {
      await end(primary, 'SIGKILL');
      return primary;
    },
    async promote() {
      const received = await Promise.all(
        standbys.map(async (standby) => {
          const lsn = await query(
            standby.url,
            "select pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')",
          );
          return { standby, bytes: BigInt(lsn) };
        }),
      );
      received.sort((a, b) => (a.bytes < b.bytes ? 1 : -1));
      const [next, ...others] = received.map(({ standby }) => standby);
      await query(next!.url, 'select pg_promote()');
      for (const other of others) {
        const place = `user=postgres host=127.0.0.1 port=${next!.port} application_name=${other.name}`;
        await query(other.url, `alter system set primary_conninfo = '${place}'`);
        await query(other.url, 'select pg_reload_conf()');
      }
      primary = next!;
      standbys = others;
      await untilFollowed(others.length);
      return primary;
    },
    async revive(server) {
      const member = members.find(({ name }) => name === server.name)!;
      member.process = await launch(member.name, member.data, member.port);
    },
    async rejoin(server) {
      const member = members.find(({ name }) => name === server.name)!;
      await end(member, 'SIGQUIT');
      await rm(member.data, { recursive: true, force: true });
      await copy(primary, member.name, member.data);
      member.process = await launch(member.name, member.data, member.port);
      standbys = [...standbys.filter((each) => each !== member), member];
      await untilFollowed(standbys.length);
    },
  };
}
