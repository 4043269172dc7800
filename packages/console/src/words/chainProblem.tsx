import { clsx } from 'clsx';
import { useNow } from '../ui/text/clock.ts';
import { chainProblem, isChainDown } from './condition.ts';
import type { WatchedChain } from '../chains/timeline.ts';

/** Shows the problem of a chain; renders nothing while the chain is healthy. */
export function ChainProblem({ chain, className }: { chain: WatchedChain; className: string }) {
  const text = chainProblem(chain, useNow());
  if (text === '') return null;
  return (
    <p
      data-cut
      className={clsx(
        'break-words',
        isChainDown(chain) ? 'text-bad' : chain.state === 'settling' ? 'text-warn' : 'text-muted',
        className,
      )}
    >
      {text}
    </p>
  );
}
