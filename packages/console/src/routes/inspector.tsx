import type { DeliveryDetail, DeliverySummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Code, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { deliveryQuery } from '../api.ts';
import { deliveryCondition, PHASE_CONDITIONS } from '../condition.ts';
import {
  formatBytes,
  formatClock,
  formatCount,
  formatDateTime,
  formatId,
  formatQuantity,
  sizeOf,
} from '../format.ts';
import { useShortcuts } from '../keyboard.ts';
import { INSPECTOR_TABS, type InspectorTab } from '../search.ts';
import type { WatchedChain } from '../tape.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copyButton.tsx';
import { ErrorPanel } from '../ui/errorPanel.tsx';
import { Hash } from '../ui/hash.tsx';
import { Status } from '../ui/status.tsx';
import { AttemptList } from './attemptList.tsx';
import { BodyView } from './bodyView.tsx';
import { HeaderList } from './headerList.tsx';

/** One delivery: what it is at once, from the list; what was sent and answered when it arrives. */
export function Inspector({
  id,
  summary,
  pair,
  chains,
  tab,
  onTab,
  onClose,
}: {
  id: string;
  summary: DeliverySummary | undefined;
  pair: DeliverySummary | undefined;
  chains: readonly WatchedChain[];
  tab: InspectorTab;
  onTab: (tab: InspectorTab) => void;
  onClose: () => void;
}) {
  const detail = useQuery(deliveryQuery(id));
  const delivery = summary ?? detail.data;
  const [asText, setAsText] = useState(false);
  const panel = useRef<HTMLElement>(null);
  // On a phone the panel covers the list, so the focus must follow.
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);

  const step = (by: 1 | -1): void => {
    const next = INSPECTOR_TABS[INSPECTOR_TABS.indexOf(tab) + by];
    if (next !== undefined) onTab(next);
  };
  useShortcuts({
    '[': () => step(-1),
    ']': () => step(1),
    c: () => void navigator.clipboard.writeText(id),
    y: () => void navigator.clipboard.writeText(location.href),
  });

  return (
    <section
      ref={panel}
      tabIndex={-1}
      aria-label={`Delivery ${formatId(id)}`}
      className="flex min-w-0 flex-col border-line bg-surface outline-none max-md:fixed max-md:inset-x-0 max-md:top-11 max-md:bottom-12 max-md:z-10 md:w-[46%] md:min-w-96 md:border-l"
    >
      <header className="flex items-center gap-3 border-b border-line py-2 pr-2 pl-4">
        {delivery !== undefined && <Status condition={deliveryCondition(delivery)} />}
        <h2 className="data truncate font-medium" title={id}>
          {formatId(id)}
        </h2>
        <CopyButton text={id} label="Copy id" keycap="c" />
        <Button
          look="quiet"
          square
          className="ml-auto"
          aria-label="Close"
          title="Close Esc"
          onClick={onClose}
        >
          <X size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </header>
      {detail.isError && (
        <ErrorPanel
          what="The delivery could not be read"
          error={detail.error}
          onRetry={() => void detail.refetch()}
          stale={detail.data !== undefined}
        />
      )}
      {delivery !== undefined && (
        <Facts delivery={delivery} detail={detail.data} pair={pair} chains={chains} />
      )}
      <div className="flex items-center border-b border-line pr-2 pl-3">
        <div role="tablist" aria-label="Delivery" className="flex gap-1">
          {INSPECTOR_TABS.map((each) => (
            <button
              key={each}
              type="button"
              role="tab"
              id={`tab-${each}`}
              aria-selected={each === tab}
              aria-controls="inspector-panel"
              onClick={() => onTab(each)}
              className="control -mb-px h-9 border-b-2 border-transparent px-2 text-12 text-muted capitalize hover:text-text aria-selected:border-accent aria-selected:text-text"
            >
              {each}
              {each === 'attempts' && delivery !== undefined && (
                <span className="data ml-1.5 text-faint">{delivery.attempts}</span>
              )}
            </button>
          ))}
        </div>
        {tab === 'body' && detail.data !== undefined && (
          <span className="ml-auto flex items-center">
            <Button
              look="quiet"
              square
              aria-pressed={asText}
              aria-label="Show the body as text"
              title={asText ? 'Show as a tree' : 'Show the text that was sent'}
              className="aria-pressed:text-accent"
              onClick={() => setAsText(!asText)}
            >
              <Code size={14} strokeWidth={1.5} aria-hidden="true" />
            </Button>
            <CopyButton text={detail.data.body} label="Copy body" iconOnly />
          </span>
        )}
      </div>
      <div
        role="tabpanel"
        id="inspector-panel"
        aria-labelledby={`tab-${tab}`}
        className="flex min-h-0 flex-1 flex-col"
      >
        {detail.data === undefined ? (
          detail.isPending && <p className="animate-late p-4 text-faint">Loading</p>
        ) : tab === 'body' ? (
          <BodyView body={detail.data.body} asText={asText} />
        ) : tab === 'attempts' ? (
          <AttemptList delivery={detail.data} />
        ) : (
          <HeaderList delivery={detail.data} />
        )}
      </div>
    </section>
  );
}

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <>
      <dt className="text-12 text-faint">{label}</dt>
      <dd className="flex min-w-0 flex-wrap items-center gap-x-2">{children}</dd>
    </>
  );
}

