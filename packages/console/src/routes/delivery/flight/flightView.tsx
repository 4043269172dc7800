import { clsx } from 'clsx';
import { Table2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Status, StatusShape } from '../../../ui/status.tsx';
import { formatLength } from '../../../ui/text/format.ts';
import { useZone } from '../../../ui/preferences.ts';
import { PairLink } from '../pairLink.tsx';
import { layOut, partAt, placeOf, type Place } from './axis.ts';
import {
  describePart,
  lengthOf,
  type Flight,
  type FlightLeg,
  type FlightMark,
  type FlightPart,
} from './flight.ts';
import { FlightTable } from './flightTable.tsx';

const percent = (share: number): string => `${share * 100}%`;

/**
 * Draws a flight on one axis. The pointer or the arrow keys select a part, which is described below;
 * a button shows all parts as a table.
 */
export function FlightView({
  flight,
  id,
}: {
  flight: Flight;
  /** ID of the delivery; null without one. */
  id: string | null;
}) {
  useZone();
  const [cursor, setCursor] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const parts = flight.legs.flatMap((leg) => leg.parts);
  const places = layOut(parts);
  const shown = cursor === null ? undefined : parts[Math.min(cursor, parts.length - 1)];
  return (
    <figure aria-label="Timing">
      <div className="relative mx-1">
        <Legs legs={flight.legs} places={places} />
        {cursor !== null && places[cursor] !== undefined && (
          <span
            aria-hidden="true"
            className="absolute inset-y-0 rounded-[2px] border-x border-accent bg-accent/16"
            style={{ left: percent(places[cursor].left), width: percent(places[cursor].width) }}
          />
        )}
        {flight.now !== null && (
          <span
            aria-hidden="true"
            className="absolute inset-y-0 border-l border-accent"
            style={{ left: percent(placeOf(flight.now, parts, places)) }}
          />
        )}
        <Cursor parts={parts} places={places} cursor={cursor} onMove={setCursor} />
        {flight.marks.map((mark) => (
          <Mark
            key={mark.twin?.id ?? 'end'}
            mark={mark}
            place={placeOf(mark.at, parts, places)}
            of={id}
          />
        ))}
      </div>
      <div className="flex min-h-7 items-center gap-2">
        {shown === undefined ? (
          <>
            <Status condition={flight.end} />
            <span className="min-w-0 truncate text-muted">{flight.summary}</span>
          </>
        ) : (
          <span className="data min-w-0 truncate">{describePart(shown)}</span>
        )}
        <Button
          variant="quiet"
          square
          className="ml-auto"
          aria-label="Show as table"
          aria-expanded={isTable}
          data-tip="Show as table"
          onClick={() => setTable(!isTable)}
        >
          <Table2 size={14} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </div>
      {isTable && <FlightTable flight={flight} />}
    </figure>
  );
}

/** Reserves the space of a flight while it loads. */
export const FlightSpace = () => <div className="h-21 pointer-coarse:h-25" />;

/** Draws the legs side by side: label, parts and duration. */
function Legs({ legs, places }: { legs: readonly FlightLeg[]; places: readonly Place[] }) {
  return (
    <div aria-hidden="true" className="flex">
      {legs.map((leg, index) => {
        const first = legs.slice(0, index).reduce((sum, { parts }) => sum + parts.length, 0);
        const its = places.slice(first, first + leg.parts.length);
        const width = its.reduce((sum, each) => sum + each.width, 0);
        const isFailed = leg.parts.some((part) => part.look !== 'check' && part.isFailed);
        const lengthMs = lengthOf(leg);
        return (
          <div
            key={index}
            className="relative min-w-0 border-l border-line"
            style={{ width: percent(width) }}
          >
            {leg.isPicked && (
              <span className="absolute inset-x-0 bottom-0 border-b-2 border-accent" />
            )}
            <Fitting className={clsx('text-12', isFailed ? 'text-bad' : 'text-muted')}>
              {leg.label}
            </Fitting>
            <div className="flex h-5 items-center">
              {leg.parts.map((part, n) => (
                <PartBar
                  key={n}
                  part={part}
                  isBroken={its[n]!.isBroken}
                  width={percent(its[n]!.width / width)}
                />
              ))}
            </div>
            <Fitting className="data text-faint">
              {lengthMs !== null && formatLength(lengthMs)}
            </Fitting>
          </div>
        );
      })}
    </div>
  );
}

