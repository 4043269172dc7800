/* oxlint-disable jsx-a11y/prefer-tag-over-role -- one element that draws its own box, because a list has hundreds of rows */
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
  /** The current row, which keys apply to. */
  current: () => string | undefined;
  /** @returns the new current row. */
  move: (step: 1 | -1) => string | undefined;
}): {
  marks: ReadonlySet<string>;
  /** @param through also selects the rows between this one and the last selected one. */
  onMark: (id: string, through: boolean) => void;
  clear: () => void;
} {
  const [marks, setMarks] = useState(NONE);
  /** Start of a range: the row that was selected or left last. */
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
      // Ignores Space on a focused button, because it presses the button.
      if (id === undefined || document.activeElement?.closest('button') != null) return false;
      onMark(id, false);
      return true;
    },
  });
  return { marks, onMark, clear: () => setMarks(NONE) };
}

/** A checkbox next to the row for pointer users; keyboard users press Space on the row. */
export function RowMark({
  id,
  label,
  marked,
  onMark,
}: {
  id: string;
  /** Accessible name of the row. */
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
      title="Select (Space)"
      tabIndex={-1}
      className="mark"
      // Keeps the focused row as the current one.
      onMouseDown={(event) => event.preventDefault()}
      onClick={(event) => onMark(id, event.shiftKey)}
    />
  );
}
