/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a table element would lay out all of its rows together */
import type { DeliverySummary, StreamSummary } from '@sluice/kit/sluice';
import { clsx } from 'clsx';
import { useImperativeHandle, useMemo, useRef, useState } from 'react';
import { useToday } from '../../../ui/text/clock.ts';
import { useLoading } from '../../../ui/keys/heldKeys.ts';
import type { PairOf } from './deliveryPairs.ts';
import { formatCount, formatDateTime } from '../../../ui/text/format.ts';
import { findRow, KEPT_ROWS, placeOf } from '../../../data/live/liveCache.ts';
import type { WatchedChain } from '../../../chains/timeline.ts';
import { SECOND_LINE_PX } from '../../../ui/list/density.ts';
import { useNarrow } from '../../../ui/narrow.ts';
import { useTallRowPx, useRowPx, useZone } from '../../../ui/preferences.ts';
import { Button } from '../../../ui/button.tsx';
import { createRowSlots } from '../../../ui/list/rowSlots.ts';
import { useRowWindow } from '../../../ui/list/rowWindow.ts';
import { nameOfDestination } from '../../../words/destinations.ts';
import { columnsOf, DeliveryRow } from './deliveryRow.tsx';
import './deliveryTable.css';

/** Width of the list below which each row has two lines. */
const TWO_LINES_BELOW_PX = 690;
/** Number of scrolled pixels beyond which the list is no longer at the top. */
const SCROLLED_PX = 8;

export interface DeliveryTableHandle {
  scrollToTop: () => void;
  scrollToRow: (id: string) => void;
  focusRow: (id: string) => void;
}

