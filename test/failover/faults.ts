/** The faults that `npm run test:failover` injects, and their repair. */
import type { Cluster } from './cluster.ts';

export interface Fault {
  readonly name: string;
  /** Goal for the 95th percentile of the time without webhooks, in milliseconds. */
  readonly goalMs: number;
  /** Whether PostgreSQL keeps running, so that webhooks should not be interrupted. */
  readonly isHarmless?: boolean;
  readonly needsRoot?: boolean;
  /** Injects the fault, and returns its repair. */
  inject(cluster: Cluster): Promise<() => Promise<void>>;
}

const nothing = async (): Promise<void> => {};

export const FAULTS: readonly Fault[] = [
  {
    name: 'switchover',
    goalMs: 5_000,
    async inject(cluster) {
      const { primary, standby } = await cluster.roles();
      await primary.switchover(standby.name);
      return nothing;
    },
  },
  {
    name: 'PostgreSQL killed',
    goalMs: 15_000,
    async inject(cluster) {
      const { primary } = await cluster.roles();
      primary.killPostgres();
      return nothing;
    },
  },
  {
    name: 'host suspended (SIGSTOP)',
    goalMs: 30_000,
    async inject(cluster) {
      const { primary } = await cluster.roles();
      primary.freeze();
      return async () => primary.thaw();
    },
  },
  {
    name: 'network cut',
    goalMs: 30_000,
    async inject(cluster) {
      const { primary } = await cluster.roles();
      primary.disconnect();
      return async () => primary.reconnect();
    },
  },
  {
    name: 'host lost',
    goalMs: 30_000,
    async inject(cluster) {
      const { primary } = await cluster.roles();
      const member = cluster.etcd[cluster.servers.indexOf(primary)]!;
      await Promise.all([primary.kill(), member.kill()]);
      return async () => {
        await member.start();
        await primary.start();
      };
    },
  },
  {
    name: 'etcd leader lost',
    goalMs: 5_000,
    isHarmless: true,
    async inject({ etcd }) {
      const leads = await Promise.all(etcd.map((member) => member.leads()));
      const leader = etcd[leads.indexOf(true)];
      if (leader === undefined) throw new Error('etcd has no leader');
      await leader.kill();
      return () => leader.start();
    },
  },
  {
    name: 'disk full',
    goalMs: 30_000,
    needsRoot: true,
    async inject(cluster) {
      const { primary } = await cluster.roles();
      await primary.fillDisk();
      return () => primary.freeDisk();
    },
  },
];
