import { useState } from 'react';
import { stepOfKey } from '../keys/stepKeys.ts';
import { indexAt } from './chart.ts';

/** Distance in pixels after which a pressed pointer selects a range instead of a step. */
const DRAG_PX = 6;
/**
 * Covers the charts, and selects a step on their time axis or, by dragging or with Shift and the
 * arrow keys, a range. Releasing the pointer or pressing Enter opens the step or zooms to the
 * range.
 */
export function TimeCursor({
  count,
  cursor,
  describedBy,
  describe,
  onMove,
  onOpen,
  onZoom,
  onZoomOut,
}: {
  /** Number of steps. */
  count: number;
  /** Index of the selected step; null if no step is selected. */
  cursor: number | null;
  /** Id of the element that explains the keys. */
  describedBy: string;
  /** Text of a step for screen readers. */
  describe: (index: number) => string;
  onMove: (cursor: number | null) => void;
  onOpen: (index: number) => void;
  onZoom: (from: number, to: number) => void;
  /** Zooms out; null if the charts are not zoomed in. */
  onZoomOut: (() => void) | null;
}) {
  const [anchor, setAnchor] = useState<{ index: number; x: number } | null>(null);
  const at = Math.min(cursor ?? count - 1, count - 1);
  const range =
    anchor === null || anchor.index === at
      ? null
      : { from: Math.min(anchor.index, at), to: Math.max(anchor.index, at) };
  const placeOf = (index: number): number => (count < 2 ? 0 : (index / (count - 1)) * 100);
  const indexOf = ({ clientX, currentTarget }: React.PointerEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return indexAt(count, (clientX - left) / width);
  };
  const finish = (): void => {
    setAnchor(null);
    if (range === null) onOpen(at);
    else onZoom(range.from, range.to);
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const { key, shiftKey } = event;
    const step = stepOfKey(key, count);
    if (step !== undefined) {
      setAnchor(shiftKey ? (anchor ?? { index: at, x: 0 }) : null);
      onMove(Math.max(0, Math.min(count - 1, at + step)));
    } else if (key === 'Enter') finish();
    else if (key === 'Escape' && anchor !== null) setAnchor(null);
    else if (key === 'Escape' && onZoomOut !== null) onZoomOut();
    else return;
    event.preventDefault();
  };
  return (
    <div
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an input has no range to draw
      role="slider"
      tabIndex={0}
      aria-label="Time"
      aria-valuemin={0}
      aria-valuemax={count - 1}
      aria-valuenow={at}
      aria-valuetext={
        range === null ? describe(at) : `${describe(range.from)} to ${describe(range.to)}`
      }
      aria-describedby={describedBy}
      className="absolute inset-y-0 left-0 w-chart cursor-crosshair touch-pan-y rounded-[2px] select-none"
      onKeyDown={onKeyDown}
      onBlur={() => {
        setAnchor(null);
        onMove(null);
      }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const index = indexOf(event);
        setAnchor({ index, x: event.clientX });
        onMove(index);
      }}
      onPointerMove={(event) => {
        const isDrag = anchor === null || Math.abs(event.clientX - anchor.x) > DRAG_PX;
        if (isDrag) onMove(indexOf(event));
      }}
      onPointerUp={() => {
        if (anchor !== null) finish();
      }}
      onPointerCancel={() => setAnchor(null)}
      onPointerLeave={() => {
        if (anchor === null) onMove(null);
      }}
    >
      {range !== null && (
        <span
          className="absolute inset-y-0 bg-accent/16"
          style={{
            left: `${placeOf(range.from)}%`,
            width: `${placeOf(range.to) - placeOf(range.from)}%`,
          }}
        />
      )}
    </div>
  );
}
