/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a table element would lay out all of its rows together */
import type { WatchedAddress } from '@sluice/kit/sluice';
import { Trash2 } from 'lucide-react';
import { clsx } from 'clsx';
import { useEffect } from 'react';
import { SECOND_LINE_PX } from '../../../ui/list/density.ts';
import { formatCount, formatHash } from '../../../ui/text/format.ts';
import { formatKey } from '../../../words/names.ts';
import { useMedia } from '../../../ui/media.ts';
import { useTallRowPx, useRowPx } from '../../../ui/preferences.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/text/copyButton.tsx';
import { useRowWindow } from '../../../ui/list/rowWindow.ts';
import { Ago } from '../../../ui/text/time.tsx';
import { ExplorerLink } from '../../chains/explorerLink.tsx';
import type { LabeledRow } from './addressChange.ts';
import { LabelCell } from './labelCell.tsx';
import './addressTable.css';

const HEADS = [
  { label: 'Selected', className: 'address-mark', isSaid: false },
  { label: 'Number', className: 'address-number', isSaid: false },
  { label: 'Address', className: 'address-hash', isSaid: true },
  { label: 'Label', className: 'address-label', isSaid: true },
  { label: 'Added', className: 'address-added', isSaid: true },
  { label: 'Added by', className: 'address-key', isSaid: true },
  { label: 'Actions', className: 'address-actions', isSaid: false },
];
/** Number of hex digits kept at each end of a shortened address. */
const CUT_TO = 6;

/** Lists addresses. Renders only the visible rows, because the list may be long. */
export function AddressTable({
  rows,
  isNumbered,
  isBusy,
  selected,
  onSelect,
  hasMore,
  onMore,
  onRemove,
  onLabel,
  chainId,
}: {
  rows: readonly WatchedAddress[];
  /** Whether to number the rows. The numbers are meaningful only if the list is not filtered. */
  isNumbered: boolean;
  /** True while a task runs, such as a removal or an export. */
  isBusy: boolean;
  selected: ReadonlyMap<string, LabeledRow>;
  /** @param through also selects the rows between this one and the last selected one. */
  onSelect: (row: WatchedAddress, through: boolean) => void;
  hasMore: boolean;
  onMore: () => void;
  onRemove: (row: WatchedAddress) => void;
  /** Saves a label; an empty one removes it. */
  onLabel: (row: WatchedAddress, label: string) => Promise<void>;
  /** Id of the stream's first chain. The addresses link to its block explorer. */
  chainId: string | undefined;
}) {
  const isNarrow = useMedia('(max-width: 639.98px)');
  const { address = '' } = rows[0] ?? {};
  // Aptos addresses are about 1.5 times as long as EVM addresses, so they are shortened on wider
  // screens too.
  const isCut = useMedia(address.length > 42 ? '(max-width: 1119.98px)' : '(max-width: 767.98px)');
  const digits = isCut ? formatHash(address, CUT_TO).length : address.length;
  const rowPx = useRowPx();
  const narrowRowPx = useTallRowPx(SECOND_LINE_PX);
  const { scroller, list, first, end, style } = useRowWindow<HTMLDivElement, HTMLDivElement>(
    rows.length,
    isNarrow ? narrowRowPx : rowPx,
  );

  // Loads the next page as soon as one of the last 20 rows is rendered.
  const wantsMore = hasMore && end >= rows.length - 20;
  useEffect(() => {
    if (wantsMore) onMore();
  }, [wantsMore, onMore]);

  return (
    <div
      role="table"
      aria-label="Addresses"
      className="flex min-h-0 flex-1 flex-col"
      style={{ '--digits': digits } as React.CSSProperties}
    >
      <div
        role="row"
        className="address-grid h-8 shrink-0 border-b border-line px-4 max-sm:sr-only"
      >
        {HEADS.map(({ label, className, isSaid }) => (
          <span key={label} role="columnheader" className={clsx('caps', className)}>
            <span className={isSaid ? undefined : 'sr-only'}>{label}</span>
          </span>
        ))}
      </div>
      <div ref={scroller} role="presentation" className="min-h-0 flex-1 overflow-y-auto">
        <div ref={list} role="rowgroup" style={style}>
          {rows.slice(first, end).map((row, index) => (
            <AddressRow
              key={row.address}
              row={row}
              number={isNumbered ? first + index + 1 : null}
              isCut={isCut}
              isBusy={isBusy}
              isSelected={selected.has(row.address)}
              onSelect={onSelect}
              onRemove={onRemove}
              onLabel={onLabel}
              chainId={chainId}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function AddressRow({
  row,
  number,
  isCut,
  isBusy,
  isSelected,
  onSelect,
  onRemove,
  onLabel,
  chainId,
}: {
  row: WatchedAddress;
  number: number | null;
  isCut: boolean;
  isBusy: boolean;
  isSelected: boolean;
  onSelect: (row: WatchedAddress, through: boolean) => void;
  onRemove: (row: WatchedAddress) => void;
  onLabel: (row: WatchedAddress, label: string) => Promise<void>;
  chainId: string | undefined;
}) {
  const { address, label, addedAt, addedBy } = row;
  return (
    <div
      role="row"
      className="address-grid h-row border-b border-line px-4 hover:bg-raised max-sm:h-row-of-two"
    >
      <span role="cell" className="address-mark grid place-items-center">
        <input
          type="checkbox"
          aria-label={`Select ${label ?? address}`}
          data-tip="Select; Shift selects a range"
          checked={isSelected}
          // A click event reports whether Shift is pressed; a change event does not.
          onClick={({ shiftKey }) => onSelect(row, shiftKey)}
          onChange={() => {}}
          className="tick relative size-4 after:absolute after:-inset-1"
        />
      </span>
      <span role="cell" className="data address-number text-right text-faint">
        {number !== null && formatCount(number)}
      </span>
      <span
        role="cell"
        className="data address-hash truncate"
        data-tip={isCut ? address : undefined}
      >
        {isCut ? formatHash(address, CUT_TO) : address}
      </span>
      <span role="cell" className="address-label min-w-0 font-medium">
        <LabelCell address={address} label={label ?? ''} onSave={(next) => onLabel(row, next)} />
      </span>
      <span role="cell" className="data address-added truncate text-muted">
        <Ago timeMs={addedAt} />
      </span>
      <span role="cell" className="address-key truncate text-muted" data-tip={`API key ${addedBy}`}>
        {formatKey(addedBy)}
      </span>
      <span role="cell" className="address-actions flex justify-end">
        {chainId !== undefined && <ExplorerLink chainId={chainId} page="address" value={address} />}
        <CopyButton text={address} label={`Copy ${address}`} iconOnly />
        <Button
          variant="quiet"
          square
          aria-label={`Remove ${label ?? address}`}
          data-tip="Remove"
          disabled={isBusy}
          onClick={() => onRemove(row)}
        >
          <Trash2 size={14} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </span>
    </div>
  );
}
