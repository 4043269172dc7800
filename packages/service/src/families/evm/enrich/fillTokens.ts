/** Adds token metadata to the transfers and approvals of a body. */
import type { EvmWebhook } from '@sluice/kit/contract';
import type { Token } from '../../../store/enrichment/contract.ts';
import { MAX_TEXT_CHARACTERS } from '../../../enrich/tokenText.ts';
import { toValueWithDecimals } from '../../../base/valueWithDecimals.ts';

export type TokenArrays = Pick<
  EvmWebhook,
  'erc20Transfers' | 'erc20Approvals' | 'nftTokenApprovals' | 'nftApprovals' | 'nftTransfers'
>;

/** Returns the contracts of records without metadata. The native currency has some already. */
export function contractsOf(arrays: TokenArrays): Set<string> {
  const contracts = new Set<string>();
  for (const records of recordsOf(arrays)) {
    for (const { contract, tokenName } of records) if (tokenName === '') contracts.add(contract);
  }
  return contracts;
}

/**
 * Upper bound of a record's growth in bytes: two strings of up to 128 characters, with up to 4
 * bytes per character, a standard, decimals, and an amount.
 */
const RECORD_GROWTH = 2 * 4 * MAX_TEXT_CHARACTERS + 'ERC1155'.length + 3 + 300;

/** Returns the maximum number of bytes that {@link fillTokens} adds. */
export const maxTokenBytes = (arrays: TokenArrays): number =>
  recordsOf(arrays).reduce((sum, { length }) => sum + length * RECORD_GROWTH, 0);

/**
 * Fills in names, symbols, decimals, amounts and token types in place. Unknown strings stay empty,
 * and an unknown `valueWithDecimals` stays omitted.
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
      // `ApprovalForAll` is the only event that does not reveal the token type: ERC-721 and
      // ERC-1155 share it.
      if (record.tokenContractType === '') record.tokenContractType = token.standard;
      if (record.tokenDecimals === undefined || token.decimals === null) continue;
      record.tokenDecimals = String(token.decimals);
      record.valueWithDecimals = toValueWithDecimals(record.value!, token.decimals);
    }
  }
}

/** A record from any of the token lists, with the fields that this file uses. */
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
