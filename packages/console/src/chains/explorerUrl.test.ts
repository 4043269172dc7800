import { expect, test } from 'vitest';
import { explorerUrl } from './explorerUrl.ts';

test('links have the paths of each family of explorers, and keep path and query', () => {
  expect(explorerUrl('https://etherscan.io', '0x1', 'transaction', '0xab')).toBe(
    'https://etherscan.io/tx/0xab',
  );
  expect(explorerUrl('https://etherscan.io/', '0x1', 'block', '17')).toBe(
    'https://etherscan.io/block/17',
  );
  expect(explorerUrl('https://a.example/base', '0x1', 'address', '0xab')).toBe(
    'https://a.example/base/address/0xab',
  );
  const aptos = 'https://explorer.aptoslabs.com/?network=testnet';
  expect(explorerUrl(aptos, 'aptos:testnet', 'transaction', '0xab')).toBe(
    'https://explorer.aptoslabs.com/txn/0xab?network=testnet',
  );
  expect(explorerUrl(aptos, 'aptos:testnet', 'address', '0x1')).toBe(
    'https://explorer.aptoslabs.com/account/0x1?network=testnet',
  );
});
