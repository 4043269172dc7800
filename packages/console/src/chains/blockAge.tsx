import { headAgeMs, isLate, meanBlockMs } from './blockPace.ts';
import { useNow } from '../ui/text/clock.ts';
import { formatDuration, formatSpan } from '../ui/text/format.ts';
import type { WatchedChain } from './timeline.ts';

/** Shows the age of the newest block, such as `14s old`, if the block is older than usual. */
export function BlockAge({
  chain,
  always = false,
  className = '',
}: {
  chain: WatchedChain;
  /** Whether to show the age even if it is usual, followed by the block time. */
  always?: boolean;
  className?: string;
}) {
  const now = useNow();
  const ageMs = headAgeMs(chain, now);
  const late = isLate(chain, now);
  if (ageMs === null || !(late || always)) return null;
  const pace = meanBlockMs(chain.blocks);
  const every = pace === null ? '' : `block time ${formatDuration(pace)}`;
  return (
    <span className={`${className} ${late ? 'text-warn' : ''}`} data-tip={every || undefined}>
      {formatSpan(ageMs)} old{always && every !== '' && `, ${every}`}
    </span>
  );
}
