import { expect, test } from 'vitest';
import { toAbiFlag, toNodeFlag } from './nodeFlag.ts';

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

test('the ABI source uses the decimal chain id', () => {
  expect(toAbiFlag('0x2105')).toBe(
    "--abi-url '0x2105=https://sourcify.dev/server/v2/contract/8453/{address}?fields=abi'",
  );
});
