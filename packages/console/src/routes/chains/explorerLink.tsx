import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { explorersQuery } from '../../data/queries/access.ts';
import { buttonClass } from '../../ui/button.tsx';
import { formatHash } from '../../ui/text/format.ts';
import { explorerUrl } from '../../chains/explorerUrl.ts';
import type { ExplorerPage } from '../../families/chainPages.ts';

/**
 * Links to a transaction, address or block in the chain's block explorer. Renders nothing for a
 * chain without a block explorer.
 */
export function ExplorerLink({
  chainId,
  page,
  value,
}: {
  chainId: string;
  page: ExplorerPage;
  value: string;
}) {
  const { data: explorers } = useQuery(explorersQuery);
  const base = explorers?.[chainId];
  if (base === undefined) return null;
  const label = `Open ${page} ${formatHash(value, 6)} on ${new URL(base).host}`;
  return (
    <a
      href={explorerUrl(base, chainId, page, value)}
      target="_blank"
      rel="noreferrer"
      aria-label={`${label}, new tab`}
      data-tip={label}
      className={buttonClass('quiet', true)}
    >
      <ExternalLink size={14} strokeWidth={1.5} aria-hidden="true" />
    </a>
  );
}
