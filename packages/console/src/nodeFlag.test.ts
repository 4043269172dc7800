import { expect, test } from 'vitest';
import { toNodeFlag } from './nodeFlag.ts';

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
