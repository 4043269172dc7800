import { toEventSelector, toEventSignature } from 'viem';
import { describe, expect, it } from 'vitest';
import { eventTopic } from './events.ts';
import { canonicalType, itemSignature } from './signatures.ts';

describe('the signature of an ABI item', () => {
  const item = {
    type: 'event',
    name: 'Filled',
    inputs: [
      { name: 'orders', type: 'tuple[2][]', components: [{ name: 'a', type: 'uint' }] },
      { name: 'ids', type: 'int[]', indexed: true },
    ],
  };

  it('has canonical tuples and type names', () => {
    expect(itemSignature(item)).toBe('Filled((uint256)[2][],int256[])');
    expect(eventTopic(item)).toBe(toEventSelector('Filled((uint256)[2][],int256[])'));
    expect(itemSignature({ type: 'event', name: 'Paused' })).toBe('Paused()');
  });

  it('agrees with viem', () => {
    const transfer = {
      type: 'event',
      name: 'Transfer',
      inputs: [
        { name: 'from', type: 'address', indexed: true },
        { name: 'id', type: 'uint256' },
      ],
    } as const;
    expect(itemSignature(transfer)).toBe(toEventSignature(transfer));
  });
});

describe('canonicalType', () => {
  it.each([
    ['uint', 'uint256'],
    ['int[][4]', 'int256[][4]'],
    ['bytes', 'bytes'],
    ['bytes32', 'bytes32'],
    ['fixed128x18', 'fixed128x18'],
    ['bytes0', undefined],
    ['fixed8', undefined],
    ['fixed8x81', undefined],
    ['uint8x8', undefined],
    ['tuple', undefined],
    ['uint256[', undefined],
    ['', undefined],
  ])('%s is %s', (type, canonical) => {
    expect(canonicalType(type)).toBe(canonical);
  });
});
