import { BlockAge } from '../../chains/blockAge.tsx';
import type { WatchedChain } from '../../chains/timeline.ts';
import { formatCount } from '../../ui/text/format.ts';

/** Shows the name of a chain, its head, and how many blocks it is behind. */
export function LaneHead({ chain }: { chain: WatchedChain }) {
  const { name, head, checkpoint } = chain;
  const lag = head === null || checkpoint === null ? 0 : Math.max(0, head - checkpoint);
  return (
    <p className="flex min-w-0 gap-x-3 sm:block">
      <span className="block truncate font-medium">{name}</span>
      <span className="data text-faint">
        {head === null ? 'no head yet' : formatCount(head)}
        {lag > 0 && <span className="text-warn"> −{formatCount(lag)}</span>}
        <BlockAge chain={chain} className="ml-2" />
      </span>
    </p>
  );
}
