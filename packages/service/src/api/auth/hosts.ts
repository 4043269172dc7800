/** Which names in `Host` are ours: a page on another name that resolves to us (DNS rebinding) must not reach us. */
import { isIP } from 'node:net';

/** Whether a service that listens there can be reached from this machine alone. */
export const isLoopback = (host: string): boolean => /^(127\.|localhost$|::1$)/.test(host);

/**
 * On loopback its own names are ours, and those allowed; elsewhere every name, until some are
 * allowed: then those, and IP addresses, by which probes come and which no name can be rebound to.
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
    return isLoopback(host)
      ? plain === '::1' || /^127\.\d+\.\d+\.\d+$/.test(plain)
      : isIP(plain) !== 0;
  };
}
