/**
 * Keeps one connection for each NATS broker that webhooks are sent to. It is opened when a webhook
 * needs it. Once it is lost, the next webhook opens a new one, so that addresses are checked again.
 */
import { isIP } from 'node:net';
import type { JetStreamPublishOptions, PubAck } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { startStopwatch } from '../../stopwatch.ts';
import type { CertifiedKey } from '../http/clientCertificate.ts';
import type { AddressGuard } from '../http/guard.ts';
import type { Target } from './target.ts';

export interface BrokerOptions {
  guard: Pick<AddressGuard, 'resolve'>;
  /** Certificate for brokers that request one. Default: none. */
  clientCertificate?: { read(): CertifiedKey | undefined } | undefined;
}

/** An open connection. */
export interface Broker {
  connection: NatsConnection;
  /** Publishes a message, and resolves when a stream has confirmed it. */
  publish(
    subject: string,
    body: Uint8Array,
    options: Partial<Omit<JetStreamPublishOptions, 'headers'>> & {
      headers: Record<string, string>;
    },
  ): Promise<PubAck>;
  /** IP address and port of the server. */
  address: string;
  dnsMs: number;
  connectMs: number;
}

export interface Brokers {
  /**
   * Returns the connection to a broker, and opens it if necessary.
   *
   * @returns `isNew` if the caller had to wait for it
   * @throws Error of the lookup, the address check or the last server that was tried
   */
  reach(target: Target): Promise<{ broker: Broker; isNew: boolean }>;
  /** Closes the connections that were not used for {@link IDLE_MS}. */
  closeIdle(): void;
  /** Closes all connections, which fails the attempts in flight. */
  close(): Promise<void>;
}

interface Entry {
  opening: Promise<Broker>;
  /** The connection, once it is open. */
  broker: Broker | undefined;
  /** The client certificate of the connection. */
  presented: CertifiedKey | undefined;
  usedAt: number;
}

const IDLE_MS = 60_000;
/** Time to connect to one server, including TLS and the login. */
const CONNECT_MS = 3_000;
/** Maximum number of servers that are tried for one connection. */
const MAX_SERVERS = 8;
/** Interval of pings. A connection is lost if two of them get no response. */
const PING_MS = 2_000;

export function createBrokers({ guard, clientCertificate }: BrokerOptions): Brokers {
  const entries = new Map<string, Entry>();
  /**
   * The other servers of a cluster, as its last server reported them: the next connection may go to
   * one of them.
   */
  const reported = new Map<string, readonly string[]>();
  let isClosed = false;

  const open = async (target: Target, presented: CertifiedKey | undefined): Promise<Broker> => {
    const { connect, headers } = await import('@nats-io/transport-node');
    const { jetstream } = await import('@nats-io/jetstream');
    const elapsedMs = startStopwatch();
    const servers = await resolveServers(guard, target, reported.get(target.place) ?? []);
    const dnsMs = elapsedMs();
    let failure: unknown;
    for (const { name, address } of servers) {
      try {
        const connection = await connect({
          ...target.login,
          servers: address,
          name: 'Sluice',
          timeout: CONNECT_MS,
          pingInterval: PING_MS,
          reconnect: false,
          // `address` is checked, and other addresses are not.
          resolve: false,
          ignoreClusterUpdates: true,
          noAsyncTraces: true,
          ...(target.isTls && { tls: { ...toTlsName(name), ...presented } }),
        });
        reported.set(target.place, connection.info?.connect_urls ?? []);
        const client = jetstream(connection);
        return {
          connection,
          publish(subject, body, { headers: values, ...options }) {
            const message = headers();
            for (const [header, value] of Object.entries(values)) message.append(header, value);
            return client.publish(subject, body, { ...options, headers: message });
          },
          address,
          dnsMs,
          connectMs: elapsedMs() - dnsMs,
        };
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };

  const start = (target: Target, presented: CertifiedKey | undefined): Entry => {
    const opening = open(target, presented);
    const entry: Entry = { opening, broker: undefined, presented, usedAt: 0 };
    entries.set(target.place, entry);
    opening.then(
      (broker) => (entry.broker = broker),
      () => {
        if (entries.get(target.place) === entry) entries.delete(target.place);
      },
    );
    return entry;
  };

  /** Closes a connection after its messages in flight. */
  const retire = (entry: Entry): void =>
    void entry.opening.then(({ connection }) => connection.drain()).catch(() => {});

  return {
    async reach(target) {
      if (isClosed) throw new Error('the service was stopped');
      const presented = target.isTls ? clientCertificate?.read() : undefined;
      let entry = entries.get(target.place);
      if (entry !== undefined && entry.presented !== presented) {
        retire(entry);
        entry = undefined;
      }
      if (entry?.broker?.connection.isClosed() === true) entry = undefined;
      entry ??= start(target, presented);
      entry.usedAt = performance.now();
      const isNew = entry.broker === undefined;
      return { broker: await entry.opening, isNew };
    },
    closeIdle() {
      for (const [place, entry] of entries) {
        if (performance.now() - entry.usedAt < IDLE_MS) continue;
        entries.delete(place);
        reported.delete(place);
        retire(entry);
      }
    },
    async close() {
      isClosed = true;
      const opened = [...entries.values()].map(({ opening }) => opening);
      entries.clear();
      await Promise.allSettled(opened.map(async (each) => (await each).connection.close()));
    },
  };
}

/** Returns the options with which TLS compares the certificate with a name or an IP address. */
const toTlsName = (name: string): object =>
  isIP(name) === 0 ? { servername: name } : { host: name };

/**
 * Returns the addresses of the servers to try, each with the name for its certificate.
 *
 * @throws Error if no host of the URL has allowed addresses
 */
async function resolveServers(
  guard: Pick<AddressGuard, 'resolve'>,
  { hosts, port }: Target,
  reported: readonly string[],
): Promise<{ name: string; address: string }[]> {
  const servers = new Map<string, string>();
  const add = async (name: string, host: string, at: number): Promise<void> => {
    for (const ip of await guard.resolve(host)) {
      const address = isIP(ip) === 6 ? `[${ip}]:${at}` : `${ip}:${at}`;
      if (!servers.has(address)) servers.set(address, name);
    }
  };
  let failure: unknown;
  const keep = (error: unknown): void => void (failure = error);
  for (const host of hosts) await add(host, host, port).catch(keep);
  if (servers.size === 0) throw failure;
  for (const each of reported.slice(0, MAX_SERVERS)) {
    const other = URL.parse(`nats://${each}`);
    if (other === null) continue;
    const host = other.hostname.replaceAll(/[[\]]/g, '');
    // Servers are mostly reported by IP address, which their certificates rarely have.
    const name = isIP(host) === 0 ? host : hosts[0]!;
    await add(name, host, Number(other.port)).catch(keep);
  }
  return [...servers].slice(0, MAX_SERVERS).map(([address, name]) => ({ name, address }));
}
