import type { DeliveryDetail, DeliverySummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { chainsQuery } from '../../data/queries/chains.ts';
import { PHASE_CONDITIONS } from '../../words/condition.ts';
import {
  formatBytes,
  formatClock,
  formatCount,
  formatQuantity,
  formatSpan,
} from '../../ui/text/format.ts';
import { nameOfStream } from '../../words/names.ts';
import { ReceiverLink } from '../../words/receiverLink.tsx';
import type { WatchedChain } from '../../chains/timeline.ts';
import { UnverifiedCodes } from '../../chains/unverifiedCodes.tsx';
import { Hash } from '../../ui/text/hash.tsx';
import { Status } from '../../ui/status.tsx';
import { DateTime } from '../../ui/text/time.tsx';
import { ExplorerLink } from '../chains/explorerLink.tsx';
import { PairLink } from './pairLink.tsx';

function Fact({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="grid grid-cols-[64px_minmax(0,1fr)] items-baseline">
      <dt className="text-12 text-faint">{label}</dt>
      <dd className="flex min-w-0 flex-wrap items-center gap-x-2">{children}</dd>
    </div>
  );
}

/**
 * Shows the main facts about a delivery. Until the details load, shows only what the list provides.
 */
export function Facts({
  delivery,
  detail,
  pair,
}: {
  delivery: DeliverySummary;
  detail: DeliveryDetail | undefined;
  /** The delivery of the same match in the other phase, if known. */
  pair: DeliverySummary | undefined;
}) {
  const { data: chains } = useQuery(chainsQuery);
  const chain = chains?.find(({ id }) => id === delivery.chainId);
  return (
    <dl className="grid gap-x-8 gap-y-0.5 border-b border-line px-4 py-2">
      <Fact label="Stream">
        <Link
          to="/streams/$streamId"
          params={{ streamId: delivery.streamId }}
          className="-mt-1 min-h-6 truncate pt-1.5 pb-0.5 font-medium hover:underline"
        >
          {nameOfStream({ tag: delivery.tag, id: delivery.streamId })}
        </Link>
        {detail !== undefined && (
          <span className="data min-w-0 truncate py-0.5 text-muted" data-cut>
            → {detail.destination !== undefined && `destination ${detail.destination}: `}
            <ReceiverLink webhookUrl={detail.webhookUrl} className="py-1 hover:underline">
              {detail.webhookUrl}
            </ReceiverLink>
          </span>
        )}
      </Fact>
      <Fact label="Block">
        <span className="data">
          {chain?.code ?? delivery.chainId} {formatCount(delivery.blockNumber)}
        </span>
        {detail !== undefined && <Hash value={detail.blockHash} name="block hash" />}
        <ExplorerLink
          chainId={delivery.chainId}
          page="block"
          value={String(delivery.blockNumber)}
        />
        <span className="data text-faint" data-tip="When the delivery was created">
          <DateTime timeMs={delivery.createdAt} />
        </span>
      </Fact>
      {detail !== undefined && detail.unverified.length > 0 && (
        <Fact label="Evidence">
          <UnverifiedCodes codes={detail.unverified} />
          <span className="text-12 text-faint">{describeWitnesses(detail)}</span>
        </Fact>
      )}
      <Fact label="Content">
        <span className="data">
          {formatQuantity(delivery.records, 'record')}
          {detail !== undefined && ` · ${formatBytes(detail.bodyBytes)}`}
        </span>
        <Status condition={PHASE_CONDITIONS[delivery.phase]} className="ml-2" />
        {pair === undefined ? (
          <Expectation
            delivery={delivery}
            chain={chain}
            confirmations={detail?.confirmations ?? null}
          />
        ) : (
          <PairLink
            of={delivery.id}
            pair={pair}
            className="inline-flex min-h-6 items-center gap-1.5 text-12 text-accent hover:underline"
          >
            {delivery.phase === 'confirmed' ? '←' : '→'} same match, {pair.phase}{' '}
            <span className="data">{formatClock(pair.createdAt).slice(0, 8)}</span>
          </PairLink>
        )}
      </Fact>
    </dl>
  );
}

function describeWitnesses({ state, witnesses }: DeliveryDetail): string {
  const seen =
    witnesses === null || witnesses < 2
      ? 'One operator’s nodes returned the block.'
      : `The nodes of ${witnesses} operators returned the same block.`;
  return state === 'held'
    ? `${seen} Held until another one confirms it, or until you release it.`
    : seen;
}

/**
 * Announces the confirmed delivery of the same match, which new users could mistake for a
 * duplicate.
 */
function Expectation({
  delivery,
  chain,
  confirmations,
}: {
  delivery: DeliverySummary;
  chain: WatchedChain | undefined;
  confirmations: DeliveryDetail['confirmations'];
}) {
  if (delivery.phase !== 'unconfirmed' || chain?.head == null) return null;
  return (
    <span className="text-12 text-faint">
      {describeExpectation(delivery, confirmations, chain, chain.head)}
    </span>
  );
}

function describeExpectation(
  { blockNumber }: DeliverySummary,
  own: DeliveryDetail['confirmations'],
  chain: WatchedChain,
  head: number,
): string {
  const needed = own ?? chain.confirmations;
  if (needed === 'safe' || needed === 'finalized') {
    return blockNumber <= (chain[needed] ?? -1)
      ? `reported as ${needed} by the chain`
      : `sent again as confirmed once the block is ${needed}`;
  }
  const due = blockNumber + (needed === 'latest' ? 0 : needed);
  return head < due
    ? `sent again as confirmed at block ${formatCount(due)}, in ${formatQuantity(due - head, 'block')}${about(due - head, chain.blocks)}`
    : `confirmed since block ${formatCount(due)}`;
}

/**
 * Returns text with the estimated time that a number of blocks takes; empty if fewer than two
 * recent blocks are known.
 */
function about(count: number, blocks: WatchedChain['blocks']): string {
  const [newest, oldest] = [blocks[0], blocks.at(-1)];
  if (newest === undefined || oldest === undefined || newest.number === oldest.number) return '';
  const blockMs = (newest.timestamp - oldest.timestamp) / (newest.number - oldest.number);
  return `, about ${formatSpan(count * blockMs)}`;
}
