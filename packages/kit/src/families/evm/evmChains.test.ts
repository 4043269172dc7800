import { describe, expect, it } from 'vitest';
import { toChainId } from './chains.ts';
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

  it('never has fewer confirmations than the hosted service', () => {
    const hosted = {
      '0x1': 12,
      '0xaa36a7': 18,
      '0x4268': 18,
      '0x89': 100,
      '0x13882': 100,
      '0x38': 18,
      '0x61': 18,
      '0xa4b1': 18,
      '0x66eee': 600,
      '0x2105': 100,
      '0x14a34': 100,
      '0xa': 500,
      '0xaa37dc': 600,
      '0xe708': 100,
      '0xe705': 100,
      '0xa86a': 100,
      '0xfa': 100,
      '0xfa2': 100,
      '0x19': 100,
      '0x64': 100,
      '0x27d8': 100,
      '0x15b38': 100,
      '0x15b32': 100,
      '0x504': 100,
      '0x505': 100,
      '0x507': 100,
      '0x2eb': 100,
      '0x221': 100,
      '0x7e4': 100,
      '0x7e5': 100,
      '0x46f': 100,
      '0x106a': 100,
      '0x171': 100,
      '0x3e7': 100,
      '0x8f': 100,
    };
    const fewer = Object.entries(hosted).filter(([id, least]) => confirmationsOf(id) < least);
    expect(fewer).toEqual([]);
    const more = Object.entries(hosted).filter(([id, least]) => confirmationsOf(id) > least);
    expect(more.map(([id]) => id)).toEqual(['0x2105', '0x14a34', '0x8f']);
  });

  it('keeps the time that confirmations take on chains whose blocks have become faster', () => {
    expect(findEvmChain('0x2105')).toMatchObject({ blockMs: 200, confirmations: 1_000 });
    expect(confirmationsOf('0x14a34')).toBe(1_000);
    expect(findEvmChain('0x8f')).toMatchObject({ blockMs: 300, confirmations: 134 });
  });

  it('has the confirmations of the contract, and 12 for any other chain', () => {
    expect(confirmationsOf('0x1')).toBe(12);
    expect(confirmationsOf('0xa')).toBe(500);
    expect(confirmationsOf('0x123456')).toBe(12);
    expect(findEvmChain('0x89')).toMatchObject({ name: 'Polygon', confirmations: 100 });
    expect(findEvmChain('0x123456')).toBeUndefined();
  });
});
