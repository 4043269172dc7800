import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type FaultProxy, startFaultProxy } from '../faultProxy.ts';
import { findOnPath } from '../findOnPath.ts';
import { findFreePort } from '../freePort.ts';
import { type TetheredProcess, startTethered } from '../tether.ts';

/** A RabbitMQ server of a cluster, or a single one. */
export interface RabbitMqServer {
  readonly name: string;
  /** URL of the server without the proxy. Stays the same after a restart. */
  readonly directUrl: string;
  /** The proxy in front of the server; undefined without `isProxied`. */
  readonly network: FaultProxy | undefined;
  /** Runs `rabbitmqctl` for this server, and returns its output. */
  ctl(...args: string[]): Promise<string>;
  /** Sends SIGKILL and keeps the data; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Stops the process with SIGSTOP: connections stay open and get no response. */
  pause(): void;
  /** Lets the process run after `pause`. */
  resume(): void;
  /** Starts the server after `kill`, with the same port and data. */
  start(): Promise<void>;
}

/** Temporary servers. When this process ends, even by SIGKILL, they end too. */
export interface RabbitMq {
  /**
   * URL of all servers, or of their proxies: `amqp://127.0.0.1,127.0.0.2:<port>`, because the servers
   * of a URL have the same port.
   */
  readonly url: string;
  readonly servers: readonly RabbitMqServer[];
  /** Stops the servers and deletes their data. */
  stop(): Promise<void>;
}

export interface RabbitMqOptions {
  /** Number of servers, which form a cluster if there are several. Default: 1. */
  servers?: number;
  /** Whether clients connect to each server through a {@link FaultProxy}. Default: false. */
  isProxied?: boolean;
  /** Whether clients must use TLS, as `config` sets it (`ssl_options.…`). Default: false. */
  isTls?: boolean;
  /** Users besides `guest`. */
  users?: readonly RabbitMqUser[];
  /** Additional lines of the configuration of each server. Default: none. */
  config?: string;
}

export interface RabbitMqUser {
  name: string;
  password: string;
  /** Pattern of the exchanges that the user may publish to. Default: all. */
  write?: string;
}

const START_MS = 60_000;
/** Where Debian has the scripts that run as any user. */
const SCRIPTS = '/usr/lib/rabbitmq/bin';

/**
 * Starts servers on free ports of 127.0.0.1. Several servers need Linux, where all of 127.0.0.0/8 is
 * of this machine.
 *
 * @throws Error if `rabbitmq-server` is not installed or does not start. The message explains the
 * cause.
 */
