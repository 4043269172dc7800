import { formatCount } from '../../ui/text/format.ts';
import { attemptsIn, FAILURES, type HeatMap, type HeatRange, rangeOfCell } from './heatMap.ts';
import { RESULT_WORDS } from '../../words/attemptResults.ts';
import { nameOfColumns, nameOfRows } from './words.ts';

/** Maximum number of rows. */
const ROWS = 100;

/**
 * Shows the columns with attempts as rows, newest first, for those who cannot see or point at the
 * map.
 */
export function HeatTable({ map, onOpen }: { map: HeatMap; onOpen: (range: HeatRange) => void }) {
  const lastRow = map.rows.length - 1;
  const busy = Array.from({ length: map.columns }, (_, column) => column)
    .filter((column) => attemptsIn(map, { columns: [column, column], rows: [0, lastRow] }) > 0)
    .toReversed()
    .slice(0, ROWS);
  return (
    <div className="mt-2 max-h-80 overflow-auto">
      <table className="w-full max-w-220 border-collapse">
        <thead>
          <tr className="border-b border-line text-left">
            {[
              'Period',
              'Succeeded',
              'Response times',
              ...FAILURES.map((it) => RESULT_WORDS[it]),
            ].map((head, index) => (
              <th
                key={head}
                scope="col"
                className={`caps py-1 ${index === 0 ? '' : 'pl-3 text-right'}`}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {busy.map((column) => (
            <HeatTableRow key={column} map={map} column={column} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HeatTableRow({
  map,
  column,
  onOpen,
}: {
  map: HeatMap;
  column: number;
  onOpen: (range: HeatRange) => void;
}) {
  const columns = [column, column] as const;
  const has = ({ counts }: HeatMap['rows'][number], row: number): boolean =>
    row >= FAILURES.length && (counts[column] ?? 0) > 0;
  const rows = [map.rows.findIndex(has), map.rows.findLastIndex(has)] as const;
  const successes = { columns, rows };
  return (
    <tr className="border-b border-line">
      <th scope="row" className="data py-1 text-left font-normal whitespace-nowrap">
        {nameOfColumns(map, columns)}
      </th>
      <td className="pl-3 text-right">
        {rows[0] < 0 ? (
          '–'
        ) : (
          <CountButton count={attemptsIn(map, successes)} onOpen={() => onOpen(successes)} />
        )}
      </td>
      <td className="data pl-3 text-right whitespace-nowrap">
        {rows[0] < 0 ? '–' : nameOfRows(map, rows)}
      </td>
      {FAILURES.map((result, row) => {
        const count = map.rows[row]?.counts[column] ?? 0;
        return (
          <td key={result} className="pl-3 text-right">
            {count === 0 ? (
              '–'
            ) : (
              <CountButton count={count} onOpen={() => onOpen(rangeOfCell({ column, row }))} />
            )}
          </td>
        );
      })}
    </tr>
  );
}

function CountButton({ count, onOpen }: { count: number; onOpen: () => void }) {
  return (
    <button
      type="button"
      className="data min-h-6 min-w-6 text-right hover:underline"
      onClick={onOpen}
    >
      {formatCount(count)}
    </button>
  );
}
