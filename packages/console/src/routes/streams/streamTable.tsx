import type { DeliverySummary, StreamSummary } from '@sluice/kit/sluice';
import { memo, useImperativeHandle, useRef } from 'react';
import type { Condition } from '../../ui/status.tsx';
import { SECOND_LINE_PX } from '../../ui/list/density.ts';
import type { FleetStream } from '../../data/fleet.ts';
import { formatCount } from '../../ui/text/format.ts';
import { useMedia } from '../../ui/media.ts';
import { useTallRowPx, useRowPx, useAgeStyle, type AgeStyle } from '../../ui/preferences.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import { focusedRow } from '../../ui/keys/actionList.tsx';
import { useUnevenRows } from '../../ui/list/unevenRows.ts';
import { StreamRow, StreamRowSkeleton } from './streamRow.tsx';

const SKELETON_ROWS = 6;
/**
 * Estimated height of a one-line reason, in pixels. Most reasons with the tone `bad` have buttons.
 */
const REASON_HEIGHTS: Partial<Record<Condition['tone'], number>> = { bad: 37, warn: 28 };
/**
 * Numbers of characters in the widest values of two columns: `59m ago` or `11-05 09:04` for the
 * last delivery, and `999 ms` for p95.
 */
const AGO_CHARACTERS = { relative: 7, absolute: 11 };
const DURATION_CHARACTERS = 6;
/** Gap between two chain codes, in characters. */
const CHAIN_GAP = 1.2;

interface Column {
  label: string;
  className: string;
  /** Class that hides the label visually, always or only on narrow screens. */
  isSilent?: string;
  /**
   * Returns the width of the widest cell in characters. Includes rows that are not rendered, so
   * that scrolling does not change the column.
   */
  widest?: (
    rows: readonly FleetStream[],
    chains: ReadonlyMap<string, WatchedChain>,
    ageStyle: AgeStyle,
  ) => number;
}

const widestCount =
  (read: (stream: StreamSummary) => number): NonNullable<Column['widest']> =>
  (rows) =>
    formatCount(rows.reduce((most, { stream }) => Math.max(most, read(stream)), 0)).length;

const COLUMNS: readonly Column[] = [
  { label: 'State', className: 'caps w-8 pl-4 sm:w-28', isSilent: 'max-sm:sr-only' },
  { label: 'Stream', className: 'caps w-full px-2' },
  {
    label: 'Chains',
    className: 'caps px-2 max-md:hidden',
    widest: (rows, chains) =>
      rows.reduce((most, { stream }) => {
        const codes = stream.chainIds.map((id) => chains.get(id)?.code ?? id);
        return Math.max(most, codes.join('').length + (codes.length - 1) * CHAIN_GAP);
      }, 0),
  },
  { label: 'Last 60 blocks', className: 'caps px-2 whitespace-nowrap max-lg:hidden' },
  { label: 'Last 24 h', className: 'caps px-2 whitespace-nowrap max-lg:hidden' },
  {
    label: 'Delivered',
    className: 'caps px-2 text-right whitespace-nowrap max-sm:hidden',
    widest: widestCount(({ delivered24h }) => delivered24h),
  },
  {
    label: 'Failed attempts',
    className: 'caps px-2 text-right whitespace-nowrap',
    widest: widestCount(({ failedAttempts24h }) => failedAttempts24h),
  },
  {
    label: 'p95',
    className: 'caps px-2 text-right max-md:hidden',
    widest: () => DURATION_CHARACTERS,
  },
  {
    label: 'Queue',
    className: 'caps px-2 text-right max-sm:hidden',
    widest: widestCount(({ queue }) => queue),
  },
  {
    label: 'Last',
    className: 'caps px-2 text-right max-sm:hidden',
    widest: (_rows, _chains, ageStyle) => AGO_CHARACTERS[ageStyle],
  },
  { label: 'Actions', className: 'w-12 pr-2 sm:w-20', isSilent: 'sr-only' },
];

const NO_ROWS: readonly FleetStream[] = [];
const NO_DELIVERIES: readonly DeliverySummary[] = [];

export interface StreamTableHandle {
  /**
   * Moves the focus to the next or previous row.
   * @returns the id of the newly focused row; undefined without rows.
   */
  move: (step: 1 | -1) => string | undefined;
}

