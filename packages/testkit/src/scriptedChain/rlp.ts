/** Bytes, or a list of items, to encode as RLP (recursive length prefix). */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** Encodes an item as RLP, as defined in the yellow paper, appendix B. */
export function encodeRlp(item: RlpItem): Buffer {
  if (item instanceof Uint8Array) {
    const isOwnEncoding = item.length === 1 && (item[0] as number) < 0x80;
    return isOwnEncoding ? Buffer.from(item) : Buffer.concat([prefix(0x80, item.length), item]);
  }
  const payload = Buffer.concat(item.map(encodeRlp));
  return Buffer.concat([prefix(0xc0, payload.length), payload]);
}

/** Encodes a number for RLP: big-endian, without leading zeros, empty for 0. */
export function rlpNumber(value: bigint): Buffer {
  if (value === 0n) return Buffer.alloc(0);
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}

function prefix(offset: number, length: number): Buffer {
  if (length < 56) return Buffer.of(offset + length);
  const lengthBytes = rlpNumber(BigInt(length));
  return Buffer.concat([Buffer.of(offset + 55 + lengthBytes.length), lengthBytes]);
}
