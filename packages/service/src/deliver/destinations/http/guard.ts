/**
 * Keeps webhooks, and requests to added nodes and alert URLs, from reaching addresses that only
 * this machine or its network can reach (SSRF). Addresses are checked in three places: as a literal
 * in the URL, in each result of the DNS lookup, and as the peer of the connected socket. Changing a
 * DNS record in between therefore has no effect.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { TABLES_PORT, isTablesUrl, queueBrokerOf } from '@sluice/kit/contract';
import { createCidrList, toPlainAddress } from '../../../base/cidr.ts';
import type { CertifiedKey } from './clientCertificate.ts';
import { startDeadline } from '../../send/deadline.ts';
import { LOOKUP_TIMEOUT_MS, type ResolveName, lookupTimeout, resolveName } from './resolveName.ts';
import { flagOf } from '../../../config/settings.ts';

export interface AddressGuard {
  /**
   * Returns why this URL is not allowed for a webhook; undefined if it is allowed. Makes no network
   * calls.
   */
  refuse(url: URL): string | undefined;
  /**
   * Works like `refuse`, but also resolves the name. A name that cannot be resolved now is allowed.
   */
  refuseResolved(url: URL): Promise<string | undefined>;
  /**
   * Returns the addresses of a host, which may be a literal.
   *
   * @throws Error if an address is not allowed, or the name cannot be resolved
   */
  resolve(hostname: string): Promise<string[]>;
  readonly connect: buildConnector.connector;
  /** Returns a `connect` that presents a client certificate to servers that request one. */
  connectWith(certificate: CertifiedKey | undefined): buildConnector.connector;
}

/** Place where a rejected address was found, or `port` if the port was rejected. */
export type AddressPlace = 'url' | 'lookup' | 'peer' | 'port';

export interface AddressGuardOptions {
  /** Networks that may be reached even though they are not public. */
  allowCidrs: readonly string[];
  /** Networks that are rejected even if `allowCidrs` contains them. Default: none. */
  denyCidrs?: readonly string[] | undefined;
  /** Whether `http:` and other URLs without TLS are rejected. Default: false. */
  httpsOnly?: boolean | undefined;
  /** Called each time an address or port is rejected. */
  onBlocked?: (place: AddressPlace) => void;
  /** Default: `resolveName`. */
  resolve?: ResolveName;
}

/** Networks that contain every address, even loopback and private ones. */
export const ALL_NETWORKS = ['0.0.0.0/0', '::/0'] as const;

/**
 * Link-local networks, where clouds serve credentials to their machines, and the metadata services
 * outside of them: Oracle, Alibaba, Azure, AWS and Google. The last two networks are IPv6 forms of
 * the first.
 */
export const METADATA_NETWORKS = [
  '169.254.0.0/16',
  '192.0.0.192/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '::169.254.0.0/112',
  '2002:a9fe::/32',
] as const;

/**
 * Networks that are not public unicast, according to the IANA special-purpose registries. IPv6
 * networks outside of `2000::/3` need no entry.
 */
const notPublic = createCidrList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  // Public addresses that are reachable only from inside a cloud: the wire server of Azure, and the
  // service network and endpoints of IBM Cloud. The metadata addresses of other clouds are in the
  // ranges above.
  '168.63.129.16/32',
  '161.26.0.0/16',
  '166.8.0.0/14',
]);
/** In IPv6, only global unicast (`2000::/3`) is public, except for the ranges above. */
const maybePublic = createCidrList(['0.0.0.0/0', '2000::/3']);
/** NAT64 addresses, which a gateway maps to the IPv4 address in the last 32 bits (RFC 6052). */
const nat64 = createCidrList(['64:ff9b::/96']);

/**
 * Ports of services that a request could harm (databases, queues, remote control), and ports that
 * browsers block.
 */
const DENIED_PORTS = new Set([
  ...[1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3306],
  ...[3389, 3659, 4045, 4222, 4646, 4647, 4648, 5060, 5061, 5432, 5433, 5601, 5671, 5672, 5900],
  ...[5984, 5985, 5986, 6000, 6222, 6379, 6380, 6432, 6443, 6566, 6665, 6666, 6667, 6668, 6669],
  ...[6697, 7000, 7001, 7199, 7473, 7474, 7687, 8086, 8125, 8200, 8201, 8222, 8300, 8301, 8302],
  ...[8500, 8501, 8502, 8503, 8529, 8600, 8883, 9042, 9090, 9091, 9092, 9093, 9094, 9100, 9160],
  ...[9200, 9300, 10080, 10249, 10250, 10255, 10256, 10257, 10259, 11211, 15671, 15672, 16379],
  ...[25672, 26257, 26379, 27017, 27018, 27019, 28015, 28017, 61613, 61614, 61616],
]);

/** Returns whether this IP address may be reached without `allowCidrs`. */
export const isPublicAddress = (address: string): boolean =>
  maybePublic.has(address) && !notPublic.has(address);

/** Message for a URL without TLS, which `httpsOnly` rejects. */
const insecureUrl = (scheme: string, secure: string): string =>
  `${scheme} is not allowed, because the service was started with ${flagOf('httpsOnly')}: start the URL with ${secure}`;
export const INSECURE_URL = insecureUrl('http:', 'https:');

