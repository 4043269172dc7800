/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a table element would lay out all of its rows together */
import type { DeliverySummary } from '@sluice/kit/sluice';
import { clsx } from 'clsx';
import { memo, useLayoutEffect, useRef, useState } from 'react';
import { useNow } from '../../../ui/text/clock.ts';
import { DELIVERY_CONDITIONS, PHASE_CONDITIONS } from '../../../words/condition.ts';
import {
  formatCount,
  formatDateTime,
  formatDue,
  formatDuration,
  formatRowTime,
} from '../../../ui/text/format.ts';
import { isFresh } from '../../../data/live/live.ts';
import { nameOfStream } from '../../../words/names.ts';
import { focusAny } from '../../../ui/keys/focusKeeper.ts';
import { RowMark } from '../../../ui/list/rowMarks.tsx';
import { Status } from '../../../ui/status.tsx';
import { PhaseSign } from '../../../words/phaseSign.tsx';

/** Columns in the order of the cells below; `.delivery-grid` in deliveryTable.css sets their widths. */
const COLUMNS: readonly {
  label: string;
  numeric: boolean;
  className: string;
  /** Whether the cells are signs, so that the column is too narrow for its label. */
  isOfSigns?: boolean;
}[] = [
  { label: 'Phase', numeric: false, className: 'cell-phase', isOfSigns: true },
  { label: 'Summary', numeric: false, className: 'cell-what' },
  { label: 'Time', numeric: false, className: '' },
  { label: 'State', numeric: false, className: '' },
  { label: 'HTTP', numeric: true, className: '' },
  { label: 'Took', numeric: true, className: '' },
  { label: 'Stream', numeric: false, className: 'cell-stream' },
  { label: 'Chain', numeric: false, className: 'cell-chain' },
  { label: 'Block', numeric: true, className: 'cell-block' },
  { label: 'Pair', numeric: false, className: 'cell-pair' },
  { label: 'Attempts', numeric: true, className: 'wide-only' },
];

/** Returns the columns, without the stream column on the page of one stream. */
export const columnsOf = (ofOneStream: boolean) =>
  COLUMNS.filter(({ label }) => !ofOneStream || label !== 'Stream');

interface Cells {
  row: DeliverySummary;
  /** The delivery of the same match in the other phase. */
  pair: DeliverySummary | undefined;
  /** Name of the additional destination; undefined for the `webhookUrl`. */
  destination: string | undefined;
  chainCode: string;
  /** Link that opens the delivery next to the list. */
  href: string;
  onSelect: (id: string) => void;
  ofOneStream: boolean;
  /** The current day in the chosen time zone, such as `2026-11-05`. */
  today: string;
  /**
   * The chosen time zone. The memoized cells do not read it; a change of this prop makes them
   * render again.
   */
  zone: string;
}

/**
 * Renders a row with memoized cells, because new deliveries change the index of each row but rarely
 * its cells. When a row leaves the screen, another row reuses its element.
 */
export function DeliveryRow({
  rowIndex,
  selected,
  marked,
  paired,
  onMark,
  ...cells
}: Cells & {
  rowIndex: number;
  selected: boolean;
  marked: boolean;
  onMark: (id: string, through: boolean) => void;
  /** Whether the selected delivery is the pair of this row. */
  paired: boolean;
}) {
  const element = useRef<HTMLDivElement>(null);
  const { id } = cells.row;
  // When another row reuses the element, the list gets the focus, so that the new row does not.
  useLayoutEffect(() => {
    const focused = document.activeElement;
    const list = element.current?.closest<HTMLElement>('[role=table]');
    if (list != null && element.current?.contains(focused) === true) focusAny(list);
    // oxlint-disable-next-line react/exhaustive-deps -- runs when the element shows another row
  }, [id]);
  return (
    <div
      ref={element}
      role="row"
      aria-rowindex={rowIndex}
      aria-current={selected || undefined}
      className={clsx(
        'delivery-grid delivery-row relative border-b border-line pr-4 pl-7 hover:bg-raised max-md:pl-4',
        selected && 'bg-raised shadow-[inset_2px_0_var(--color-accent)]',
        paired && 'bg-raised shadow-[inset_2px_0_var(--color-line-strong)]',
      )}
    >
      <Arrival key={id} id={id} />
      <span role="cell" className="mark-cell">
        <RowMark
          id={id}
          label={formatRowTime(cells.row.createdAt, cells.today)}
          marked={marked}
          onMark={onMark}
        />
      </span>
      <DeliveryCells {...cells} />
    </div>
  );
}

