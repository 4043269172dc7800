import { expect, test } from 'vitest';
import { nameChains } from './chainNames.ts';

const CHAINS = [
  { id: '0x1', name: 'Ethereum' },
  { id: 'aptos:mainnet', name: 'Aptos' },
];

test('ids of chains become their names, and nothing else does', () => {
  expect(nameChains('Block 12 of 0x1: the nodes of 0x1 have it', CHAINS)).toBe(
    'Block 12 of Ethereum: the nodes of Ethereum have it',
  );
  expect(nameChains('0x1a2b and 0x10 on aptos:mainnet.', CHAINS)).toBe('0x1a2b and 0x10 on Aptos.');
  expect(nameChains('0x1::coin::Coin', CHAINS)).toBe('0x1::coin::Coin');
});
