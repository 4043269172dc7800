/** Networks, such as `10.0.0.0/8` or `fd00::/8`. */
import { BlockList, isIP } from 'node:net';

export interface CidrList {
  /** Whether the IP address, as text, lies in one of the networks. False for what is no address. */
  has(address: string): boolean;
}

/** @throws RangeError that names the text which is no network. */
export function createCidrList(texts: readonly string[]): CidrList {
  const list = new BlockList();
  for (const text of texts) {
    const [network = '', prefix = ''] = text.split('/');
    const version = isIP(network);
    const bits = Number(prefix);
    if (version === 0 || !/^\d+$/.test(prefix) || bits > (version === 4 ? 32 : 128)) {
      throw new RangeError(
        `${JSON.stringify(text)} should be a network such as 10.0.0.0/8 or fd00::/8`,
      );
    }
    list.addSubnet(network, bits, version === 4 ? 'ipv4' : 'ipv6');
  }
  return {
    has(address) {
      const plain = toPlainAddress(address);
      const version = isIP(plain);
      return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

/** Without brackets and zone; an IPv4 address inside an IPv6 one (`::ffff:10.0.0.1`) as itself. */
export function toPlainAddress(address: string): string {
  const text = address.replace(/^\[|\]$/g, '').split('%')[0]!;
  if (isIP(text) !== 6) return text;
  // The URL parser writes every spelling of an address in one way.
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (mapped === null) return short;
  const bits = Number.parseInt(mapped[1]!, 16) * 0x1_0000 + Number.parseInt(mapped[2]!, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}
