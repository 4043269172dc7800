/** Keeps a connection pool for each origin that requests are sent to. */
import { type Dispatcher, Pool, ProxyAgent, type buildConnector } from 'undici';
import type { ShownCertificate } from './certificate.ts';
import type { CertifiedKey } from './clientCertificate.ts';
import type { AddressGuard } from './guard.ts';
import { type PostResult, post } from './post.ts';
import { type Connections, createConnections } from './connections.ts';

export interface OriginOptions {
  guard: Pick<AddressGuard, 'connectWith'>;
  /** Certificate for receivers that request one. Default: none. */
  clientCertificate?: { read(): CertifiedKey | undefined } | undefined;
  /**
   * URL of an HTTP or HTTPS proxy for all requests, including its login. Default: none. The proxy
   * resolves names and decides which addresses are allowed, so the guard checks only URLs.
   */
  egressProxy?: string | undefined;
  /** Maximum time of a request. */
  timeoutMs: number;
}

export interface Origins {
  /**
   * Posts a request to an origin that passed the guard. Returns the last certificate of the origin,
   * which is null before the first connection, and without TLS.
   */
  post(
    target: { origin: string; path: string },
    request: { headers: Record<string, string>; body: Uint8Array },
    limitMs: number,
    responseLimitBytes?: number,
  ): Promise<{ posted: PostResult; certificate: ShownCertificate | null }>;
  /** Closes the connections to origins that were not used for {@link IDLE_MS}. */
  closeIdle(): void;
  /** Aborts requests in flight and closes all connections. */
  close(): Promise<void>;
}

interface Origin {
  pool: Dispatcher;
  /** The client certificate of the pool's connections. */
  presented: CertifiedKey | undefined;
  usedAt: number;
  /** The last received certificate; null before the first connection, and without TLS. */
  certificate: ShownCertificate | null;
}

const IDLE_MS = 60_000;
/** The share of the timeout in which a proxy must open its tunnel: 10 s by default. */
const TUNNEL_SHARE = 2 / 3;

export function createOrigins({
  guard,
  clientCertificate,
  egressProxy,
  timeoutMs,
}: OriginOptions): Origins {
  const connections = createConnections();
  const pools = new Map<string, Origin>();
  /** Pools that complete their requests but get no new ones. */
  const closing = new Set<Dispatcher>();
  const retire = (pool: Dispatcher): void => {
    closing.add(pool);
    void pool.close().finally(() => closing.delete(pool));
  };
  const createPool = createPools({ guard, connections, timeoutMs, egressProxy });

  /**
   * Returns the entry of an origin that passed the guard, and creates its connection pool if
   * necessary.
   */
  const reach = (origin: string): Origin => {
    const presented = clientCertificate?.read();
    let entry = pools.get(origin);
    if (entry !== undefined && entry.presented !== presented) {
      // Attempts in flight keep their connections; later ones use the new client certificate.
      retire(entry.pool);
      entry = undefined;
    }
    if (entry === undefined) {
      const pool = createPool(origin, presented);
      entry = { pool, presented, usedAt: 0, certificate: null };
      pools.set(origin, entry);
    }
    entry.usedAt = performance.now();
    return entry;
  };

  return {
    async post({ origin: name, path }, request, limitMs, responseLimitBytes) {
      const origin = reach(name);
      const posted = await post(
        origin.pool,
        connections,
        { ...request, origin: name, path },
        limitMs,
        responseLimitBytes,
      );
      if (posted.connecting !== undefined) origin.certificate = posted.connecting.certificate;
      return { posted, certificate: origin.certificate };
    },
    closeIdle() {
      for (const [origin, { pool, usedAt }] of pools) {
        if (performance.now() - usedAt < IDLE_MS) continue;
        pools.delete(origin);
        retire(pool);
      }
    },
    async close() {
      const used = [...pools.values()].map(({ pool }) => pool);
      await Promise.all([...used, ...closing].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

/** Maximum size of the response headers that are read. A larger response has only a status. */
const MAX_HEADER_BYTES = 64 * 1024;

// undici's own timeouts are off, because the deadline of `post` covers everything.
const LIMITS = {
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: MAX_HEADER_BYTES,
};

/**
 * Returns a function that creates the pool of an origin. The pool allows as many connections as
 * attempts, because two streams may share a host, and one that hangs must not delay the other. The
 * deliverer limits the number of attempts.
 */
function createPools({
  guard,
  connections,
  timeoutMs,
  egressProxy,
}: Pick<OriginOptions, 'guard' | 'egressProxy'> & {
  connections: Connections;
  timeoutMs: number;
}): (origin: string, certificate: CertifiedKey | undefined) => Dispatcher {
  return (origin, certificate) =>
    egressProxy === undefined
      ? new Pool(origin, { ...LIMITS, connect: connections.noted(guard.connectWith(certificate)) })
      : new ProxyAgent({
          ...LIMITS,
          uri: egressProxy,
          ...(certificate !== undefined && { requestTls: certificate }),
          // Always uses a tunnel, so that a rejection by the proxy is not mistaken for the
          // receiver's response.
          proxyTunnel: true,
          clientFactory: (proxy, options) =>
            connections.notedTunnels(new Pool(proxy, options), timeoutMs * TUNNEL_SHARE),
          factory(target, options) {
            const tunnel = options as Pool.Options & { connect: buildConnector.connector };
            return new Pool(target, { ...tunnel, connect: connections.noted(tunnel.connect) });
          },
        });
}
