/** Describes the cells of a lane in words. */
import { formatCount, formatDuration, formatQuantity } from '../../ui/text/format.ts';
import { formatPeriod } from '../../ui/text/formatPeriod.ts';
import { type Cell, hatchAt, type Lane, type Point } from './lane.ts';

/** A fact of a cell, such as `delivered: 2`. */
export interface Fact {
  label: string;
  value: string;
  tone?: 'bad' | 'warn' | 'reorg' | undefined;
}

/** Returns the name of a cell, such as `Block 23,835,256` or `2026-11-30 10:00:00 to 10:59:59`. */
export function nameOfCell({ unit }: Lane, { at, until }: Pick<Cell, 'at' | 'until'>): string {
  if (unit === 'block') return `Block ${formatCount(at)}`;
  return formatPeriod(at, until);
}

/** Returns the facts of a cell, records first. Counts of zero are left out. */
export function factsOf(lane: Lane, cell: Cell, { row }: Pick<Point, 'row'>): Fact[] {
  const facts: Fact[] = [];
  const add = (label: string, value: string, tone?: Fact['tone']): void => {
    facts.push({ label, value, tone });
  };
  const count = (label: string, n: number, tone?: Fact['tone']): void => {
    if (n > 0) add(label, formatCount(n), tone);
  };
  if (row > 0) add('left the chain', 'reorg', 'reorg');
  add('records', cell.fill === 'unknown' ? 'loading' : formatCount(cell.records));
  count('delivered', cell.delivered);
  count('waiting', cell.waiting);
  count('retrying', cell.retrying, 'bad');
  count(lane.unit === 'block' ? 'failed' : 'failed attempts', cell.failed, 'bad');
  count('cancelled', cell.cancelled, 'reorg');
  count('undone', cell.undone, 'reorg');
  if (cell.slowestMs !== null) add('slowest', formatDuration(cell.slowestMs));
  if (cell.reorgs.length > 0) {
    const depth = Math.max(...cell.reorgs.map((reorg) => reorg.depth));
    add(formatQuantity(cell.reorgs.length, 'reorg'), formatQuantity(depth, 'block'), 'reorg');
  }
  if (cell.codes.length > 0) add('unverified', cell.codes.join(', '), 'warn');
  const hatch = row === 0 ? hatchAt(lane, cell) : undefined;
  if (hatch !== undefined) add('gap', hatch.why, hatch.isMissed ? 'warn' : undefined);
  return facts;
}

/** Describes a cell in one line, for screen readers. */
export const describeCell = (lane: Lane, cell: Cell, point: Pick<Point, 'row'>): string =>
  [
    nameOfCell(lane, cell),
    ...factsOf(lane, cell, point).map(({ label, value }) => `${label} ${value}`),
  ].join(', ');
