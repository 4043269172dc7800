import { expect, test } from 'vitest';
import { toAbiFlag } from './abiFlag.ts';

test('the ABI source uses the decimal chain id', () => {
  expect(toAbiFlag('0x2105')).toBe(
    "--abi-url '0x2105=https://sourcify.dev/server/v2/contract/8453/{address}?fields=abi'",
  );
});
