import { useMemo, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { useCanvas } from '../../ui/canvas/canvas.ts';
import { placeCard } from '../../ui/canvas/placeCard.ts';
import { stepOfKey } from '../../ui/keys/stepKeys.ts';
import { type LaneCursor, type LaneInput, moveCursor, NO_CURSOR } from './cursor.ts';
import { LANE_HEIGHT, pointAt, spanOf } from './geometry.ts';
import { cellAt, type Cell, type Lane } from './lane.ts';
import { LaneCard } from './laneCard.tsx';
import { createLanePainter } from './lanePainter.ts';
import { describeCell, nameOfCell } from './words.ts';

/** An inclusive range of a lane, in units of `Cell.at` and `Cell.until`. */
export interface LaneRange {
  from: number;
  to: number;
}

/**
 * Draws a lane. A click or Enter opens the block or step under the cursor; dragging, or Shift with
 * the arrow keys, selects a range and shows its actions.
 */
export function LaneView({
  lane,
  width,
  name,
  describedBy,
  onOpen,
  onReplay,
  onBackfill,
}: {
  lane: Lane;
  /** Width in pixels. */
  width: number;
  name: string;
  /** Id of the element that explains the keys. */
  describedBy: string;
  onOpen: (range: LaneRange) => void;
  onReplay: (range: LaneRange) => void;
  /** Undefined if no backfill is offered. */
  onBackfill: ((range: LaneRange) => void) | undefined;
}) {
  const panel = useRef<HTMLFieldSetElement>(null);
  const [cursor, setCursor] = useState<LaneCursor>(NO_CURSOR);
  const { point, range } = cursor;
  const canvas = useCanvas(
    createLanePainter,
    useMemo(() => ({ lane, cursor: point, range }), [lane, point, range]),
    width,
  );

  const move = (input: LaneInput): void => setCursor((now) => moveCursor(now, input, lane));
  const cell = point === null ? undefined : cellAt(lane, point);
  const newest = lane.cells.at(-1);
  const shown = cell ?? newest;
  const close = (): void => {
    move({ type: 'clear' });
    canvas.current?.parentElement?.focus();
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const { key, shiftKey } = event;
    const by = stepOfKey(key, lane.cells.length);
    if (by !== undefined) move({ type: 'step', by, extends: shiftKey });
    else if (key === 'ArrowUp' || key === 'ArrowDown') {
      move({ type: 'row', by: key === 'ArrowDown' ? 1 : -1 });
    } else if (key === 'Enter' && range !== null) panel.current?.querySelector('button')?.focus();
    else if (key === 'Enter' && cell !== undefined) onOpen(rangeOfCell(cell));
    else if (key === 'Escape' && point !== null) move({ type: 'clear' });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const find = ({ clientX, clientY, currentTarget }: React.PointerEvent) => {
    const { left, top } = currentTarget.getBoundingClientRect();
    return pointAt(lane, clientX - left, clientY - top, width);
  };
  const hover = (event: React.PointerEvent): void => {
    const found = find(event);
    if (found !== null) move({ type: 'hover', point: found });
    else if (cursor.anchor === null && range === null) move({ type: 'clear' });
  };
  return (
    <div
      className="relative"
      style={{ height: LANE_HEIGHT }}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) move({ type: 'clear' });
      }}
    >
      <div
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an input has no range to draw
        role="slider"
        tabIndex={0}
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, lane.cells.length - 1)}
        aria-valuenow={shown === undefined ? 0 : lane.cells.findIndex(({ at }) => at === shown.at)}
        aria-valuetext={
          shown === undefined
            ? 'no blocks yet'
            : range === null
              ? describeCell(lane, shown, point ?? { row: 0 })
              : nameOfRange(lane, range)
        }
        aria-describedby={describedBy}
        className="absolute inset-0 cursor-crosshair touch-pan-y rounded-[2px] select-none"
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          const found = event.button === 0 ? find(event) : null;
          if (found === null) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          move({ type: 'press', point: found });
        }}
        onPointerMove={hover}
        onPointerUp={() => {
          if (cursor.anchor === null) return;
          move({ type: 'release' });
          if (range === null && cell !== undefined) onOpen(rangeOfCell(cell));
        }}
        onPointerCancel={() => move({ type: 'clear' })}
        onPointerLeave={() => {
          if (cursor.anchor === null && range === null) move({ type: 'clear' });
        }}
      >
        <canvas ref={canvas} aria-hidden="true" className="block size-full" />
      </div>
      {range !== null && cursor.point !== null && (
        <fieldset
          ref={panel}
          aria-label={nameOfRange(lane, range)}
          className="absolute z-20 rounded-overlay border border-line bg-surface p-3 shadow-overlay"
          style={cardPlace(lane, range, width)}
        >
          <p className="data font-medium">{nameOfRange(lane, range)}</p>
          <RangeActions
            range={toEnds(lane, range)}
            onOpen={onOpen}
            onReplay={onReplay}
            onBackfill={onBackfill}
            onClose={close}
          />
        </fieldset>
      )}
      {range === null && point !== null && cell !== undefined && (
        <div
          aria-hidden="true"
          className="pointer-events-none absolute z-20 rounded-overlay border border-line bg-surface p-3 shadow-overlay"
          style={cardPlace(lane, { from: point.at, to: point.at }, width)}
        >
          <LaneCard lane={lane} cell={cell} point={point} />
        </div>
      )}
    </div>
  );
}

/** Shows the actions of a selected range. Escape in any of them clears the selection. */
function RangeActions({
  range,
  onOpen,
  onReplay,
  onBackfill,
  onClose,
}: {
  range: LaneRange;
  onOpen: (range: LaneRange) => void;
  onReplay: (range: LaneRange) => void;
  onBackfill: ((range: LaneRange) => void) | undefined;
  onClose: () => void;
}) {
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onClose();
  };
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      <Button onKeyDown={onKeyDown} onClick={() => onOpen(range)}>
        Show deliveries
      </Button>
      <Button onKeyDown={onKeyDown} onClick={() => onReplay(range)}>
        Replay…
      </Button>
      {onBackfill !== undefined && (
        <Button onKeyDown={onKeyDown} onClick={() => onBackfill(range)}>
          Backfill…
        </Button>
      )}
      <Button variant="quiet" onKeyDown={onKeyDown} onClick={onClose}>
        Cancel
      </Button>
    </div>
  );
}

const rangeOfCell = ({ at, until }: Cell): LaneRange => ({ from: at, to: until });

/** Includes the last step completely. */
const toEnds = (lane: Lane, { from, to }: LaneRange): LaneRange => ({
  from,
  to: cellAt(lane, { at: to, row: 0 })?.until ?? to,
});

const nameOfRange = (lane: Lane, range: LaneRange): string => {
  const { from, to } = toEnds(lane, range);
  if (lane.unit === 'step') return nameOfCell(lane, { at: from, until: to });
  return `${nameOfCell(lane, { at: from, until: from })} to ${to.toLocaleString('en-US')}`;
};

/** Places the card below the lane, centered under the range. */
const cardPlace = (lane: Lane, range: LaneRange, width: number): React.CSSProperties =>
  placeCard(spanOf(lane, range, width), { width, top: LANE_HEIGHT });
