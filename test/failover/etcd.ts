/** Three etcd members on loopback. The traffic between them passes through proxies. */
import { join } from 'node:path';
import { findFreePort, type FaultProxy, startFaultProxy, until } from '@sluice/testkit';
import { type Home, type Program, startProgram } from './home.ts';

export interface EtcdMember {
  readonly name: string;
  readonly clientPort: number;
  /** Returns whether this member leads the others. A member that does not respond does not. */
  leads(): Promise<boolean>;
  kill(): Promise<void>;
  start(): Promise<void>;
}

const NAMES = ['etcd-1', 'etcd-2', 'etcd-3'] as const;
const START_MS = 30_000;
const TIMEOUT_MS = 2_000;

/** Starts the members and resolves once all of them serve requests. */
export async function startEtcd(home: Home, delayMs: number): Promise<EtcdMember[]> {
  const members = await Promise.all(
    NAMES.map(async (name) => {
      const [clientPort, peerPort] = [await findFreePort(), await findFreePort()];
      const peers = await startFaultProxy({ port: peerPort, delayMs });
      home.onRemove(peers.stop);
      return { name, clientPort, peerPort, peers };
    }),
  );
  const cluster = members.map(({ name, peers }) => `${name}=${urlOf(peers.port)}`).join(',');
  const started = members.map((member) => toMember(home, cluster, member));
  await Promise.all(started.map((member) => member.start()));
  return started;
}

function toMember(
  home: Home,
  cluster: string,
  place: { name: string; clientPort: number; peerPort: number; peers: FaultProxy },
): EtcdMember {
  const { name, clientPort, peerPort, peers } = place;
  const clientUrl = urlOf(clientPort);
  const flags = {
    name,
    'data-dir': join(home.folder, name),
    'listen-client-urls': clientUrl,
    'advertise-client-urls': clientUrl,
    'listen-peer-urls': urlOf(peerPort),
    'initial-advertise-peer-urls': urlOf(peers.port),
    'initial-cluster': cluster,
    logger: 'zap',
    'log-level': 'error',
  };
  let program: Program | undefined;
  const kill = async (): Promise<void> => {
    program?.signal('SIGKILL');
    await program?.exited;
  };
  home.onRemove(kill);
  return {
    name,
    clientPort,
    async leads() {
      const status = await post<{ header: { member_id: string }; leader?: string }>(
        `${clientUrl}/v3/maintenance/status`,
      );
      return status !== undefined && status.leader === status.header.member_id;
    },
    kill,
    async start() {
      const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
      program = await startProgram(home, 'etcd', args, join(home.folder, `${name}.log`));
      const isHealthy = async (): Promise<boolean> =>
        (await fetch(`${clientUrl}/health`).catch(() => undefined))?.ok === true;
      await until(`${name} serves requests`, isHealthy, START_MS);
    },
  };
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}`;

async function post<T>(url: string): Promise<T | undefined> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return (await (await fetch(url, { method: 'POST', body: '{}', signal })).json()) as T;
  } catch {
    return undefined;
  }
}
