import { useRef, useState } from 'react';
import type { LabeledRow } from './addressChange.ts';

type Selected = ReadonlyMap<string, LabeledRow>;

const NONE: Selected = new Map();

/** Selects or deselects a row. With `from`, selects all rows from `from` to the row, inclusive. */
export function selectRow(
  selected: Selected,
  rows: readonly LabeledRow[],
  row: LabeledRow,
  /** Address of the row at the other end of a range; null for a single row. */
  from: string | null,
): Selected {
  const next = new Map(selected);
  const start = from === null ? -1 : rows.findIndex(({ address }) => address === from);
  const end = rows.findIndex(({ address }) => address === row.address);
  if (start >= 0 && end >= 0) {
    for (const each of rows.slice(Math.min(start, end), Math.max(start, end) + 1)) {
      next.set(each.address, each);
    }
  } else if (!next.delete(row.address)) next.set(row.address, row);
  return next;
}

/**
 * Keeps the selected addresses and their labels, because undoing a removal restores the labels.
 * @param of identifies the list; in another list, no rows are selected.
 */
export function useSelection(of: string, rows: readonly LabeledRow[]) {
  const [state, setState] = useState({ of, selected: NONE });
  const selected = state.of === of ? state.selected : NONE;
  const last = useRef<string | null>(null);
  return {
    selected,
    select: (row: LabeledRow, through: boolean): void => {
      setState({ of, selected: selectRow(selected, rows, row, through ? last.current : null) });
      last.current = row.address;
    },
    selectAll: (all: readonly LabeledRow[]): void =>
      setState({ of, selected: new Map(all.map((row) => [row.address, row])) }),
    clear: (): void => setState({ of, selected: NONE }),
  };
}
