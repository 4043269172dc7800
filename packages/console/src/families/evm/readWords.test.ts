import { expect, test } from 'vitest';
import { describeRead, formatInUnit } from './readWords.ts';

const ADDRESS = '0x5fbdb2315678afecb367f032d93f642f64180aa3';

test('a value on chain is a sentence', () => {
  const contract = { contract: ADDRESS, function: 'getPrice(string) returns (uint256 value)' };
  expect(describeRead({ ...contract, when: { every: 1 } })).toBe(
    'getPrice() of 0x5fbd…0aa3 every block',
  );
  const price = { ...contract, arguments: [ADDRESS, ['1']], output: 'value' };
  expect(describeRead({ ...price, when: { every: 3600, unit: 'seconds' } })).toBe(
    'value of getPrice(0x5fbd…0aa3, ["1"]) of 0x5fbd…0aa3 every 3,600 seconds',
  );
  const token = { balance: ADDRESS, when: { above: '-1000.50' } };
  expect(describeRead(token)).toBe(
    '0x5fbd…0aa3 balance of the stream’s addresses when it rises above -1,000.50',
  );
  expect(describeRead({ ...token, of: [ADDRESS, ADDRESS], when: { crosses: '5' } }, 'USDC')).toBe(
    'USDC balance of 2 accounts when it crosses 5 USDC',
  );
});

test('integers are formatted in their unit; other values are not', () => {
  expect(formatInUnit('1250000000', 6)).toBe('1,250');
  expect(formatInUnit('-5', null)).toBe('−5');
  expect(formatInUnit('0', 18)).toBe('0');
  expect(formatInUnit('0xab', null)).toBeNull();
  expect(formatInUnit(['1'], null)).toBeNull();
});
