import * as fc from 'fast-check';
import { bytesToHex, getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { toAddress } from './address.ts';
import { checksumAddress } from './checksum.ts';

const ADDRESS = '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e';
const CHECKSUMMED = '0xCFDF6Aaae9f6B927E3736FBD327853B622c5060E';

describe('toAddress', () => {
  it('accepts uppercase and lowercase, and returns lowercase', () => {
    for (const text of [ADDRESS, CHECKSUMMED, ADDRESS.toUpperCase()]) {
      expect(toAddress(text)).toBe(ADDRESS);
    }
  });

  it.each([
    ADDRESS.slice(2),
    `${ADDRESS}0`,
    `${ADDRESS.slice(0, -1)}g`,
    ` ${ADDRESS}`,
    '',
    1,
    null,
  ])('rejects %j', (value) => {
    expect(toAddress(value)).toBeUndefined();
  });
});

describe('checksumAddress', () => {
  it('returns the form that the official client sends', () => {
    expect(checksumAddress(ADDRESS)).toBe(CHECKSUMMED);
  });

  it('agrees with viem', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
        const address = bytesToHex(bytes);
        expect(checksumAddress(address)).toBe(getAddress(address));
      }),
    );
  });

  it('throws on an invalid address', () => {
    expect(() => checksumAddress('0x1')).toThrow(TypeError);
  });
});
