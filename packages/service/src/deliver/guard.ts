/**
 * Keeps webhooks from reaching what only this machine or its network can reach (SSRF). An address
 * is judged three times: as a literal in the URL, for each answer of the name lookup, and as the
 * peer the socket in fact connected to, so that a name that changes its answer in between gains
 * nothing. Not covered: what a public address forwards to.
 */
import { lookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

/** In the URL itself, in the answer of a name lookup, or at the other end of the socket. */
export type AddressPlace = 'url' | 'lookup' | 'peer';

export interface AddressGuard {
  /** Why this URL may not be a webhook's, or undefined. */
  refuse(url: URL): string | undefined;
  readonly connect: buildConnector.connector;
}

/** IANA special-purpose registries: everything that is not a public unicast address. */
const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
}
/** Of IPv6 only global unicast is public, less the ranges that carry another address inside. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}

/** Whether this IP address, as text, may be reached by a webhook. */
export function isPublicAddress(address: string): boolean {
  const text = address.replace(/^\[|\]$/g, '').split('%')[0]!;
  if (isIPv6(text)) return globalUnicast.check(text, 'ipv6') && !notPublic.check(text, 'ipv6');
  return isIP(text) === 4 && !notPublic.check(text, 'ipv4');
}

const refusal = (address: string): string =>
  `the address ${address} is private, loopback or reserved; start the service with --allow-private-endpoints to allow it`;

export function createAddressGuard({
  allowPrivate,
  onBlocked = () => {},
}: {
  allowPrivate: boolean;
  /** Each time an address was refused, with where it stood. */
  onBlocked?: (place: AddressPlace) => void;
}): AddressGuard {
  const connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  if (allowPrivate) return { refuse: () => undefined, connect: connector };

  const block = (address: string, place: AddressPlace): string => {
    onBlocked(place);
    return refusal(address);
  };

  const guardedLookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const blocked = error
        ? undefined
        : addresses.find(({ address }) => !isPublicAddress(address));
      const first = addresses?.[0];
      if (error !== null) callback(error, '', 0);
      else if (blocked !== undefined)
        callback(blockedError(block(blocked.address, 'lookup')), '', 0);
      else if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family ?? 0);
    });
  };
  const guarded = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup });

  const refuse = (url: URL): string | undefined => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : block(host, 'url');
    return /^(localhost|.*\.localhost|.*\.local|.*\.internal)\.?$/i.test(host)
      ? block(host, 'url')
      : undefined;
  };

  return {
    refuse,
    connect(options, callback) {
      // A literal never goes through a lookup, so it is judged here.
      const host = options.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isPublicAddress(host)) {
        callback(blockedError(block(host, 'url')), null);
        return;
      }
      guarded(options, (error, socket) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        const peer = socket.remoteAddress ?? '';
        if (isPublicAddress(peer)) {
          callback(null, socket);
          return;
        }
        socket.destroy();
        callback(blockedError(block(peer, 'peer')), null);
      });
    },
  };
}

const CONNECT_TIMEOUT_MS = 5_000;

const blockedError = (why: string): Error =>
  Object.assign(new Error(why), { code: 'SSRF_BLOCKED' });
