import type { StreamVerdict } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { streamsQuery } from '../../data/queries/streams.ts';
import { ExplorerLink } from '../chains/explorerLink.tsx';

/** Most chains whose block explorers are linked. */
const MAX_LINKS = 4;

/** Links to the address in the block explorers of the chains on which streams watch it. */
export function ExplorerLinks({
  address,
  watching,
}: {
  address: string;
  watching: readonly StreamVerdict[];
}) {
  const { data: streams = [] } = useQuery(streamsQuery);
  const ids = new Set(watching.map(({ streamId }) => streamId));
  const chains = new Set(
    streams.filter(({ id }) => ids.has(id)).flatMap(({ chainIds }) => chainIds),
  );
  return [...chains]
    .slice(0, MAX_LINKS)
    .map((chainId) => (
      <ExplorerLink key={chainId} chainId={chainId} page="address" value={address} />
    ));
}
