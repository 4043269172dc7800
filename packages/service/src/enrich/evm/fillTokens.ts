/** Token metadata in the decoded arrays of a body. */
import type { EvmWebhook } from '@sluice/kit/contract';
import type { Token } from '../../store/enrichment/contract.ts';
import { MAX_TEXT_CHARACTERS } from '../token.ts';
import { toValueWithDecimals } from '../valueWithDecimals.ts';

export type TokenArrays = Pick<
  EvmWebhook,
  'erc20Transfers' | 'erc20Approvals' | 'nftTokenApprovals' | 'nftApprovals' | 'nftTransfers'
>;

/** Every contract whose metadata the arrays want, each once. */
export function contractsOf(arrays: TokenArrays): Set<string> {
  const contracts = new Set<string>();
  for (const records of recordsOf(arrays)) {
    for (const { contract } of records) contracts.add(contract);
  }
  return contracts;
}

/**
 * The most bytes that a token adds to a record: two texts of 128 characters of at most 4 bytes, a
 * standard, decimals, and an amount of 78 digits or 255 decimals.
 */
const RECORD_GROWTH = 2 * 4 * MAX_TEXT_CHARACTERS + 'ERC1155'.length + 3 + 300;

/** The most bytes that {@link fillTokens} adds. */
export const mostTokenBytes = (arrays: TokenArrays): number =>
  recordsOf(arrays).reduce((sum, { length }) => sum + length * RECORD_GROWTH, 0);

/**
 * Fills names, symbols, decimals and types in place. What is not known stays the empty text it is,
 * and `valueWithDecimals` absent. Keys keep the order of the wire: the new one comes last.
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
      // A transfer's own shape says what its token is; only ApprovalForAll is of both standards.
      if (record.tokenContractType === '') record.tokenContractType = token.standard;
      if (record.tokenDecimals === undefined || token.decimals === null) continue;
      record.tokenDecimals = String(token.decimals);
      record.valueWithDecimals = toValueWithDecimals(record.value!, token.decimals);
    }
  }
}

/** A record of any of the arrays, by the keys that matter here. */
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
