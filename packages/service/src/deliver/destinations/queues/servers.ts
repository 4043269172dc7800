/** The servers of a broker: their checked addresses, and the connection to the first that accepts. */
import { isIP } from 'node:net';
import type { QueueServers } from '@sluice/kit/contract';
import type { CertifiedKey } from '../http/clientCertificate.ts';
import type { AddressGuard } from '../http/guard.ts';

/** A server at an address that webhooks may reach. */
export interface Server {
  ip: string;
  port: number;
  /** The name or IP address that its certificate must have. */
  name: string;
}

/** Maximum number of servers that are tried for one connection. */
const MAX_SERVERS = 8;

/**
 * Returns the servers to try.
 *
 * @param reported `host:port` of others of the cluster, as its last server reported them
 * @throws Error if no host of the URL has allowed addresses
 */
export async function resolveServers(
  guard: Pick<AddressGuard, 'resolve'>,
  { hosts, port }: QueueServers,
  reported: readonly string[],
): Promise<Server[]> {
  const servers = new Map<string, Server>();
  const add = async (name: string, host: string, at: number): Promise<void> => {
    for (const ip of await guard.resolve(host)) {
      const server = { ip, port: at, name };
      const address = toAddress(server);
      if (!servers.has(address)) servers.set(address, server);
    }
  };
  let failure: unknown;
  const keep = (error: unknown): void => void (failure = error);
  for (const host of hosts) await add(host, host, port).catch(keep);
  if (servers.size === 0) throw failure;
  for (const each of reported.slice(0, MAX_SERVERS)) {
    const other = URL.parse(`tcp://${each}`);
    if (other === null) continue;
    const host = other.hostname.replaceAll(/[[\]]/g, '');
    // Servers are mostly reported by IP address, which their certificates rarely have.
    const name = isIP(host) === 0 ? host : hosts[0]!;
    await add(name, host, Number(other.port)).catch(keep);
  }
  return [...servers.values()].slice(0, MAX_SERVERS);
}

/**
 * Connects to the servers one after the other until one accepts.
 *
 * @throws Error of the last server
 */
export async function connectToFirst<Open>(
  servers: readonly Server[],
  connect: (server: Server) => Promise<Open>,
): Promise<Open> {
  let failure: unknown;
  for (const server of servers) {
    try {
      return await connect(server);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** IP address and port. */
export const toAddress = ({ ip, port }: Server): string =>
  isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`;

/** Returns the options of a TLS connection to a server, whose certificate must have its name. */
export const toTlsOptions = ({ name }: Server, certificate: CertifiedKey | undefined) => ({
  ...(isIP(name) === 0 ? { servername: name } : { host: name }),
  ...certificate,
});
