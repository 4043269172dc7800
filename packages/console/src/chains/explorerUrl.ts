import { familyOf } from '@sluice/kit/contract';
import type { ExplorerPage } from '../families/chainPages.ts';
import { CHAIN_PAGES } from '../families/chains.ts';

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
  const segment = CHAIN_PAGES[familyOf(chainId)].segments[page];
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${segment}/${value}`;
  return url.href;
}
