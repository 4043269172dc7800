/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a table element would lay out all of its rows together */
import type { StreamChild } from '@sluice/kit/sluice';
import { clsx } from 'clsx';
import { useEffect } from 'react';
import { SECOND_LINE_PX } from '../../../ui/list/density.ts';
import { useRowWindow } from '../../../ui/list/rowWindow.ts';
import { useMedia } from '../../../ui/media.ts';
import { useRowPx, useTallRowPx } from '../../../ui/preferences.ts';
import { CopyButton } from '../../../ui/text/copyButton.tsx';
import { formatCount, formatHash } from '../../../ui/text/format.ts';
import { ExplorerLink } from '../../chains/explorerLink.tsx';
import { LabelCell } from './labelCell.tsx';
import './childTable.css';

const HEADS = [
  { label: 'Address', className: 'child-hash', isSaid: true },
  { label: 'Label', className: 'child-label', isSaid: true },
  { label: 'Chain', className: 'child-chain', isSaid: true },
  { label: 'Factory', className: 'child-factory', isSaid: true },
  { label: 'Since block', className: 'child-since text-right', isSaid: true },
  { label: 'Actions', className: 'child-actions', isSaid: false },
];
/** Number of hex digits kept at each end of a shortened address. */
const CUT_TO = 6;

/** Lists children. Renders only the visible rows, because the list may be long. */
export function ChildTable({
  rows,
  nameOfChain,
  hasMore,
  onMore,
  onLabel,
}: {
  rows: readonly StreamChild[];
  nameOfChain: (id: string) => string;
  hasMore: boolean;
  onMore: () => void;
  /** Saves a label; an empty one removes it. */
  onLabel: (row: StreamChild, label: string) => Promise<void>;
}) {
  const isNarrow = useMedia('(max-width: 639.98px)');
  const isCut = useMedia('(max-width: 1023.98px)');
  const digits = isCut ? formatHash(rows[0]?.address ?? '', CUT_TO).length : 42;
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
      aria-label="Children"
      className="flex min-h-0 flex-1 flex-col"
      style={{ '--digits': digits } as React.CSSProperties}
    >
      <div role="row" className="child-grid h-8 shrink-0 border-b border-line px-4 max-sm:sr-only">
        {HEADS.map(({ label, className, isSaid }) => (
          <span key={label} role="columnheader" className={clsx('caps', className)}>
            <span className={isSaid ? undefined : 'sr-only'}>{label}</span>
          </span>
        ))}
      </div>
      <div ref={scroller} role="presentation" className="min-h-0 flex-1 overflow-y-auto">
        <div ref={list} role="rowgroup" style={style}>
          {rows.slice(first, end).map((row) => {
            const { address, label = '', chainId, entry, blockNumber } = row;
            return (
              <div
                key={`${chainId} ${entry} ${address}`}
                role="row"
                className="child-grid h-row border-b border-line px-4 hover:bg-raised max-sm:h-row-of-two"
              >
                <span
                  role="cell"
                  className="data child-hash truncate"
                  data-tip={isCut ? address : undefined}
                >
                  {isCut ? formatHash(address, CUT_TO) : address}
                </span>
                <span role="cell" className="child-label min-w-0 font-medium">
                  <LabelCell
                    address={address}
                    label={label}
                    onSave={(next) => onLabel(row, next)}
                  />
                </span>
                <span role="cell" className="child-chain truncate text-muted">
                  {nameOfChain(chainId)}
                </span>
                <span role="cell" className="child-factory truncate text-muted">
                  factory {entry + 1}
                </span>
                <span role="cell" className="data child-since truncate text-right text-muted">
                  {formatCount(blockNumber)}
                </span>
                <span role="cell" className="child-actions flex justify-end">
                  <ExplorerLink chainId={chainId} page="address" value={address} />
                  <CopyButton text={address} label={`Copy ${address}`} iconOnly />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