export async function startRabbitMq({
  servers: count = 1,
  isProxied = false,
  isTls = false,
  users = [],
  config = '',
}: RabbitMqOptions = {}): Promise<RabbitMq> {
  const program = findScript('rabbitmq-server');
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-rabbitmq-'));
  const [epmdPort, sharedPort] = [await findFreePort(), await findFreePort()];
  const hosts = Array.from({ length: count }, (_, index) => `127.0.0.${index + 1}`);
  const env = {
    PATH: process.env['PATH'],
    // Erlang keeps its cookie here.
    HOME: folder,
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: LOOPBACK,
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
  };
  await writeFile(path.join(folder, '.erlang.cookie'), randomBytes(16).toString('hex'), {
    mode: 0o400,
  });
  const scheme = isTls ? 'amqps' : 'amqp';
  const definitions = path.join(folder, 'definitions.json');
  await writeFile(definitions, JSON.stringify(toDefinitions(users)));
  // The servers would start one that outlives them.
  const epmd = await startTethered('epmd', ['-port', String(epmdPort), '-address', LOOPBACK], {
    lostFolder: folder,
  });
  epmd.stdout.resume();
  epmd.stderr.resume();
  const servers: (RabbitMqServer & { end(): Promise<void> })[] = [];

  const create = async (name: string, index: number) => {
    const host = hosts[index]!;
    const port = isProxied ? await findFreePort() : sharedPort;
    const directHost = isProxied ? LOOPBACK : host;
    const network = isProxied
      ? await startFaultProxy({ port, at: { host, port: sharedPort } })
      : undefined;
    const own = path.join(folder, name);
    await mkdir(own);
    const node = `${name}@localhost`;
    const file = path.join(own, 'rabbitmq.conf');
    await writeFile(
      file,
      `${isTls ? 'listeners.tcp = none\nlisteners.ssl.1' : 'listeners.tcp.1'} = ${directHost}:${port}
load_definitions = ${definitions}
log.console = true
log.file = false
disk_free_limit.absolute = 1MB
raft.wal_max_size_bytes = 64000000
${name === FIRST ? '' : toCluster(node)}
${config}
`,
    );
    const ownEnv = {
      ...env,
      RABBITMQ_NODENAME: node,
      RABBITMQ_CONFIG_FILE: file,
      RABBITMQ_MNESIA_BASE: own,
      RABBITMQ_LOG_BASE: own,
      RABBITMQ_ENABLED_PLUGINS_FILE: path.join(own, 'plugins'),
      RABBITMQ_DIST_PORT: String(await findFreePort()),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
        '+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none -start_epmd false -kernel inet_dist_use_interface {127,0,0,1}',
      // Otherwise, the script stays between this process and the server.
      RUNNING_UNDER_SYSTEMD: 'true',
    };
    const launchIt = () => launch(program, ownEnv, folder);
    let server = await launchIt();
    return {
      name,
      directUrl: `${scheme}://${directHost}:${port}`,
      network,
      async ctl(...args: string[]) {
        const { stdout } = await run(findScript('rabbitmqctl'), ['-q', '-n', node, ...args], {
          env,
        });
        return stdout;
      },
      async kill() {
        server.signal('SIGKILL');
        await server.exited;
      },
      pause: () => server.signal('SIGSTOP'),
      resume: () => server.signal('SIGCONT'),
      async start() {
        server = await launchIt();
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
    epmd.signal('SIGKILL');
    await epmd.exited;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    // The others join the first.
    servers.push(await create(FIRST, 0));
    const others = hosts.slice(1).map((_, index) => create(`n${index + 2}`, index + 1));
    servers.push(...(await Promise.all(others)));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `${scheme}://${hosts.join(',')}:${sharedPort}`, servers, stop };
}

const run = promisify(execFile);
const FIRST = 'n1';
const LOOPBACK = '127.0.0.1';

const findScript = (name: string): string => {
  const debian = path.join(SCRIPTS, name);
  return existsSync(debian) ? debian : (findOnPath(name) ?? name);
};

const toCluster = (node: string): string =>
  `cluster_formation.peer_discovery_backend = classic_config
cluster_formation.classic_config.nodes.1 = ${FIRST}@localhost
cluster_formation.classic_config.nodes.2 = ${node}
cluster_partition_handling = pause_minority`;

/** Returns users as the servers import them. */
function toDefinitions(users: readonly RabbitMqUser[]): object {
  const all = [{ name: 'guest', password: 'guest' }, ...users];
  return {
    vhosts: [{ name: '/' }],
    users: all.map(({ name, password }) => {
      const salt = randomBytes(4);
      const hash = createHash('sha256').update(salt).update(password).digest();
      return {
        name,
        password_hash: Buffer.concat([salt, hash]).toString('base64'),
        hashing_algorithm: 'rabbit_password_hashing_sha256',
        tags: name === 'guest' ? 'administrator' : '',
      };
    }),
    permissions: all.map(({ name, write = '.*' }: Partial<RabbitMqUser>) => ({
      user: name,
      vhost: '/',
      configure: '.*',
      write,
      read: '.*',
    })),
  };
}

async function launch(
  program: string,
  env: NodeJS.ProcessEnv,
  folder: string,
): Promise<TetheredProcess> {
  const server = await startTethered(program, [], { env, lostFolder: folder });
  let said = '';
  const isReady = new Promise<true>((resolve) => {
    const read = (chunk: Buffer): void => {
      said = (said + chunk.toString()).slice(-4_000);
      if (said.includes('Server startup complete')) resolve(true);
    };
    server.stdout.on('data', read);
    server.stderr.on('data', read);
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
      ? 'rabbitmq-server was not found. Install it: `apt-get install rabbitmq-server` (Debian, Ubuntu), `brew install rabbitmq` (macOS).'
      : `rabbitmq-server did not start: ${said.trim()}`,
  );
}