/** Highlights a row that has just appeared. */
function Arrival({ id }: { id: string }) {
  const [fresh] = useState(() => isFresh(id));
  return fresh && <span className="absolute inset-0 -z-1 animate-fresh bg-accent/16 opacity-0" />;
}

const DeliveryCells = memo(function DeliveryCells({
  row,
  pair,
  destination,
  chainCode,
  href,
  onSelect,
  ofOneStream,
  today,
}: Cells) {
  const name = nameOfStream({ tag: row.tag, id: row.streamId });
  const waits = row.state === 'retrying' && row.nextAttemptAt !== null;
  const bad = row.error !== null && row.state !== 'succeeded';
  // Omits an error such as `HTTP 500`, because the status has its own column.
  const why = bad && row.error !== `HTTP ${row.status}` ? row.error : null;
  const what = why === null ? row.about : `${why} · ${row.about}`;
  return (
    <>
      <PhaseSign role="cell" phase={row.phase} className="cell-phase" />
      <span role="cell" className="cell-what truncate text-12" data-cut>
        {destination !== undefined && (
          <span className="data mr-2 text-muted" data-tip={destination}>
            <span aria-hidden="true">→ {row.destination}</span>
            <span className="sr-only">To destination {row.destination}:</span>
          </span>
        )}
        {what}
      </span>
      <span role="cell" className="data cell-time">
        <a
          href={href}
          onClick={(event) => {
            if (!isPlainPress(event)) return;
            event.preventDefault();
            onSelect(row.id);
          }}
          data-row-link={row.id}
          data-tip={`${PHASE_CONDITIONS[row.phase].word} · ${formatDateTime(row.createdAt)} · ${row.id}`}
          className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {formatRowTime(row.createdAt, today)}
        </a>
      </span>
      {waits ? (
        <Waiting timeMs={row.nextAttemptAt!} />
      ) : (
        <Status
          role="cell"
          condition={DELIVERY_CONDITIONS[row.state]}
          className="cell-state text-12"
        />
      )}
      <span
        role="cell"
        className={clsx('data cell-status text-right', bad ? 'text-bad' : 'text-muted')}
      >
        {row.status ?? (row.error === null ? '–' : 'none')}
      </span>
      <span role="cell" className="data cell-took text-right whitespace-nowrap">
        {row.durationMs === null ? (
          <span className="text-faint">–</span>
        ) : (
          formatDuration(row.durationMs)
        )}
      </span>
      {!ofOneStream && (
        <span role="cell" className="cell-stream truncate" data-cut>
          {name}
        </span>
      )}
      <span role="cell" className="data cell-chain truncate text-muted" data-tip={row.chainId}>
        {chainCode}
      </span>
      <span role="cell" className="data cell-block text-right">
        {formatCount(row.blockNumber)}
      </span>
      <span role="cell" className="data cell-pair text-faint">
        {pair !== undefined && (
          <span
            className="flex items-center gap-2 whitespace-nowrap"
            data-tip={`Delivery of the same match: ${pair.phase}, created ${formatDateTime(pair.createdAt)}`}
          >
            <PhaseSign phase={pair.phase} />
            {formatRowTime(pair.createdAt, today).slice(0, -4)}
          </span>
        )}
      </span>
      <span
        role="cell"
        className={clsx('data wide-only text-right', row.attempts > 1 ? 'text-warn' : 'text-faint')}
      >
        {row.attempts}
      </span>
    </>
  );
});

/** Shows when the next attempt of a delivery is due. */
function Waiting({ timeMs }: { timeMs: number }) {
  const word = `retry ${formatDue(timeMs, useNow())}`;
  return (
    <Status
      role="cell"
      condition={{ shape: 'dashed', word, tone: 'warn' }}
      className="cell-state text-12"
    />
  );
}

/**
 * Returns whether this is a plain click. With a modifier key, a click downloads the link or opens
 * it in a new tab or window.
 */
const isPlainPress = ({ button, metaKey, ctrlKey, shiftKey, altKey }: React.MouseEvent): boolean =>
  button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
