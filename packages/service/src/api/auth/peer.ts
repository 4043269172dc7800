/**
 * Determines the address of a client, and whether the client used TLS. Trusts headers only from
 * known proxies.
 */
import { isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { type CidrList, createCidrList, toPlainAddress } from '../../base/cidr.ts';

export interface Peer {
  address: string;
  /** Whether the client used TLS, as reported by a trusted proxy; false without a trusted proxy. */
  isSecure: boolean;
}

export type ReadPeer = (context: Context) => Peer;

/**
 * @param trustProxy the number of proxies in front of the service, or their networks; empty without
 * proxies. Each proxy appends an address to `x-forwarded-for`, so the list is read from its end.
 * Clients can forge all earlier entries.
 */
export function createPeerReader(trustProxy: readonly string[]): ReadPeer {
  const [first = ''] = trustProxy;
  const hops = /^\d+$/.test(first) ? Number(first) : undefined;
  const networks: CidrList = createCidrList(hops === undefined ? trustProxy : []);

  return (context) => {
    const { socket } = (context.env as HttpBindings).incoming;
    const addresses = listOf(context, 'x-forwarded-for');
    let address = toPlainAddress(socket.remoteAddress ?? '');
    let trusted = 0;
    while (hops === undefined ? networks.has(address) : trusted < hops) {
      trusted++;
      const before = toPlainAddress(addresses.pop() ?? '');
      if (isIP(before) === 0) break;
      address = before;
    }
    const schemes = listOf(context, 'x-forwarded-proto');
    return {
      address,
      isSecure: trusted > 0 && schemes[Math.max(0, schemes.length - trusted)] === 'https',
    };
  };
}

const listOf = (context: Context, header: string): string[] =>
  (context.req.header(header) ?? '').split(',').map((entry) => entry.trim());