/** Lists streams. Renders only the rows on the screen and a few around them. */
export function StreamTable({
  rows = NO_ROWS,
  isPending,
  chains,
  deliveriesOf,
  since,
  marks,
  onMark,
  ref,
}: {
  /** Streams to list; undefined until they have loaded. */
  rows: readonly FleetStream[] | undefined;
  isPending: boolean;
  chains: ReadonlyMap<string, WatchedChain>;
  /** The newest deliveries by stream. */
  deliveriesOf: ReadonlyMap<string, readonly DeliverySummary[]>;
  /** Deliveries created before this time, in Unix milliseconds, may be missing. */
  since: number;
  marks: ReadonlySet<string>;
  onMark: (id: string, through: boolean) => void;
  ref: React.Ref<StreamTableHandle>;
}) {
  const table = useRef<HTMLTableElement>(null);
  const isNarrow = useMedia('(max-width: 639.98px)');
  const rowPx = useRowPx();
  const narrowRowPx = useTallRowPx(SECOND_LINE_PX);
  const rowHeight = isNarrow ? narrowRowPx : rowPx;
  const guessHeight = (index: number): number =>
    rowHeight + (REASON_HEIGHTS[rows[index]?.condition.tone ?? 'ok'] ?? 0);
  const { before, abovePx, belowPx, first, end, row, scrollToRow } = useUnevenRows<
    HTMLTableSectionElement,
    HTMLTableSectionElement
  >(
    rows.map(({ stream }) => stream.id),
    guessHeight,
  );

  /** Id of the row that has the focus, or had the focus before it scrolled off the screen. */
  const cursor = useRef<string>(undefined);
  useImperativeHandle(ref, () => ({
    move(step) {
      const from = rows.findIndex(({ stream }) => stream.id === cursor.current);
      const next = from === -1 ? (step === 1 ? 0 : rows.length - 1) : from + step;
      const index = Math.max(0, Math.min(rows.length - 1, next));
      const id = rows[index]?.stream.id;
      if (id === undefined) return undefined;
      scrollToRow(index);
      table.current?.querySelector<HTMLElement>(`[data-row-link="${id}"]`)?.focus();
      return id;
    },
  }));

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it only tracks the focus
    <table
      ref={table}
      aria-rowcount={rows.length + 1}
      className="w-full border-collapse"
      onFocus={() => {
        cursor.current = focusedRow() ?? cursor.current;
      }}
    >
      <caption className="sr-only">Streams</caption>
      <Head rows={rows} chains={chains} />
      <tbody ref={before} aria-hidden="true">
        <tr style={{ height: `${abovePx}px` }} />
      </tbody>
      {isPending &&
        Array.from({ length: SKELETON_ROWS }, (_, index) => <StreamRowSkeleton key={index} />)}
      {rows.slice(first, end).map((each, index) => (
        <StreamRow
          key={each.stream.id}
          ref={row}
          row={each}
          rowIndex={first + index + 2}
          marked={marks.has(each.stream.id)}
          onMark={onMark}
          chains={chains}
          deliveries={deliveriesOf.get(each.stream.id) ?? NO_DELIVERIES}
          since={since}
        />
      ))}
      <tbody aria-hidden="true">
        <tr style={{ height: `${belowPx}px` }} />
      </tbody>
    </table>
  );
}

/**
 * Renders the header of the table. Memoized, because computing the widths of the columns reads all
 * rows.
 */
const Head = memo(function Head({
  rows,
  chains,
}: {
  rows: readonly FleetStream[];
  chains: ReadonlyMap<string, WatchedChain>;
}) {
  const ageStyle = useAgeStyle();
  return (
    <thead>
      <tr aria-rowindex={1} className="h-8 border-b border-line text-left">
        {COLUMNS.map(({ label, className, isSilent, widest }) => (
          <th key={label} scope="col" className={className}>
            <span className={isSilent}>{label}</span>
            {widest !== undefined && (
              <span
                aria-hidden="true"
                className="data block h-0"
                style={{ width: `${widest(rows, chains, ageStyle)}ch` }}
              />
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
});
