import { useMemo, useState } from 'react';
import { useCanvas } from '../../ui/canvas/canvas.ts';
import { placeCard } from '../../ui/canvas/placeCard.ts';
import { stepOfKey } from '../../ui/keys/stepKeys.ts';
import { formatQuantity } from '../../ui/text/format.ts';
import { type HeatInput, moveCursor, NO_CURSOR, rangeOf } from './cursor.ts';
import { cellAt, columnSpan, HEAT_HEIGHT, rowSpan } from './geometry.ts';
import { attemptsIn, type HeatMap, type HeatRange } from './heatMap.ts';
import { createHeatPainter } from './paintHeatMap.ts';
import { describePart, nameOfColumns, nameOfRows } from './words.ts';

/** Number of rows that the keys move. */
const ROW_KEYS: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

/**
 * Draws a heat map. A click or Enter opens the cell under the cursor; dragging, or Shift with the
 * arrow keys, selects a part, which is opened by releasing the pointer or Enter.
 */
export function HeatMapView({
  map,
  width,
  describedBy,
  onOpen,
}: {
  map: HeatMap;
  /** Width in pixels. */
  width: number;
  /** Id of the element that explains the keys. */
  describedBy: string;
  onOpen: (range: HeatRange) => void;
}) {
  const [moved, setCursor] = useState(NO_CURSOR);
  // The cursor may be beyond the end after a change to a period with fewer columns.
  const cursor = (moved.cell?.column ?? 0) < map.columns ? moved : NO_CURSOR;
  const canvas = useCanvas(
    createHeatPainter,
    useMemo(() => ({ map, cursor }), [map, cursor]),
    width,
  );
  const range = rangeOf(cursor);
  const move = (input: HeatInput): void => setCursor((now) => moveCursor(now, input, map));
  const find = ({ clientX, clientY, currentTarget }: React.PointerEvent) => {
    const { left, top } = currentTarget.getBoundingClientRect();
    return cellAt(map, clientX - left, clientY - top, width);
  };
  const open = (): void => {
    if (range !== undefined) onOpen(range);
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const { key, shiftKey } = event;
    const columns = stepOfKey(key, map.columns);
    const rows = ROW_KEYS[key];
    if (columns !== undefined || rows !== undefined) {
      move({ type: 'step', columns: columns ?? 0, rows: rows ?? 0, extends: shiftKey });
    } else if (key === 'Enter' && range !== undefined) open();
    else if (key === 'Escape' && range !== undefined) move({ type: 'clear' });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="relative" style={{ height: HEAT_HEIGHT }}>
      <div
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an input has no map to draw
        role="slider"
        tabIndex={0}
        aria-label="Response times"
        aria-valuemin={0}
        aria-valuemax={map.columns - 1}
        aria-valuenow={cursor.cell?.column ?? map.columns - 1}
        aria-valuetext={range === undefined ? 'nothing selected' : describePart(map, range)}
        aria-describedby={describedBy}
        className="absolute inset-0 cursor-crosshair touch-pan-y rounded-[2px] select-none"
        onKeyDown={onKeyDown}
        onBlur={() => move({ type: 'clear' })}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          move({ type: 'press', cell: find(event) });
        }}
        onPointerMove={(event) => move({ type: 'hover', cell: find(event) })}
        onPointerUp={() => {
          if (cursor.anchor === null) return;
          open();
          move({ type: 'clear' });
        }}
        onPointerCancel={() => move({ type: 'clear' })}
        onPointerLeave={() => {
          if (cursor.anchor === null) move({ type: 'clear' });
        }}
      >
        <canvas ref={canvas} aria-hidden="true" className="block size-full" />
      </div>
      {range !== undefined && <Card map={map} range={range} width={width} />}
    </div>
  );
}

/** Shows what the cursor is on: below it or, in the lower half of the map, above it. */
function Card({ map, range, width }: { map: HeatMap; range: HeatRange; width: number }) {
  const { y, height } = rowSpan(map, range.rows);
  const isBelow = y + height < HEAT_HEIGHT / 2;
  return (
    <div
      aria-hidden="true"
      className={`pointer-events-none absolute z-20 rounded-overlay border border-line bg-surface p-3 shadow-overlay ${isBelow ? '' : '-translate-y-full'}`}
      style={placeCard(columnSpan(map, range.columns, width), {
        width,
        top: isBelow ? y + height + 6 : y - 6,
      })}
    >
      <p className="data font-medium">{nameOfColumns(map, range.columns)}</p>
      <p className="mt-1 flex justify-between gap-3 text-12">
        <span className="text-muted">{nameOfRows(map, range.rows)}</span>
        <span className="data">{formatQuantity(attemptsIn(map, range), 'attempt')}</span>
      </p>
    </div>
  );
}
