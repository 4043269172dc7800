/** Checks addresses against networks such as `10.0.0.0/8` or `fd00::/8`. */
import { BlockList, isIP } from 'node:net';

export interface CidrList {
  /** Returns whether the IP address is in one of the networks; false for an invalid address. */
  has(address: string): boolean;
  /**
   * Returns whether one of the networks contains this entire network; false for an invalid network.
   */
  covers(network: string): boolean;
}

interface Network {
  address: string;
  bits: number;
  version: 'ipv4' | 'ipv6';
}

const NOT_A_NETWORK = 'should be a network such as 10.0.0.0/8 or fd00::/8';

/** Returns what is wrong with the text of a network; undefined if it is valid. */
export const networkProblem = (text: string): string | undefined =>
  readNetwork(text) === undefined ? NOT_A_NETWORK : undefined;

/** @throws RangeError that names the first text that is not a network */
export function createCidrList(texts: readonly string[]): CidrList {
  const networks = texts.map((text) => {
    const network = readNetwork(text);
    if (network !== undefined) return network;
    throw new RangeError(`${JSON.stringify(text)} ${NOT_A_NETWORK}`);
  });
  const list = toBlockList(networks);
  return {
    covers(text) {
      const inner = readNetwork(text);
      return (
        inner !== undefined &&
        networks.some(
          (outer) =>
            outer.version === inner.version &&
            outer.bits <= inner.bits &&
            toBlockList([outer]).check(inner.address, inner.version),
        )
      );
    },
    has(address) {
      const plain = toPlainAddress(address);
      const version = isIP(plain);
      return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

function readNetwork(text: string): Network | undefined {
  const [address = '', prefix = ''] = text.split('/');
  const family = isIP(address);
  const bits = Number(prefix);
  if (family === 0 || !/^\d+$/.test(prefix) || bits > (family === 4 ? 32 : 128)) return undefined;
  return { address, bits, version: family === 4 ? 'ipv4' : 'ipv6' };
}

function toBlockList(networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const { address, bits, version } of networks) list.addSubnet(address, bits, version);
  return list;
}

/**
 * Normalizes an IP address: removes brackets and zone, and unwraps an IPv4 address inside an IPv6
 * one (`::ffff:10.0.0.1`).
 */
export function toPlainAddress(address: string): string {
  const text = address.replace(/^\[|\]$/g, '').split('%')[0]!;
  if (isIP(text) !== 6) return text;
  // The URL parser normalizes every spelling of an address.
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (mapped === null) return short;
  const bits = Number.parseInt(mapped[1]!, 16) * 0x1_0000 + Number.parseInt(mapped[2]!, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}
