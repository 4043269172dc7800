import { formatAgo, formatCount, formatDuration } from '../../ui/text/format.ts';
import { useNow } from '../../ui/text/clock.ts';
import type { Cell } from './lane.ts';
import type { LaneRange } from './laneView.tsx';
import type { RiverLane } from './riverData.ts';
import { factsOf, nameOfCell } from './words.ts';

/** Maximum number of rows per chain. */
const ROWS = 100;
const COLUMNS = ['Records', 'Delivered', 'Waiting', 'Retrying', 'Failed', 'Slowest'] as const;

interface Row {
  cell: Cell;
  row: number;
}

/** Returns the blocks or steps with something to report, newest first, with removed blocks. */
function rowsOf({ lane }: RiverLane): Row[] {
  const removed = lane.branches.flatMap(({ row, cells }) => cells.map((cell) => ({ cell, row })));
  return [...lane.cells.map((cell) => ({ cell, row: 0 })), ...removed]
    .filter(({ cell, row }) => cell.fill !== 'empty' || factsOf(lane, cell, { row }).length > 1)
    .toSorted((a, b) => b.cell.at - a.cell.at || a.row - b.row)
    .slice(0, ROWS);
}

/** Shows the lanes as tables, for those who cannot see or point at the river. */
export function RiverTable({
  lanes,
  onOpen,
}: {
  lanes: readonly RiverLane[];
  onOpen: (lane: RiverLane, range: LaneRange) => void;
}) {
  const now = useNow();
  return (
    <div className="mt-2 grid gap-4 overflow-x-auto">
      {lanes.map((each) => (
        <table key={each.chain.id} className="w-full max-w-220 border-collapse">
          <caption className="caps text-left">{each.chain.name}</caption>
          <thead>
            <tr className="border-b border-line text-left">
              <th scope="col" className="caps py-1">
                {each.lane.unit === 'block' ? 'Block' : 'Period'}
              </th>
              {each.lane.unit === 'block' && (
                <th scope="col" className="caps pl-3 text-right">
                  Age
                </th>
              )}
              {COLUMNS.map((head) => (
                <th key={head} scope="col" className="caps pl-3 text-right">
                  {head}
                </th>
              ))}
              <th scope="col" className="caps pl-3">
                Notes
              </th>
            </tr>
          </thead>
          <tbody>
            {rowsOf(each).map(({ cell, row }) => (
              <tr key={`${cell.at} ${row} ${cell.timeMs}`} className="border-b border-line">
                <th scope="row" className="data py-1 text-left font-normal whitespace-nowrap">
                  <button
                    type="button"
                    className="min-h-6 hover:underline"
                    onClick={() => onOpen(each, { from: cell.at, to: cell.until })}
                  >
                    {nameOfCell(each.lane, cell)}
                  </button>
                </th>
                {each.lane.unit === 'block' && (
                  <td className="data pl-3 text-right whitespace-nowrap">
                    {formatAgo(cell.timeMs, now)}
                  </td>
                )}
                {[
                  formatCount(cell.records),
                  formatCount(cell.delivered),
                  formatCount(cell.waiting),
                  formatCount(cell.retrying),
                  formatCount(cell.failed),
                  cell.slowestMs === null ? '–' : formatDuration(cell.slowestMs),
                ].map((text, index) => (
                  <td key={COLUMNS[index]} className="data pl-3 text-right whitespace-nowrap">
                    {text}
                  </td>
                ))}
                <td className="pl-3 text-12 text-muted">
                  {factsOf(each.lane, cell, { row })
                    .filter(({ tone }) => tone === 'reorg' || tone === 'warn')
                    .map(({ label, value }) => `${label} ${value}`)
                    .join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}
