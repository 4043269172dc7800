/** Adds token metadata to the decoded lists of a body. */
import type { EvmWebhook } from '@sluice/kit/contract';
import type { Token } from '../../store/enrichment/contract.ts';
import { MAX_TEXT_CHARACTERS } from '../token.ts';
import { toValueWithDecimals } from '../valueWithDecimals.ts';

export type TokenArrays = Pick<
  EvmWebhook,
  'erc20Transfers' | 'erc20Approvals' | 'nftTokenApprovals' | 'nftApprovals' | 'nftTransfers'
>;

/** Returns the contracts of tokens in the lists, without duplicates. */
export function contractsOf(arrays: TokenArrays): Set<string> {
  const contracts = new Set<string>();
  for (const records of recordsOf(arrays)) {
    for (const { contract } of records) contracts.add(contract);
  }
  return contracts;
}

/**
 * Maximum growth of a record in bytes: two strings of 128 characters with up to 4 bytes, a
 * standard, decimals, and an amount of 78 digits or 255 decimals.
 */
const RECORD_GROWTH = 2 * 4 * MAX_TEXT_CHARACTERS + 'ERC1155'.length + 3 + 300;

/** Returns the maximum growth through {@link fillTokens}, in bytes. */
export const mostTokenBytes = (arrays: TokenArrays): number =>
  recordsOf(arrays).reduce((sum, { length }) => sum + length * RECORD_GROWTH, 0);

/**
 * Fills in names, symbols, decimals and types in place. Unknown strings stay empty, and an unknown
 * `valueWithDecimals` stays omitted.
 */
export function fillTokens(
  arrays: TokenArrays,
  find: (contract: string) => Token | undefined,
): void {
  for (const records of recordsOf(arrays)) {
    for (const record of records) {
      const token = find(record.contract);
      if (token === undefined) continue;
      record.tokenName = token.name;
      record.tokenSymbol = token.symbol;
      // The shape of a transfer shows its token type. Only ApprovalForAll exists in both standards.
      if (record.tokenContractType === '') record.tokenContractType = token.standard;
      if (record.tokenDecimals === undefined || token.decimals === null) continue;
      record.tokenDecimals = String(token.decimals);
      record.valueWithDecimals = toValueWithDecimals(record.value!, token.decimals);
    }
  }
}

/** A record of any list, with the keys that are used here. */
interface TokenRecord {
  contract: string;
  tokenName: string;
  tokenSymbol: string;
  tokenContractType?: string;
  tokenDecimals?: string;
  value?: string;
  valueWithDecimals?: string;
}

const recordsOf = (arrays: TokenArrays): readonly (readonly TokenRecord[])[] => [
  arrays.erc20Transfers,
  arrays.erc20Approvals,
  arrays.nftTokenApprovals,
  arrays.nftApprovals.ERC721,
  arrays.nftApprovals.ERC1155,
  arrays.nftTransfers,
];
