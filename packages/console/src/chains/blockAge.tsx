import { headAgeMs, isLate, meanBlockMs } from './blockPace.ts';
import { useNow } from '../ui/text/clock.ts';
import { formatDuration, formatSpan } from '../ui/text/format.ts';
import type { WatchedChain } from './tape.ts';

/** `14s old`: the age of the chain's newest block, once it is more than the chain's pace explains. */
export function BlockAge({
  chain,
  always = false,
  className = '',
}: {
  chain: WatchedChain;
  /** Also while it is as young as usual, and with the pace. */
  always?: boolean;
  className?: string;
}) {
  const now = useNow();
  const ageMs = headAgeMs(chain, now);
  const late = isLate(chain, now);
  if (ageMs === null || !(late || always)) return null;
  const pace = meanBlockMs(chain.blocks);
  const every = pace === null ? '' : `one every ${formatDuration(pace)}`;
  return (
    <span className={`${className} ${late ? 'text-warn' : ''}`} title={every}>
      {formatSpan(ageMs)} old{always && every !== '' && `, ${every}`}
    </span>
  );
}
