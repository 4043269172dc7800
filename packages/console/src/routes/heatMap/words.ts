/** Describes parts of a heat map in words. */
import { formatDuration, formatQuantity } from '../../ui/text/format.ts';
import { formatPeriod } from '../../ui/text/formatPeriod.ts';
import { RESULT_WORDS } from '../../words/attemptResults.ts';
import { attemptsIn, type HeatMap, type HeatRange, periodOf } from './heatMap.ts';

/** Returns text such as `11 ms to 15 ms`, `over 15 s`, or the result of failures. */
export function nameOfRows({ rows }: HeatMap, [first, last]: HeatRange['rows']): string {
  const [slowest, fastest] = [rows[first]!, rows[last]!];
  if (fastest.result !== 'succeeded') return `failed: ${RESULT_WORDS[fastest.result]}`;
  if (slowest.toMs === null) return `over ${formatDuration(fastest.fromMs - 1)}`;
  if (fastest.fromMs === 0) return `up to ${formatDuration(slowest.toMs)}`;
  return fastest.fromMs === slowest.toMs
    ? formatDuration(slowest.toMs)
    : `${formatDuration(fastest.fromMs)} to ${formatDuration(slowest.toMs)}`;
}

export function nameOfColumns(map: HeatMap, columns: HeatRange['columns']): string {
  const { from, until } = periodOf(map, columns);
  return formatPeriod(from, until);
}

/** Describes a part in one line, for screen readers. */
export const describePart = (map: HeatMap, range: HeatRange): string =>
  [
    nameOfColumns(map, range.columns),
    nameOfRows(map, range.rows),
    formatQuantity(attemptsIn(map, range), 'attempt'),
  ].join(', ');
