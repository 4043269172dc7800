import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { Transform } from 'node:stream';

/** A TCP proxy in front of a server, such as a database, that simulates network failures. */
export interface FaultProxy {
  /** Port on 127.0.0.1, or on the host of `at`. Connect to it instead of to the server. */
  readonly port: number;
  /** Number of open client connections. */
  readonly connections: number;
  /**
   * Drops all traffic in both directions without closing connections, like an unplugged cable.
   * New connections are accepted and get no response.
   */
  blackHole(): void;
  /** Resets every open connection (RST). Until `heal`, also resets new connections immediately. */
  cut(): void;
  /**
   * Passes the traffic of new connections again. Connections that were open during `blackHole` stay
   * dead, and the client must detect that.
   */
  heal(): void;
  /** Resets every connection and frees the port. */
  stop(): Promise<void>;
}

/** The server to which the proxy connects. */
export interface FaultProxyTarget {
  /** May be changed for new connections. */
  port: number;
  /** Default: 127.0.0.1. */
  host?: string;
  /** Where the proxy listens. Default: a free port of 127.0.0.1. */
  at?: { host: string; port: number };
  /** Delay of all data, in each direction, in milliseconds. Default: 0. */
  delayMs?: number;
}

const LOOPBACK = '127.0.0.1';

/** Starts a proxy. It passes all traffic until `blackHole` or `cut`. */
export async function startFaultProxy(target: FaultProxyTarget): Promise<FaultProxy> {
  const { at, delayMs = 0 } = target;
  let network: 'healthy' | 'blackHole' | 'cut' = 'healthy';
  const clients = new Map<Socket, Socket | undefined>();

  const server = createServer((client) => {
    client.on('error', () => {}); // a `close` event always follows
    if (network === 'cut') {
      client.resetAndDestroy();
      return;
    }
    client.once('close', () => {
      const upstream = clients.get(client);
      if (upstream !== undefined) closeAfterData(upstream);
      clients.delete(client);
    });
    if (network === 'blackHole') {
      clients.set(client, undefined);
      client.pause();
      return;
    }
    const upstream = connect(target.port, target.host ?? LOOPBACK);
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => {
      if (!isLost(client)) closeAfterData(client);
    });
    clients.set(client, upstream);
    pass(client, upstream);
    pass(upstream, client);
  });

  const pass = (from: Socket, to: Socket) => {
    if (delayMs === 0) from.pipe(to);
    else from.pipe(createDelay(delayMs)).pipe(to);
  };
  /** Closes a connection once it has passed the data that is still delayed. */
  const closeAfterData = (socket: Socket) => {
    if (delayMs === 0) socket.destroy();
    else setTimeout(() => socket.destroySoon(), delayMs);
  };
  const lost = new WeakSet<Socket>();
  const isLost = (client: Socket) => lost.has(client);

  const breakAll = () => {
    for (const client of clients.keys()) client.resetAndDestroy();
  };
  server.listen(at?.port ?? 0, at?.host ?? LOOPBACK);
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return clients.size;
    },
    blackHole: () => {
      network = 'blackHole';
      for (const [client, upstream] of clients) {
        lost.add(client);
        client.unpipe().pause();
        upstream?.unpipe().pause();
      }
    },
    cut: () => {
      network = 'cut';
      breakAll();
    },
    heal: () => {
      network = 'healthy';
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      breakAll();
      await closed;
    },
  };
}

/** Forwards each chunk after a delay. Does not limit the amount of data in flight. */
const createDelay = (delayMs: number): Transform =>
  new Transform({
    transform(chunk, _encoding, done) {
      setTimeout(() => this.push(chunk), delayMs);
      done();
    },
    flush(done) {
      setTimeout(done, delayMs);
    },
  });
