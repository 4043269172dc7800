import type { ChainCoverage } from '@sluice/kit/sluice';
import { useState } from 'react';
import { formatCount, formatQuantity } from '../../ui/text/format.ts';
import { Button } from '../../ui/button.tsx';
import { UnverifiedCodes } from '../../chains/unverifiedCodes.tsx';

/**
 * Number of ranges that are initially listed. A stream can have many, because each pause leaves a
 * hole.
 */
export const FIRST_RANGES = 20;
export const MORE_RANGES = 100;

/** Lists blocks that were matched although their data could not be completely verified. */
export function Unverified({ ranges }: { ranges: ChainCoverage['unverified'] }) {
  return (
    <Ranges
      label="Unverified blocks"
      renderTitle={(blocks) => (
        <p className="pt-2 text-12 text-warn">{formatQuantity(blocks, 'unverified block')}</p>
      )}
      ranges={ranges}
    >
      <UnverifiedCodes codes={[...new Set(ranges.flatMap(({ codes }) => codes))]} />
    </Ranges>
  );
}

/** Lists blocks that were searched for logs instead of read one by one. */
export function ByRange({ ranges }: { ranges: ChainCoverage['byRange'] }) {
  return (
    <Ranges
      label="Blocks by range"
      renderTitle={(blocks) => (
        <p className="pt-2 text-12 text-muted">
          {formatQuantity(blocks, 'block')} by range: searched for logs instead of read one by one
        </p>
      )}
      ranges={ranges}
    />
  );
}

/** Lists the newest ranges, and earlier ones on request. Renders nothing if there are none. */
function Ranges({
  label,
  renderTitle,
  ranges,
  children,
}: {
  /** Content between the title and the list. */
  children?: React.ReactNode;
  label: string;
  renderTitle: (blocks: number) => React.ReactNode;
  ranges: readonly { from: number; to: number; codes?: readonly string[] }[];
}) {
  const [most, setMost] = useState(FIRST_RANGES);
  if (ranges.length === 0) return null;
  return (
    <>
      {renderTitle(ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0))}
      {children}
      <ul aria-label={label}>
        {ranges.slice(-most).map(({ from, to, codes }) => (
          <li
            key={`${from} ${codes?.join(' ')}`}
            className="flex flex-wrap items-center gap-x-4 pt-1"
          >
            <span className="data">
              {from === to ? formatCount(from) : `${formatCount(from)} – ${formatCount(to)}`}
            </span>
            {codes !== undefined && <span className="text-muted">{codes.join(', ')}</span>}
          </li>
        ))}
      </ul>
      {ranges.length > most && (
        <Button variant="quiet" onClick={() => setMost(most + MORE_RANGES)}>
          Show more ({formatQuantity(ranges.length - most, 'earlier range')})
        </Button>
      )}
    </>
  );
}