/** Shows a text only if there is room for all of it: otherwise it wraps to a hidden line. */
function Fitting({ className, children }: { className: string; children: React.ReactNode }) {
  return (
    <div className={clsx('flex h-4.5 flex-wrap overflow-hidden pl-1', className)}>
      <span className="h-4.5 w-0" />
      <span className="whitespace-nowrap">{children}</span>
    </div>
  );
}

const LOOKS = {
  gap: 'h-0 border-t-2',
  ahead: 'h-0 border-t-2 border-dashed',
  setup: 'h-2.5 border',
  send: 'flight-bar h-2.5',
  receive: 'flight-bar h-2.5 opacity-50',
};

function PartBar({
  part,
  isBroken,
  width,
}: {
  part: FlightPart;
  isBroken: boolean;
  width: string;
}) {
  if (part.look === 'check') {
    return (
      <>
        <StatusShape condition={part.condition} />
        {part.isLast || <span className="min-w-0 flex-1 border-t-2 border-line-strong" />}
      </>
    );
  }
  const isQuiet = part.look === 'gap' || part.look === 'ahead';
  return (
    <span
      className={clsx(
        'relative border-current',
        isQuiet ? 'text-line-strong' : part.isFailed ? 'text-bad' : 'text-muted',
        LOOKS[part.look],
      )}
      style={{ width }}
    >
      {isBroken && <Break />}
    </span>
  );
}

/** Marks a break in the axis: two slanted lines across the line. */
function Break() {
  return (
    <svg viewBox="0 0 10 12" className="absolute -top-1.75 left-1/2 h-3 w-2.5 -translate-x-1/2">
      <path d="M1 12L5 0H9L5 12z" fill="var(--color-surface)" />
      <path d="M1 12L5 0M5 12L9 0" fill="none" stroke="var(--color-muted)" />
    </svg>
  );
}

/** Draws a moment, which links to the other delivery of the match if it is one. */
function Mark({
  mark: { condition, twin },
  place,
  of,
}: {
  mark: FlightMark;
  place: number;
  /** ID of the delivery whose flight is drawn; null without one. */
  of: string | null;
}) {
  const style = { left: percent(place) };
  const shape = (
    <span className="rounded-full bg-surface p-0.5">
      <StatusShape condition={condition} />
    </span>
  );
  if (twin === null) {
    return (
      <span
        aria-hidden="true"
        className="pointer-events-none absolute top-4.5 grid h-5 w-5 -translate-x-1/2 place-items-center"
        style={style}
      >
        {shape}
      </span>
    );
  }
  return (
    <span className="absolute top-4 -translate-x-1/2" style={style}>
      <PairLink
        of={of}
        pair={twin}
        label={`Open the ${twin.phase} delivery`}
        className="grid size-6 place-items-center rounded-control"
      >
        {shape}
      </PairLink>
    </span>
  );
}

const stepOf = (key: string, count: number): number | undefined =>
  ({ ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count })[key];

/** Covers the drawing, and selects a part with the pointer or the keys. */
function Cursor({
  parts,
  places,
  cursor,
  onMove,
}: {
  parts: readonly FlightPart[];
  places: readonly Place[];
  /** Index of the selected part; null for none. */
  cursor: number | null;
  onMove: (cursor: number | null) => void;
}) {
  const last = parts.length - 1;
  const at = Math.min(cursor ?? 0, last);
  const moveTo = ({ clientX, currentTarget }: React.PointerEvent): void => {
    const { left, width } = currentTarget.getBoundingClientRect();
    onMove(partAt((clientX - left) / width, places));
  };
  return (
    <div
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an input has no parts to draw
      role="slider"
      tabIndex={0}
      aria-label="Part"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={describePart(parts[at]!)}
      className="absolute inset-0 touch-pan-y rounded-[2px]"
      onKeyDown={(event) => {
        const step = stepOf(event.key, parts.length);
        if (step === undefined) return;
        event.preventDefault();
        onMove(cursor === null ? at : Math.max(0, Math.min(last, at + step)));
      }}
      onFocus={({ currentTarget }) => {
        if (currentTarget.matches(':focus-visible')) onMove(at);
      }}
      onBlur={() => onMove(null)}
      onPointerDown={moveTo}
      onPointerMove={moveTo}
      onPointerLeave={({ pointerType }) => {
        if (pointerType === 'mouse') onMove(null);
      }}
    />
  );
}
