import { formatQuantity } from '../../ui/text/format.ts';
import type { DoubtfulLine } from '@sluice/kit/operator';

const SHOWN = 5;

/** Warns of addresses that were accepted but may be mistakes. */
export function DoubtfulAddresses({ doubts }: { doubts: readonly DoubtfulLine[] }) {
  if (doubts.length === 0) return null;
  return (
    <div role="alert" className="mt-1 text-12 text-warn">
      <ul>
        {doubts.slice(0, SHOWN).map(({ line, address, reason }) => (
          <li key={line} className="wrap-anywhere">
            Line {line}: {reason}. <span className="data">{address}</span>
          </li>
        ))}
        {doubts.length > SHOWN && (
          <li>
            {formatQuantity(doubts.length - SHOWN, 'more address', 'more addresses')} to check.
          </li>
        )}
      </ul>
    </div>
  );
}