/** Lists deliveries. Renders only the rows on screen and a few around them. */
export function DeliveryTable({
  rows,
  pairOf,
  streams,
  chains,
  loading,
  selected,
  marks,
  hrefOf,
  onSelect,
  onMark,
  ofOneStream,
  more,
  onScrolled,
  onUsed,
  empty,
  ref,
}: {
  rows: readonly DeliverySummary[];
  pairOf: PairOf;
  streams: readonly StreamSummary[];
  chains: readonly WatchedChain[];
  loading: boolean;
  selected: string | undefined;
  marks: ReadonlySet<string>;
  hrefOf: (id: string) => string;
  onSelect: (id: string) => void;
  /** @param through whether to also select the rows between this one and the last selected one. */
  onMark: (id: string, through: boolean) => void;
  ofOneStream: boolean;
  more: {
    load: () => void;
    loading: boolean;
    /**
     * Creation time of the last delivery that an incomplete search has checked, in Unix
     * milliseconds.
     */
    searchedTo: number | undefined;
  } | null;
  /**
   * Reports whether the user has scrolled away from the newest row, and whether the rows fill at
   * least two screens.
   */
  onScrolled: (away: boolean, isLong: boolean) => void;
  /** Reports whether the pointer or the focus is on the rows. */
  onUsed: (isUsed: boolean) => void;
  /** Content to show if the list is empty. */
  empty: React.ReactNode;
  ref: React.Ref<DeliveryTableHandle>;
}) {
  const zone = useZone();
  const today = useToday();
  const [isNarrow, watchWidth] = useNarrow(TWO_LINES_BELOW_PX);
  const rowPx = useRowPx();
  const tallRowPx = useTallRowPx(SECOND_LINE_PX);
  const rowHeight = isNarrow ? tallRowPx : rowPx;
  const { scroller, list, first, end, style, scrollToRow } = useRowWindow<
    HTMLDivElement,
    HTMLDivElement
  >(rows.length, rowHeight);

  /** @returns whether the row is rendered and took the focus. */
  const focus = (id: string): boolean => {
    const row = scroller.current?.querySelector<HTMLElement>(`[data-row-link="${id}"]`);
    row?.focus();
    return row instanceof HTMLElement;
  };
  useImperativeHandle(ref, () => ({
    scrollToTop: () => scroller.current?.scrollTo({ top: 0 }),
    scrollToRow: (id) => scrollToRow(placeOf(rows, id)),
    focusRow: (id) => {
      scrollToRow(placeOf(rows, id));
      // Focuses the row at once, so that the next key applies to it. A row off the screen is
      // rendered by the scroll, so it is focused in the next frame.
      if (!focus(id)) requestAnimationFrame(() => focus(id));
    },
  }));

  const codes = useMemo(() => new Map(chains.map(({ id, code }) => [id, code])), [chains]);
  const streamOf = useMemo(() => new Map(streams.map((each) => [each.id, each])), [streams]);
  const destinationOf = ({ streamId, destination }: DeliverySummary): string | undefined =>
    destination === undefined
      ? undefined
      : `Destination ${nameOfDestination(destination, streamOf.get(streamId))}`;
  const selectedRow = findRow(rows, selected);
  const selectedPair = selectedRow && pairOf(selectedRow)?.id;
  const use = useUse(onUsed);
  const [rowSlots] = useState(createRowSlots);
  const drawn = rows.slice(first, end);
  const slots = rowSlots.place(drawn.map(({ id }) => id));
  return (
    <div
      ref={scroller}
      className={clsx(
        'delivery-list min-h-0 flex-1 overflow-x-hidden overflow-y-auto [overflow-anchor:none] [scrollbar-gutter:stable]',
        ofOneStream && 'of-one-stream',
        isNarrow && 'of-two-lines',
      )}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
        onScrolled(scrollTop > SCROLLED_PX, scrollHeight > 2 * clientHeight)
      }
    >
      <div ref={watchWidth} role="table" aria-label="Deliveries" aria-rowcount={rows.length + 1}>
        <div
          role="rowgroup"
          className={clsx('sticky top-0 z-1 border-b border-line bg-bg', isNarrow && 'sr-only')}
        >
          <div role="row" aria-rowindex={1} className="delivery-grid h-8 items-center pr-4 pl-7">
            <span role="columnheader" className="sr-only max-md:hidden">
              Selected
            </span>
            {columnsOf(ofOneStream).map(({ label, numeric, className, isOfSigns }) => (
              <span
                key={label}
                role="columnheader"
                className={clsx('caps', numeric && 'text-right', className)}
              >
                {isOfSigns === true ? <span className="sr-only">{label}</span> : label}
              </span>
            ))}
          </div>
        </div>
        <div ref={list} role="rowgroup" style={style} {...use}>
          {drawn.map((row, index) => (
            <DeliveryRow
              key={slots.get(row.id)}
              row={row}
              pair={pairOf(row)}
              destination={destinationOf(row)}
              chainCode={codes.get(row.chainId) ?? row.chainId}
              rowIndex={first + index + 2}
              selected={row.id === selected}
              marked={marks.has(row.id)}
              onMark={onMark}
              paired={row.id === selectedPair}
              href={hrefOf(row.id)}
              onSelect={onSelect}
              ofOneStream={ofOneStream}
              today={today}
              zone={zone}
            />
          ))}
        </div>
      </div>
      {loading && <SkeletonRows height={rowHeight} />}
      {!loading && rows.length === 0 && empty}
      {more !== null && (
        <div className="flex items-center gap-3 px-4 py-2">
          <Button onClick={more.load} disabled={more.loading}>
            {more.loading ? 'Loading' : 'Show more'}
          </Button>
          <span className="text-12 text-faint">
            {formatCount(rows.length)} shown
            {more.searchedTo !== undefined && `, searched to ${formatDateTime(more.searchedTo)}`}
          </span>
        </div>
      )}
      {rows.length >= KEPT_ROWS && (
        <p className="px-4 py-2 text-12 text-faint">
          Only the newest {formatCount(KEPT_ROWS)} deliveries are listed. Filter to find older ones.
        </p>
      )}
    </div>
  );
}

/** Returns event handlers that report whether the mouse or the focus is within an element. */
function useUse(onUsed: (isUsed: boolean) => void) {
  const use = useRef({ pointer: false, focus: false });
  const set = (change: Partial<typeof use.current>): void => {
    Object.assign(use.current, change);
    onUsed(use.current.pointer || use.current.focus);
  };
  return {
    // Ignores touches, which leave no pointer over the rows.
    onPointerEnter: ({ pointerType }: React.PointerEvent) =>
      set({ pointer: pointerType === 'mouse' }),
    onPointerLeave: () => set({ pointer: false }),
    onFocus: () => set({ focus: true }),
    onBlur: () => set({ focus: false }),
  };
}

function SkeletonRows({ height }: { height: number }) {
  useLoading();
  return (
    <div aria-hidden="true" className="animate-late">
      {Array.from({ length: 12 }, (_, index) => (
        <div
          key={index}
          className="flex items-center gap-6 border-b border-line px-4"
          style={{ height: `${height}px` }}
        >
          <div className="h-2.5 w-24 rounded-[2px] bg-line" />
          <div className="h-2.5 flex-1 rounded-[2px] bg-raised" />
        </div>
      ))}
    </div>
  );
}
