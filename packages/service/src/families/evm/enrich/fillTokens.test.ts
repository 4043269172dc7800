import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toValueWithDecimals } from '../../../base/valueWithDecimals.ts';
import { type TokenArrays, fillTokens } from './fillTokens.ts';

const CONTRACT = `0x${'70'.repeat(20)}`;

const arraysWith = (value: string): TokenArrays => ({
  erc20Transfers: [
    {
      transactionHash: '0x1',
      logIndex: '0',
      contract: CONTRACT,
      from: CONTRACT,
      to: CONTRACT,
      value,
      possibleSpam: false,
      tokenName: '',
      tokenSymbol: '',
      tokenDecimals: '',
    },
  ],
  erc20Approvals: [
    {
      transactionHash: '0x1',
      logIndex: '1',
      contract: CONTRACT,
      owner: CONTRACT,
      spender: CONTRACT,
      value,
      possibleSpam: false,
      tokenName: '',
      tokenSymbol: '',
      tokenDecimals: '',
    },
  ],
  nftTokenApprovals: [],
  nftTransfers: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
});

test('property: a transfer or approval has the decimals of its token, even zero, and the value with them', () => {
  const value = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
  fc.assert(
    fc.property(value, fc.nat(255), (amount, decimals) => {
      const arrays = arraysWith(amount);
      fillTokens(arrays, (address) => ({
        address,
        name: 'Test',
        symbol: 'T',
        decimals,
        standard: '',
        blockNumber: 1,
      }));
      const filled = {
        value: amount,
        tokenDecimals: String(decimals),
        valueWithDecimals: toValueWithDecimals(amount, decimals),
      };
      expect(arrays.erc20Transfers).toMatchObject([filled]);
      expect(arrays.erc20Approvals).toMatchObject([filled]);
    }),
    { examples: [['12345', 0]] },
  );
});
