import { expect, test } from 'vitest';
import { formatMessage } from './messages.ts';

const CHAINS = [
  { id: '0x1', name: 'Ethereum' },
  { id: 'aptos:mainnet', name: 'Aptos' },
];

test('only chain ids become chain names', () => {
  expect(formatMessage('Block 12 of 0x1: the nodes of 0x1 have it', CHAINS)).toBe(
    'Block 12 of Ethereum: the nodes of Ethereum have it',
  );
  expect(formatMessage('0x1a2b and 0x10 on aptos:mainnet.', CHAINS)).toBe(
    '0x1a2b and 0x10 on Aptos.',
  );
  expect(formatMessage('0x1::coin::Coin', CHAINS)).toBe('0x1::coin::Coin');
});

test('long numbers get separators; hashes, ids, ports and fractions do not', () => {
  expect(formatMessage('Block 23835243 of 0x1, committed up to 23835258.', CHAINS)).toBe(
    'Block 23,835,243 of Ethereum, committed up to 23,835,258.',
  );
  expect(formatMessage(`value ${10n ** 24n} is ≥ 4000`)).toBe(
    'value 1,000,000,000,000,000,000,000,000 is ≥ 4000',
  );
  for (const text of [
    '127.0.0.1:41713',
    '0xddf252ad',
    'be6b134b-52345-40a7',
    '1.234567',
    '12345.5',
    'v123456',
  ]) {
    expect(formatMessage(text)).toBe(text);
  }
});