/** Returns the message for a URL without TLS; undefined for other URLs. */
function insecureProblem({ href, protocol }: URL): string | undefined {
  if (protocol === 'http:') return INSECURE_URL;
  const broker = queueBrokerOf(href);
  return broker?.plain.scheme === protocol ? insecureUrl(protocol, broker.tls.scheme) : undefined;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Returns the ports of the service that a URL is meant for; none for HTTP. */
function ownPortsOf(url: string): readonly number[] {
  if (isTablesUrl(url)) return [TABLES_PORT];
  const broker = queueBrokerOf(url);
  return broker === undefined ? [] : [broker.plain.port, broker.tls.port];
}

export function createAddressGuard({
  allowCidrs,
  denyCidrs = [],
  httpsOnly = false,
  onBlocked = () => {},
  resolve = resolveName,
}: AddressGuardOptions): AddressGuard {
  const allowed = createCidrList(allowCidrs);

  const denied = createCidrList(denyCidrs);

  const mayReach = (address: string): boolean => {
    if (!isPublicAddress(address) && !allowed.has(address)) return false;
    if (!nat64.has(address)) return true;
    const inside = toInside(address);
    return isPublicAddress(inside) || allowed.has(inside);
  };

  const judge = (address: string, place: AddressPlace): string | undefined => {
    const isDenied = denied.has(address) || (nat64.has(address) && denied.has(toInside(address)));
    if (!isDenied && mayReach(address)) return undefined;
    onBlocked(place);
    if (isDenied)
      return `the address ${address} is link-local or a metadata service: use another address`;
    return `the address ${address} is private, loopback or reserved; start the service with ${flagOf('allowCidrs')} to allow its network`;
  };

  /** @param own the ports of the service that the URL is meant for, such as a broker */
  const judgePort = (port: string, own: readonly number[] = []): string | undefined => {
    const number = Number(port);
    if (own.includes(number)) return undefined;
    const isWeb = port === '' || number === 80 || number === 443;
    if (isWeb || (number >= 1_024 && !DENIED_PORTS.has(number))) return undefined;
    onBlocked('port');
    return `port ${port} is not allowed: use 80, 443, or a port from 1024 up that no other well-known service uses`;
  };

  /** Looks up a name; fails if any resolved address is not allowed. */
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    let isOver = false;
    const end = (error: Error | null, addresses: readonly LookupAddress[]): void => {
      if (isOver) return;
      isOver = true;
      endDeadline();
      if (error !== null) return callback(error, '', 0);
      for (const { address } of addresses) {
        const refused = judge(address, 'lookup');
        if (refused !== undefined) return callback(blockedError(refused), '', 0);
      }
      const [first] = addresses;
      if (options.all) callback(null, [...addresses]);
      else callback(null, first?.address ?? '', first?.family ?? 0);
    };
    const endDeadline = startDeadline(LOOKUP_TIMEOUT_MS, () => end(lookupTimeout(hostname), []));
    resolve(hostname, options).then(
      (addresses) => end(null, addresses),
      (error: Error) => end(error, []),
    );
  };

  /**
   * Checks a host without a lookup: a literal address, or a name that exists only in private
   * networks.
   */
  const judgeHost = (hostname: string): string | undefined => {
    const host = hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0) return judge(host, 'url');
    const isPrivateName = /^(localhost|.*\.(localhost|local|internal))\.?$/i.test(host);
    return isPrivateName && allowCidrs.length === 0 ? judge(host, 'url') : undefined;
  };

  const refuse = (url: URL): string | undefined => {
    const refused =
      (httpsOnly ? insecureProblem(url) : undefined) ?? judgePort(url.port, ownPortsOf(url.href));
    if (refused !== undefined) return refused;
    // Only URLs of queues have several hosts.
    return url.hostname
      .split(',')
      .map(judgeHost)
      .find((each) => each !== undefined);
  };

  const resolveHost = async (hostname: string): Promise<string[]> => {
    const refused = judgeHost(hostname);
    if (refused !== undefined) throw blockedError(refused);
    if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return [hostname];
    return new Promise((resolved, reject) => {
      guardedLookup(hostname, { all: true }, (error, addresses) => {
        if (error === null) resolved((addresses as LookupAddress[]).map(({ address }) => address));
        else reject(error);
      });
    });
  };

  const connectWith: AddressGuard['connectWith'] = (certificate) => {
    const guarded = buildConnector({
      timeout: CONNECT_TIMEOUT_MS,
      lookup: guardedLookup,
      ...certificate,
    });
    return (options, callback) => {
      const refused = judgePort(options.port) ?? judgeHost(options.hostname);
      if (refused !== undefined) {
        callback(blockedError(refused), null);
        return undefined;
      }
      return guarded(options, (error, socket) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        const strange = judge(socket.remoteAddress ?? '', 'peer');
        if (strange === undefined) {
          callback(null, socket);
          return;
        }
        socket.destroy();
        callback(blockedError(strange), null);
      });
    };
  };

  return {
    refuse,

    async refuseResolved(url) {
      const refused = refuse(url);
      if (refused !== undefined) return refused;
      for (const hostname of url.hostname.split(',')) {
        try {
          await resolveHost(hostname);
        } catch (error) {
          if (isBlocked(error as Error)) return (error as Error).message;
        }
      }
      return undefined;
    },

    resolve: resolveHost,

    connect: connectWith(undefined),
    connectWith,
  };
}

/** Returns the IPv4 address in the last 32 bits of an IPv6 address. */
function toInside(address: string): string {
  const [high = '0', low = '0'] = toPlainAddress(address)
    .replace(/^64:ff9b::/, '0:')
    .split(':')
    .slice(-2);
  return toPlainAddress(`::ffff:${high || '0'}:${low || '0'}`);
}

const BLOCKED = 'SSRF_BLOCKED';

const blockedError = (why: string): Error => Object.assign(new Error(why), { code: BLOCKED });

const isBlocked = (error: NodeJS.ErrnoException): boolean => error.code === BLOCKED;
