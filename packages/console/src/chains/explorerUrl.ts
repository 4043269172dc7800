import { familyOf } from '@sluice/kit/contract';

const SEGMENTS = {
  evm: { transaction: 'tx', address: 'address', block: 'block' },
  aptos: { transaction: 'txn', address: 'account', block: 'block' },
} as const;

export type ExplorerPage = keyof (typeof SEGMENTS)['evm'];

/**
 * Returns the URL of the page of a transaction, address or block.
 * @param base the explorer's URL, whose path and query are kept.
 * @param value a hash, an address, or the number of a block.
 */
export function explorerUrl(
  base: string,
  chainId: string,
  page: ExplorerPage,
  value: string,
): string {
  const url = new URL(base);
  const segment = SEGMENTS[familyOf(chainId)][page];
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${segment}/${value}`;
  return url.href;
}