function Facts({
  delivery,
  detail,
  pair,
  chains,
}: {
  delivery: DeliverySummary;
  detail: DeliveryDetail | undefined;
  pair: DeliverySummary | undefined;
  chains: readonly WatchedChain[];
}) {
  const chain = chains.find(({ id }) => id === delivery.chainId);
  return (
    <dl className="grid grid-cols-[64px_minmax(0,1fr)] items-baseline gap-y-0.5 border-b border-line px-4 py-2">
      <Fact label="Stream">
        <Link
          to="/deliveries"
          search={(now) => ({ ...now, sel: delivery.id, stream: delivery.streamId })}
          className="min-h-6 truncate py-0.5 font-medium hover:underline"
        >
          {delivery.tag || delivery.streamId}
        </Link>
        {detail !== undefined && (
          <span className="data min-w-0 truncate text-muted" title={detail.webhookUrl}>
            → {detail.webhookUrl}
          </span>
        )}
      </Fact>
      <Fact label="Made">
        <span className="data">{formatDateTime(delivery.createdAt)}</span>
      </Fact>
      <Fact label="Block">
        <span className="data">
          {chain?.code ?? delivery.chainId} {formatCount(delivery.blockNumber)}
        </span>
        {detail !== undefined && <Hash value={detail.blockHash} name="block hash" />}
      </Fact>
      <Fact label="Content">
        <span className="data">
          {formatQuantity(delivery.records, 'record')}
          {detail !== undefined && ` · ${formatBytes(sizeOf(detail.body))}`}
        </span>
      </Fact>
      <Fact label="Phase">
        <Status condition={PHASE_CONDITIONS[delivery.phase]} />
        {pair === undefined ? (
          <Expectation delivery={delivery} chain={chain} />
        ) : (
          <Link
            to="/deliveries"
            search={(now) => ({ ...now, sel: pair.id })}
            className="inline-flex min-h-6 items-center gap-1.5 text-12 text-accent hover:underline"
          >
            {delivery.phase === 'confirmed' ? '←' : '→'} same match, {pair.phase}{' '}
            <span className="data">{formatClock(pair.createdAt).slice(0, 8)}</span>
          </Link>
        )}
      </Fact>
    </dl>
  );
}

/** Newcomers read the second delivery of a match as a duplicate; this says that it will come. */
function Expectation({
  delivery,
  chain,
}: {
  delivery: DeliverySummary;
  chain: WatchedChain | undefined;
}) {
  if (delivery.phase !== 'unconfirmed' || chain?.head == null) return null;
  return (
    <span className="text-12 text-faint">{describeExpectation(delivery, chain, chain.head)}</span>
  );
}

function describeExpectation(
  { blockNumber }: DeliverySummary,
  { confirmations, confirmedUpTo }: WatchedChain,
  head: number,
): string {
  if (confirmations === 'finalized') {
    return blockNumber <= (confirmedUpTo ?? -1)
      ? 'final by the chain’s own word'
      : 'sent again, confirmed, when the chain calls its block final';
  }
  const due = blockNumber + confirmations;
  return head < due
    ? `sent again, confirmed, at block ${formatCount(due)}: ${formatQuantity(due - head, 'block')} to go`
    : `final since block ${formatCount(due)}`;
}
