/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a single element draws the checkbox, because a list has hundreds of rows */
import { useCallback, useRef, useState } from 'react';
import { useShortcuts } from '../keys/keyboard.ts';
import { markRange, toggleMark } from './marks.ts';

const NONE: ReadonlySet<string> = new Set();

/**
 * Selects rows that an action applies to. Space selects or deselects the current row; `Shift J` and
 * `Shift K` extend the selection.
 */
export function useRowMarks({
  rows,
  current,
  move,
}: {
  /** Rows in the order of the list. */
  rows: readonly { id: string }[];
  /** Returns the id of the current row, to which keys apply. */
  current: () => string | undefined;
  /** @returns the id of the new current row; undefined if the list is empty. */
  move: (step: 1 | -1) => string | undefined;
}): {
  marks: ReadonlySet<string>;
  /** @param through selects all rows from the last selected or deselected one to this one. */
  onMark: (id: string, through: boolean) => void;
  clear: () => void;
} {
  const [marks, setMarks] = useState(NONE);
  /** Id of the row that was last selected or deselected, where a range starts. */
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
      // Space on a focused button presses the button.
      if (id === undefined || document.activeElement?.closest('button') != null) return false;
      onMark(id, false);
      return true;
    },
  });
  return { marks, onMark, clear: () => setMarks(NONE) };
}

/** A checkbox in a row for pointer users. Keyboard users press Space on the row. */
export function RowMark({
  id,
  label,
  marked,
  onMark,
}: {
  id: string;
  /** Name of the row, which is part of the checkbox's accessible name. */
  label: string;
  marked: boolean;
  onMark: (id: string, through: boolean) => void;
}) {
  return (
    <button
      type="button"
      role="checkbox"
      aria-checked={marked}
      aria-label={`Select ${label}`}
      data-tip="Select (Space)"
      tabIndex={-1}
      className="mark"
      // Keeps the focus where it is, so that the current row does not change.
      onMouseDown={(event) => event.preventDefault()}
      onClick={(event) => onMark(id, event.shiftKey)}
    />
  );
}
