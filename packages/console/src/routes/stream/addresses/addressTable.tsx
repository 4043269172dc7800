/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a table element would lay out all of its rows together */
import type { WatchedAddress } from '@sluice/kit/sluice';
import { Trash2 } from 'lucide-react';
import { clsx } from 'clsx';
import { useEffect } from 'react';
import { SECOND_LINE_PX } from '../../../ui/list/density.ts';
import { formatCount, formatHash } from '../../../ui/text/format.ts';
import { formatKey } from '../../../words/names.ts';
import { useMedia } from '../../../ui/media.ts';
import { useLinesRowPx, useRowPx } from '../../../ui/preferences.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/text/copyButton.tsx';
import { useRowWindow } from '../../../ui/list/rowWindow.ts';
import { Ago } from '../../../ui/text/time.tsx';
import { ExplorerLink } from '../../chains/explorerLink.tsx';

const HEADS = [
  { label: 'Number', className: 'address-number', isSaid: false },
  { label: 'Address', className: 'address-hash', isSaid: true },
  { label: 'Label', className: 'address-label', isSaid: true },
  { label: 'Added', className: 'address-added', isSaid: true },
  { label: 'Added by', className: 'address-key', isSaid: true },
  { label: 'Actions', className: 'address-actions', isSaid: false },
];
/** Number of characters at each end of a shortened address. */
const CUT_TO = 6;

/** Renders only the visible rows of a list of any length. */
export function AddressTable({
  rows,
  isNumbered,
  removing,
  hasMore,
  onMore,
  onRemove,
  chainId,
}: {
  rows: readonly WatchedAddress[];
  /** True if rows are numbered. Only an unfiltered list has meaningful numbers. */
  isNumbered: boolean;
  /** The address that is being removed. */
  removing: string | undefined;
  hasMore: boolean;
  onMore: () => void;
  onRemove: (address: string) => void;
  /** The stream's first chain, whose explorer addresses link to. */
  chainId: string | undefined;
}) {
  const isNarrow = useMedia('(max-width: 639.98px)');
  const { address = '' } = rows[0] ?? {};
  // Aptos addresses are 1.5 times as long as EVM addresses.
  const isCut = useMedia(address.length > 42 ? '(max-width: 1119.98px)' : '(max-width: 767.98px)');
  const digits = isCut ? formatHash(address, CUT_TO).length : address.length;
  const rowPx = useRowPx();
  const narrowRowPx = useLinesRowPx(SECOND_LINE_PX);
  const { scroller, list, first, end, style } = useRowWindow<HTMLDivElement, HTMLDivElement>(
    rows.length,
    isNarrow ? narrowRowPx : rowPx,
  );

  // Loads the next page shortly before the end of the current one.
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
            <Row
              key={row.address}
              row={row}
              number={isNumbered ? first + index + 1 : null}
              isCut={isCut}
              isLeaving={row.address === removing}
              onRemove={onRemove}
              chainId={chainId}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function Row({
  row: { address, label, addedAt, addedBy },
  number,
  isCut,
  isLeaving,
  onRemove,
  chainId,
}: {
  row: WatchedAddress;
  number: number | null;
  isCut: boolean;
  isLeaving: boolean;
  onRemove: (address: string) => void;
  chainId: string | undefined;
}) {
  return (
    <div
      role="row"
      className="address-grid h-row border-b border-line px-4 hover:bg-raised max-sm:h-row-of-two"
    >
      <span role="cell" className="data address-number text-right text-faint">
        {number !== null && formatCount(number)}
      </span>
      <span role="cell" className="data address-hash truncate" title={address}>
        {isCut ? formatHash(address, CUT_TO) : address}
      </span>
      <span role="cell" className="address-label truncate font-medium" title={label}>
        {label}
      </span>
      <span role="cell" className="data address-added truncate text-muted">
        <Ago timeMs={addedAt} />
      </span>
      <span role="cell" className="address-key truncate text-muted" title={`API key ${addedBy}`}>
        {formatKey(addedBy)}
      </span>
      <span role="cell" className="address-actions flex justify-end">
        {chainId !== undefined && <ExplorerLink chainId={chainId} page="address" value={address} />}
        <CopyButton text={address} label={`Copy ${address}`} iconOnly />
        <Button
          variant="quiet"
          square
          aria-label={`Remove ${label ?? address}`}
          title="Remove"
          disabled={isLeaving}
          onClick={() => onRemove(address)}
        >
          <Trash2 size={14} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </span>
    </div>
  );
}
