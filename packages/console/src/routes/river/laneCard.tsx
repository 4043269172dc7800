import { formatAgo } from '../../ui/text/format.ts';
import { useNow } from '../../ui/text/clock.ts';
import { type Cell, type Lane, type Point } from './lane.ts';
import { factsOf, nameOfCell } from './words.ts';

const TONES = { bad: 'text-bad', warn: 'text-warn', reorg: 'text-reorg' } as const;

/** Shows the facts of the block or step at the cursor. */
export function LaneCard({ lane, cell, point }: { lane: Lane; cell: Cell; point: Point }) {
  const now = useNow();
  return (
    <>
      <p className="flex items-baseline justify-between gap-3">
        <span className="data font-medium">{nameOfCell(lane, cell)}</span>
        {lane.unit === 'block' && (
          <span className="data whitespace-nowrap text-faint">{formatAgo(cell.timeMs, now)}</span>
        )}
      </p>
      <dl className="mt-1 grid grid-cols-[auto_1fr] gap-x-4 text-12">
        {factsOf(lane, cell, point).map(({ label, value, tone }) => (
          <div key={label} className="contents">
            <dt className="text-faint">{label}</dt>
            <dd className={`text-right break-words ${tone === undefined ? '' : TONES[tone]}`}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
