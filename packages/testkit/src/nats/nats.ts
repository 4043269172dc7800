import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type FaultProxy, startFaultProxy } from '../faultProxy.ts';
import { findOnPath } from '../findOnPath.ts';
import { findFreePort } from '../freePort.ts';
import { type TetheredProcess, startTethered } from '../tether.ts';

/** A NATS server of a cluster, or a single one. */
export interface NatsServer {
  readonly name: string;
  /** `nats://127.0.0.1:<port>`, or the URL of `network`. Stays the same after a restart. */
  readonly url: string;
  /** `nats://127.0.0.1:<port>`, without a proxy. */
  readonly directUrl: string;
  /** The proxy in front of the server; undefined without `isProxied`. */
  readonly network: FaultProxy | undefined;
  /** Sends SIGKILL and keeps the data; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Stops the process with SIGSTOP: connections stay open and get no response. */
  pause(): void;
  /** Lets the process run after `pause`. */
  resume(): void;
  /** Starts the server after `kill`, with the same port and data. */
  start(): Promise<void>;
}

/** Temporary servers with JetStream. When this process ends, even by SIGKILL, they end too. */
export interface Nats {
  /** URL of the first server. */
  readonly url: string;
  readonly servers: readonly NatsServer[];
  /** Stops the servers and deletes their data. */
  stop(): Promise<void>;
}

export interface NatsOptions {
  /** Number of servers, which form a cluster if there are several. Default: 1. */
  servers?: number;
  /** Whether clients connect to each server through a {@link FaultProxy}. Default: false. */
  isProxied?: boolean;
  /** Additional lines of the configuration of each server. Default: none. */
  config?: string;
}

const START_MS = 30_000;

/**
 * Starts servers on free ports of 127.0.0.1. JetStream elects a leader before it serves a cluster,
 * so repeat the first request for a stream.
 *
 * @throws Error if `nats-server` is not installed or does not start. The message explains the cause.
 */
export async function startNats({
  servers: count = 1,
  isProxied = false,
  config = '',
}: NatsOptions = {}): Promise<Nats> {
  const program = findOnPath('nats-server') ?? '/usr/sbin/nats-server';
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-nats-'));
  const names = Array.from({ length: count }, (_, index) => `n${index + 1}`);
  const routes = await Promise.all(names.map(findFreePort));
  const servers: (NatsServer & { end(): Promise<void> })[] = [];

  const create = async (name: string, index: number) => {
    const port = await findFreePort();
    const network = isProxied ? await startFaultProxy({ port }) : undefined;
    const address = `127.0.0.1:${network?.port ?? port}`;
    const file = path.join(folder, `${name}.conf`);
    const others = routes.filter((_, each) => each !== index);
    await writeFile(
      file,
      `server_name: ${name}
listen: "127.0.0.1:${port}"
client_advertise: "${address}"
jetstream { store_dir: "${path.join(folder, name)}" }
${count === 1 ? '' : toCluster(routes[index]!, others)}
${config}
`,
    );
    let server = await launch(program, file, folder);
    return {
      name,
      url: `nats://${address}`,
      directUrl: `nats://127.0.0.1:${port}`,
      network,
      async kill() {
        server.signal('SIGKILL');
        await server.exited;
      },
      pause: () => server.signal('SIGSTOP'),
      resume: () => server.signal('SIGCONT'),
      async start() {
        server = await launch(program, file, folder);
      },
      async end() {
        server.signal('SIGKILL');
        await server.exited;
        await network?.stop();
      },
    };
  };
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((each) => each.end()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const [index, name] of names.entries()) servers.push(await create(name, index));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: servers[0]!.url, servers, stop };
}

const toCluster = (port: number, others: readonly number[]): string =>
  `cluster { name: c, listen: "127.0.0.1:${port}", routes: [${others.map((each) => `"nats://127.0.0.1:${each}"`).join(', ')}] }`;

async function launch(program: string, file: string, folder: string): Promise<TetheredProcess> {
  const server = await startTethered(program, ['-c', file], { lostFolder: folder });
  server.stdout.resume();
  let said = '';
  const isReady = new Promise<true>((resolve) => {
    server.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000);
      if (said.includes('Server is ready')) resolve(true);
    });
  });
  const timer = new AbortController();
  const started = await Promise.race([
    isReady,
    server.exited,
    delay(START_MS, undefined, { signal: timer.signal }).catch(() => {}),
  ]);
  timer.abort();
  if (started) return server;
  server.signal('SIGKILL');
  await server.exited;
  throw new Error(
    /not found|No such file/.test(said)
      ? 'nats-server was not found. Install it: `apt-get install nats-server` (Debian, Ubuntu), `brew install nats-server` (macOS).'
      : `nats-server did not start: ${said.trim()}`,
  );
}
