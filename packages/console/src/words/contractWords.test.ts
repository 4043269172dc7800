import { expect, test } from 'vitest';
import { describeContract } from './contractWords.ts';

const token = { name: 'Tether USD', symbol: 'USDT', decimals: 6, standard: '' } as const;

test.each([
  [{ isContract: false, token: null }, 'an account, not a contract'],
  [{ isContract: true, token: null }, 'a contract'],
  [{ isContract: true, token }, 'Tether USD (USDT), 6 decimals'],
  [
    {
      isContract: true,
      token: { ...token, decimals: null, standard: 'ERC721', symbol: '' } as const,
    },
    'Tether USD, ERC-721',
  ],
  [{ isContract: true, token: { ...token, name: '' } }, '(USDT), 6 decimals'],
  [{ isContract: true, token: { ...token, name: '', symbol: '' } }, 'an unnamed token, 6 decimals'],
  [
    { isContract: true, token: { ...token, name: 'x'.repeat(99), decimals: null } },
    `${'x'.repeat(40)}… (USDT)`,
  ],
])('%j', (contract, words) => {
  expect(describeContract(contract, 'Ethereum')).toBe(`On Ethereum: ${words}`);
});
