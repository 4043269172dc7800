/* oxlint-disable jsx-a11y/prefer-tag-over-role -- one element that draws its own box: rows come by the hundred */
import { useCallback, useRef, useState } from 'react';
import { useShortcuts } from '../keys/keyboard.ts';
import { markRange, toggleMark } from './marks.ts';

const NONE: ReadonlySet<string> = new Set();

/**
 * Rows that are marked, to do one thing with all of them: the space bar marks the row that the keys mean
 * and takes the mark back, `Shift J` and `Shift K` mark as one goes.
 */
export function useRowMarks({
  rows,
  current,
  move,
}: {
  /** As they are listed. */
  rows: readonly { id: string }[];
  /** The row that the keys mean. */
  current: () => string | undefined;
  /** @returns the row that is now the one the keys mean. */
  move: (step: 1 | -1) => string | undefined;
}): {
  marks: ReadonlySet<string>;
  /** @param through with those between this row and the one marked before. */
  onMark: (id: string, through: boolean) => void;
  clear: () => void;
} {
  const [marks, setMarks] = useState(NONE);
  /** Where a range begins: the row that was marked last, or left. */
  const last = useRef<string | null>(null);
  const onMark = useCallback(
    (id: string, through: boolean): void => {
      const from = last.current;
      last.current = id;
      setMarks((now) =>
        through && from !== null ? markRange(now, rows, from, id) : toggleMark(now, id),
      );
    },
    [rows],
  );
  const moveMarking = (step: 1 | -1): void => {
    const from = current();
    const to = move(step);
    if (to === undefined) return;
    last.current = to;
    setMarks(markRange(marks, rows, from ?? to, to));
  };
  useShortcuts({
    J: () => moveMarking(1),
    K: () => moveMarking(-1),
    ' ': () => {
      const id = current();
      // A button that has the focus is pressed by it.
      if (id === undefined || document.activeElement?.closest('button') != null) return false;
      onMark(id, false);
      return true;
    },
  });
  return { marks, onMark, clear: () => setMarks(NONE) };
}

/** Beside the row for a pointer; by keyboard it is the space bar, on the row itself. */
export function RowMark({
  id,
  label,
  marked,
  onMark,
}: {
  id: string;
  /** What it marks. */
  label: string;
  marked: boolean;
  onMark: (id: string, through: boolean) => void;
}) {
  return (
    <button
      type="button"
      role="checkbox"
      aria-checked={marked}
      aria-label={`Mark ${label}`}
      title="Mark Space"
      tabIndex={-1}
      className="mark"
      // The keys go on meaning the row that has the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={(event) => onMark(id, event.shiftKey)}
    />
  );
}
