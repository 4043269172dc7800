/** Checks hosts and origins: their syntax, and the `Host` header against DNS rebinding. */
import { isIP, isIPv4 } from 'node:net';
import { createCidrList, toPlainAddress } from './cidr.ts';

/** Returns whether the string is a host name or IP address, without scheme and port. */
const isHostName = (text: string): boolean =>
  isIP(text) !== 0 || /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i.test(text);

/**
 * Returns whether the string is an origin as browsers write it: scheme, host, and any non-default
 * port.
 */
const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/** Returns what is wrong with the name of a host; undefined if it is valid. */
export const hostNameProblem = (text: string): string | undefined =>
  isHostName(text)
    ? undefined
    : 'should be only a host name or IP address, without scheme or port, such as sluice.example.com';

/** Returns what is wrong with an origin; undefined if it is valid. */
export const originProblem = (text: string): string | undefined =>
  isOrigin(text)
    ? undefined
    : 'should be an origin with only scheme, host and port, such as https://app.example.com';

/** Returns whether a service that listens on this host can only be reached from this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));

const LOCAL_NETWORKS = createCidrList([
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'],
  ...['0.0.0.0/32', '::/128', '::1/128', 'fc00::/7', 'fe80::/10'],
]);

/**
 * Returns whether the URL names this machine or a private network: a loopback, private or
 * link-local address, `localhost`, or a name without a dot, as in Docker networks. Names are not
 * resolved.
 */
export function isLocalUrl(url: string): boolean {
  const host = toPlainAddress(new URL(url).hostname).toLowerCase();
  if (isIP(host) !== 0) return LOCAL_NETWORKS.has(host);
  return /(^|\.)localhost\.?$/.test(host) || !host.includes('.');
}

/**
 * Creates a check of `Host` headers. On loopback, it accepts loopback names and allowed names.
 * Elsewhere, it accepts any name; if names are allowed explicitly, it accepts only these
 * names, and `localhost` and IP addresses, which DNS rebinding cannot use.
 */
export function createHostCheck(
  host: string,
  allowed: readonly string[],
): (header: string) => boolean {
  const names = new Set(allowed.map((name) => name.toLowerCase()));
  const isOpen = !isLoopback(host) && names.size === 0;
  return (header) => {
    if (isOpen) return true;
    const name = /^(\[[\da-f:.]+\]|[^:[\]]+)(:\d+)?$/i.exec(header)?.[1]?.toLowerCase();
    if (name === undefined) return false;
    const plain = name.replace(/^\[|\]$/g, '');
    if (names.has(plain) || plain === 'localhost') return true;
    return isLoopback(host) ? isLoopback(plain) : isIP(plain) !== 0;
  };
}
