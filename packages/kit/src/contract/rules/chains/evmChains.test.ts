import { describe, expect, it } from 'vitest';
import { toChainId } from './chainId.ts';
import { confirmationsOf, EVM_CHAINS, findEvmChain } from './evmChains.ts';

describe('toChainId', () => {
  it.each([
    ['0x89', '0x89'],
    ['0X089', '0x89'],
    ['137', '0x89'],
    [137, '0x89'],
    ['0x1', '0x1'],
    [`0x${'f'.repeat(64)}`, `0x${'f'.repeat(64)}`],
    ['0x0', undefined],
    [0, undefined],
    [-1, undefined],
    [1.5, undefined],
    [2 ** 53, undefined],
    ['eth', undefined],
    ['0x', undefined],
    ['', undefined],
    [' 1', undefined],
    [{}, undefined],
    [null, undefined],
  ])('%j is %s', (value, id) => {
    expect(toChainId(value)).toBe(id);
  });
});

describe('EVM_CHAINS', () => {
  it('has each id once, in canonical form', () => {
    const ids = EVM_CHAINS.map(({ id }) => id);
    expect(ids.map(toChainId)).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has unique codes of at most 8 characters', () => {
    const codes = EVM_CHAINS.map(({ code }) => code);
    expect(codes.filter((code) => code.length > 8)).toEqual([]);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('has the confirmations of the contract, and 12 for any other chain', () => {
    expect(confirmationsOf('0x1')).toBe(12);
    expect(confirmationsOf('0xa')).toBe(500);
    expect(confirmationsOf('0x123456')).toBe(12);
    expect(findEvmChain('0x89')).toMatchObject({ name: 'Polygon', confirmations: 100 });
    expect(findEvmChain('0x123456')).toBeUndefined();
  });
});
