/** Three PostgreSQL servers under Patroni and three etcd members, all on loopback. */
import { until } from '@sluice/testkit';
import { readPostgresLedger } from '../faults/ledger.ts';
import { type EtcdMember, startEtcd } from './etcd.ts';
import { type Home, makeHome } from './home.ts';
import { PASSWORD, type PatroniServer, createPatroniServer } from './patroni.ts';

export interface Cluster {
  /** Connection string of the service. It names all servers. */
  readonly url: string;
  readonly etcd: readonly EtcdMember[];
  readonly servers: readonly PatroniServer[];
  /** Returns the primary, and the standby that each commit waits for; throws if one is missing. */
  roles(): Promise<{ primary: PatroniServer; standby: PatroniServer }>;
  /** Returns the connection string of the superuser for a database of the primary. */
  primaryUrl(database: string): Promise<string>;
  /**
   * Returns a value that changes when another server becomes the primary, or the primary restarts;
   * undefined without a primary.
   */
  incarnation(): Promise<string | undefined>;
  /** Waits until both standbys stream, and commits wait for one of them. */
  untilComplete(): Promise<void>;
  /** Returns the last lines that the servers have written. */
  output(): string;
  stop(): Promise<void>;
}

const NAMES = ['postgres-1', 'postgres-2', 'postgres-3'] as const;
const COMPLETE_MS = 180_000;

/**
 * Starts the cluster and waits until it is complete.
 * @param options.delayMs delay of the traffic between servers, in each direction
 * @param options.isOnOwnDisk see `PatroniOptions`
 */
export async function startCluster(options: {
  delayMs: number;
  isOnOwnDisk: boolean;
}): Promise<Cluster> {
  const home = await makeHome();
  try {
    return await build(home, options);
  } catch (error) {
    await home.remove();
    throw error;
  }
}

async function build(
  home: Home,
  options: { delayMs: number; isOnOwnDisk: boolean },
): Promise<Cluster> {
  const etcd = await startEtcd(home, options.delayMs);
  const servers = await Promise.all(
    NAMES.map((name, n) =>
      createPatroniServer(home, { ...options, name, etcd, ownEtcd: etcd[n]! }),
    ),
  );

  const findPrimary = async (): Promise<PatroniServer | undefined> => {
    const states = await Promise.all(servers.map((server) => server.state()));
    return servers.find((_, n) => {
      const { role, state } = states[n] ?? {};
      return (role === 'master' || role === 'primary') && state === 'running';
    });
  };
  const read = async <Row extends object>(select: string): Promise<Row[]> => {
    const primary = await findPrimary();
    if (primary === undefined) return [];
    return readPostgresLedger(() => primary.urlOf('postgres')).rows<Row>(select);
  };
  const standbys = () =>
    read<{ name: string; is_sync: boolean }>(`
      select application_name as name, sync_state in ('sync', 'quorum') as is_sync
      from pg_stat_replication
      where state = 'streaming' and pg_wal_lsn_diff(sent_lsn, replay_lsn) < 16777216`);

  const cluster: Cluster = {
    url: `postgres://sluice:${PASSWORD}@${servers
      .map(({ servicePort }) => `127.0.0.1:${servicePort}`)
      .join(',')}/sluice`,
    etcd,
    servers,
    async roles() {
      const primary = await findPrimary();
      const sync = (await standbys()).find(({ is_sync: isSync }) => isSync);
      const standby = servers.find(({ name }) => name === sync?.name);
      if (primary === undefined || standby === undefined) {
        throw new Error('the cluster has no primary, or no standby that commits wait for');
      }
      return { primary, standby };
    },
    primaryUrl: async (database) => (await cluster.roles()).primary.urlOf(database),
    async incarnation() {
      const [row] = await read<{ text: string }>(`
        select inet_server_port() || ' ' || pg_postmaster_start_time() as text`).catch(() => []);
      return row?.text;
    },
    async untilComplete() {
      const isComplete = async (): Promise<boolean> => {
        const streaming = await standbys().catch(() => []);
        return streaming.length === NAMES.length - 1 && streaming.some((each) => each.is_sync);
      };
      await until('both standbys stream', isComplete, COMPLETE_MS, 500);
    },
    output: () => servers.map((server) => `${server.name}:\n${server.output()}`).join('\n'),
    stop: () => home.remove(),
  };
  await Promise.all(servers.map((server) => server.start()));
  await cluster.untilComplete();
  return cluster;
}
