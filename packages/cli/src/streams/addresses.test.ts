import { expect, test } from 'vitest';
import { compareAddresses } from './addresses.ts';

const DIGITS = 'AB'.repeat(20);
const listed = (address: string) => ({ address });

test('addresses are compared in the form in which the service lists them', () => {
  const padded = `0x${'0'.repeat(24)}${DIGITS}`;
  const aptos = new Map([[padded.toLowerCase(), listed(padded)]]);
  // An Aptos address may have as many digits as an EVM address.
  expect(compareAddresses('aptos', aptos, [listed(`0x${DIGITS}`)])).toEqual({
    added: [],
    removed: [],
  });
  const evm = new Map([[`0x${DIGITS.toLowerCase()}`, listed(`0x${DIGITS}`)]]);
  expect(compareAddresses('evm', evm, [listed(`0x${DIGITS}`)])).toEqual({ added: [], removed: [] });
  const other = listed(`0x${'cd'.repeat(20)}`);
  expect(compareAddresses('evm', evm, [other])).toEqual({
    added: [other],
    removed: [listed(`0x${DIGITS}`)],
  });
});
