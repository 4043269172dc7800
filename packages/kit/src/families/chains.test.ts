import { expect, test } from 'vitest';
import { describeNodeFlag, familyOf, nameOfChain, toAnyChainId, toNodeFlag } from './chains.ts';

test('a node gets the flag of its family, quoted if a shell would expand it', () => {
  expect(toNodeFlag('0x1', 'https://eth.example/v2/KEY')).toBe(
    '--chain 0x1=https://eth.example/v2/KEY',
  );
  expect(toNodeFlag('aptos:testnet', 'https://node.example/v1')).toBe(
    '--aptos testnet=https://node.example/v1',
  );
  expect(toNodeFlag('0x1', 'https://a.example/?a=1&b=2')).toBe(
    "--chain '0x1=https://a.example/?a=1&b=2'",
  );
});

test('a chain has the family, name and flag that its id determines', () => {
  expect(['0x1', 'aptos:testnet', '0xa970500000000002', 'other'].map(familyOf)).toEqual([
    'evm',
    'aptos',
    'aptos',
    'evm',
  ]);
  expect(['0x1', 'aptos:testnet'].map(nameOfChain)).toEqual(['0x1', 'testnet']);
  expect(['0x1', 'aptos:testnet'].map(describeNodeFlag)).toEqual([
    '--chain 0x1=<rpcUrl>',
    '--aptos testnet=<fullnodeUrl>',
  ]);
});

test('ids of chains of all families are normalized, and other values rejected', () => {
  expect(['0X089', 137, 'aptos:mainnet', '0xa970500000000001'].map(toAnyChainId)).toEqual([
    '0x89',
    '0x89',
    'aptos:mainnet',
    'aptos:mainnet',
  ]);
  expect(['eth', 'aptos:other', null, { toString: 1 }].map(toAnyChainId)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
