import { expect, test } from 'vitest';
import { toAbiFlag, toNodeFlag } from './nodeFlag.ts';

test('a node is named by the flag of its family, quoted where a shell would read it', () => {
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

test('who tells ABIs is named by the chain’s number', () => {
  expect(toAbiFlag('0x2105')).toBe(
    "--abi-url '0x2105=https://sourcify.dev/server/v2/contract/8453/{address}?fields=abi'",
  );
});
