import { clsx } from 'clsx';
import { useNow } from '../ui/text/clock.ts';
import { chainTrouble, isChainDown } from './condition.ts';
import type { WatchedChain } from '../chains/tape.ts';

/** Shows what is wrong with a chain; renders nothing while it is healthy. */
export function ChainTrouble({ chain, className }: { chain: WatchedChain; className: string }) {
  const text = chainTrouble(chain, useNow());
  if (text === '') return null;
  return (
    <p
      title={text}
      className={clsx('break-words', isChainDown(chain) ? 'text-bad' : 'text-muted', className)}
    >
      {text}
    </p>
  );
}
