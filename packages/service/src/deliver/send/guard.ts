/**
 * Keeps webhooks from reaching what only this machine or its network can reach (SSRF). An address
 * is judged three times: as a literal in the URL, for each answer of the name lookup, and as the
 * peer the socket in fact connected to, so that a name that changes its answer in between gains
 * nothing. Not covered: what a public address forwards to.
 */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { createCidrList, toPlainAddress } from '../../base/cidr.ts';
import { startDeadline } from './deadline.ts';

export interface AddressGuard {
  /** Why this URL may not be a webhook's as it stands, or undefined; asks nobody. */
  refuse(url: URL): string | undefined;
  /** The same, its name looked up as well. One that cannot be looked up now is not refused. */
  refuseResolved(url: URL): Promise<string | undefined>;
  readonly connect: buildConnector.connector;
}

/** Where an address stood that was refused, or that it was its port. */
export type AddressPlace = 'url' | 'lookup' | 'peer' | 'port';

export interface AddressGuardOptions {
  /** Networks that webhooks may reach although they are not public. */
  allowCidrs: readonly string[];
  /** Each time an address was refused, with where it stood. */
  onBlocked?: (place: AddressPlace) => void;
  /** Default: as the system resolves names. */
  lookup?: typeof systemLookup;
}

/** Loopback and private networks among them. */
export const EVERYWHERE = ['0.0.0.0/0', '::/0'] as const;

/** IANA special-purpose registries: everything that is not a public unicast address. */
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
  // Public by their numbers, but each cloud answers at them from inside its machines alone: the wire
  // server of Azure, the service network and service endpoints of IBM Cloud. The metadata addresses of
  // other clouds are in the ranges above.
  '168.63.129.16/32',
  '161.26.0.0/16',
  '166.8.0.0/14',
]);
/** Of IPv6 only global unicast is public, less the ranges above that carry another address inside. */
const maybePublic = createCidrList(['0.0.0.0/0', '2000::/3']);
/** A gateway takes what is sent there to the IPv4 address in the last 32 bits (RFC 6052). */
const nat64 = createCidrList(['64:ff9b::/96']);

/**
 * Ports at which something other than a web server listens, and which a request could do harm at:
 * databases, queues, remote control, and those no browser posts to.
 */
const DENIED_PORTS = new Set([
  ...[1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 5060, 5061],
  ...[5432, 5671, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669],
  ...[6697, 9042, 9092, 9200, 9300, 10080, 10250, 10255, 11211, 27017],
]);

/** Whether this IP address, as text, may be reached by a webhook. */
export const isPublicAddress = (address: string): boolean =>
  maybePublic.has(address) && !notPublic.has(address);

const CONNECT_TIMEOUT_MS = 5_000;
const LOOKUP_TIMEOUT_MS = 3_000;

export function createAddressGuard({
  allowCidrs,
  onBlocked = () => {},
  lookup = systemLookup,
}: AddressGuardOptions): AddressGuard {
  const allowed = createCidrList(allowCidrs);

  const mayReach = (address: string): boolean => {
    if (!isPublicAddress(address) && !allowed.has(address)) return false;
    if (!nat64.has(address)) return true;
    const inside = toInside(address);
    return isPublicAddress(inside) || allowed.has(inside);
  };

  const judge = (address: string, place: AddressPlace): string | undefined => {
    if (mayReach(address)) return undefined;
    onBlocked(place);
    return `the address ${address} is private, loopback or reserved; start the service with --allow-cidr to allow its network`;
  };

  const judgePort = (port: string): string | undefined => {
    const number = Number(port);
    const isWeb = port === '' || number === 80 || number === 443;
    if (isWeb || (number >= 1_024 && !DENIED_PORTS.has(number))) return undefined;
    onBlocked('port');
    return `port ${port} is not for webhooks: use 80, 443, or one from 1024 on that no other well-known service has`;
  };

  /** Fails where any of the answers may not be reached. */
  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    let isOver = false;
    const endDeadline = startDeadline(LOOKUP_TIMEOUT_MS, () => {
      isOver = true;
      const why = `the name ${hostname} was not resolved within ${LOOKUP_TIMEOUT_MS / 1_000} s`;
      callback(Object.assign(new Error(why), { code: 'ETIMEOUT' }), '', 0);
    });
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (isOver) return;
      endDeadline();
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      for (const { address } of addresses) {
        const refused = judge(address, 'lookup');
        if (refused !== undefined) {
          callback(blockedError(refused), '', 0);
          return;
        }
      }
      const [first] = addresses;
      if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family ?? 0);
    });
  };
  const guarded = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup });

  /** Of the host alone: names that only a private network has, and literals, which no lookup sees. */
  const judgeHost = (hostname: string): string | undefined => {
    const host = hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0) return judge(host, 'url');
    const isPrivateName = /^(localhost|.*\.(localhost|local|internal))\.?$/i.test(host);
    return isPrivateName && allowCidrs.length === 0 ? judge(host, 'url') : undefined;
  };

  return {
    refuse: (url) => judgePort(url.port) ?? judgeHost(url.hostname),

    async refuseResolved(url) {
      const refused = judgePort(url.port) ?? judgeHost(url.hostname);
      if (refused !== undefined || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return refused;
      return new Promise((resolve) => {
        guardedLookup(url.hostname, { all: true }, (error) =>
          resolve(isBlocked(error) ? error.message : undefined),
        );
      });
    },

    connect(options, callback) {
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
    },
  };
}

/** The IPv4 address in the last 32 bits of an IPv6 address. */
function toInside(address: string): string {
  const [high = '0', low = '0'] = toPlainAddress(address)
    .replace(/^64:ff9b::/, '0:')
    .split(':')
    .slice(-2);
  return toPlainAddress(`::ffff:${high || '0'}:${low || '0'}`);
}

const BLOCKED = 'SSRF_BLOCKED';

const blockedError = (why: string): Error => Object.assign(new Error(why), { code: BLOCKED });

const isBlocked = (error: NodeJS.ErrnoException | null): error is NodeJS.ErrnoException =>
  error?.code === BLOCKED;
