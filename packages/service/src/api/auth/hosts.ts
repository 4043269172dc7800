/** Checks the `Host` header, which protects against DNS rebinding. */
import { isIP } from 'node:net';

/** Returns whether a service that listens on this host can only be reached from this machine. */
export const isLoopback = (host: string): boolean => /^(127\.|localhost$|::1$)/.test(host);

/**
 * On loopback, accepts loopback names and the allowed names. Elsewhere, it accepts any name; if
 * names are configured, only these and IP addresses, which DNS rebinding cannot use.
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
