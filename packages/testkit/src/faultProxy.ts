import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** A TCP proxy before a server, such as a database, whose network fails on cue. */
export interface FaultProxy {
  /** On 127.0.0.1; connect here instead of to the server. */
  readonly port: number;
  /** How many connections are open now. */
  readonly connections: number;
  /**
   * From now on nothing passes, in either direction, on connections old and new, and none is closed:
   * what a pulled cable looks like. New connections are accepted and get no answer.
   */
  blackHole(): void;
  /** Breaks every open connection (RST), and new ones at once, until `heal`. */
  cut(): void;
  /**
   * Lets new connections pass again. Those that were in the black hole stay there: packets lost on a
   * dead path do not come back, and the client has to notice by itself.
   */
  heal(): void;
  /** Breaks every connection and frees the port. */
  stop(): Promise<void>;
}

/** Where the proxy connects to. */
export interface FaultProxyTarget {
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
}

/** Starts a proxy on a free port of 127.0.0.1; everything passes at first. */
export async function startFaultProxy(target: FaultProxyTarget): Promise<FaultProxy> {
  const { port: targetPort, host: targetHost = '127.0.0.1' } = target;
  let network: 'healthy' | 'blackHole' | 'cut' = 'healthy';
  const clients = new Map<Socket, Socket | undefined>();

  const server = createServer((client) => {
    client.on('error', () => {}); // `close` follows
    if (network === 'cut') {
      client.resetAndDestroy();
      return;
    }
    client.once('close', () => {
      clients.get(client)?.destroy();
      clients.delete(client);
    });
    if (network === 'blackHole') {
      clients.set(client, undefined);
      client.pause();
      return;
    }
    const upstream = connect(targetPort, targetHost);
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => {
      if (!isLost(client)) client.destroy();
    });
    clients.set(client, upstream);
    client.pipe(upstream);
    upstream.pipe(client);
  });

  const lost = new WeakSet<Socket>();
  const isLost = (client: Socket) => lost.has(client);

  const breakAll = () => {
    for (const client of clients.keys()) client.resetAndDestroy();
  };
  server.listen(0, '127.0.0.1');
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
