import type {
  DeliverySummary,
  ExplainedTransaction,
  Explanation,
  ExplainReason,
  StreamVerdict,
} from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { deliveryQuery } from '../../data/queries/delivery.ts';
import { Button } from '../../ui/button.tsx';
import { Status } from '../../ui/status.tsx';
import { formatClock, formatCount } from '../../ui/text/format.ts';
import { Hash } from '../../ui/text/hash.tsx';
import { DELIVERY_CONDITIONS } from '../../words/condition.ts';
import { VERDICT_CONDITIONS } from './verdictConditions.ts';
import { formatMessage } from '../../words/messages.ts';
import { ExplorerLink } from '../chains/explorerLink.tsx';
import { DeliveryTiming } from '../delivery/flight/deliveryTiming.tsx';
import { FlightSpace, FlightView } from '../delivery/flight/flightView.tsx';
import { explainedFlight } from './explainedFlight.ts';
import { Reasons } from './reasons.tsx';

/** The explained block and transaction. */
interface Context {
  chainId: string | null;
  block: Explanation['block'];
  /** Checks of the block. */
  blockStages: readonly ExplainReason[];
  transaction: ExplainedTransaction | null;
}

/**
 * Shows the verdict of one stream and, when expanded, the stages, records and deliveries of the
 * verdict.
 */
export function Verdict({
  verdict,
  ...context
}: {
  verdict: StreamVerdict;
} & Context) {
  const { data: chains = [] } = useQuery(chainsQuery);
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="border-b border-line">
      <details className="group" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="grid min-h-9 cursor-pointer grid-cols-[120px_minmax(0,1fr)] items-center gap-x-4 gap-y-1 px-4 py-1.5 hover:bg-raised sm:grid-cols-[120px_200px_minmax(0,1fr)]">
          <Status condition={VERDICT_CONDITIONS[verdict.verdict]} />
          <span className="truncate font-medium">{verdict.tag || verdict.streamId}</span>
          <span className="min-w-0 break-words text-muted max-sm:col-span-2">
            {formatMessage(verdict.reason.message, chains)}
          </span>
        </summary>
        {isOpen && <Details verdict={verdict} {...context} />}
      </details>
    </li>
  );
}

function Details({
  verdict,
  chainId,
  block,
  blockStages,
  transaction,
}: { verdict: StreamVerdict } & Context) {
  const { streamId, tag, stages, reason, records, deliveries } = verdict;
  const { data: chains = [] } = useQuery(chainsQuery);
  return (
    <div className="px-4 pb-4 sm:pl-38">
      {block !== null && deliveries.length === 0 && (
        <FlightView flight={explainedFlight(block, blockStages, verdict, chains)} id={null} />
      )}
      {deliveries.length > 0 && <Deliveries deliveries={deliveries} />}
      <Reasons reasons={stages} />
      {transaction !== null && chainId !== null && isUnwatched(reason, verdict) && (
        <UnwatchedAddresses transaction={transaction} chainId={chainId} />
      )}
      {records.length > 0 && <Records verdict={verdict} chainId={chainId} />}
      {verdict.values.length > 0 && <Values verdict={verdict} />}
      <Link
        to="/streams/$streamId"
        params={{ streamId }}
        search={{ tab: 'rules' }}
        className="mt-3 inline-flex min-h-7 items-center text-accent hover:underline"
      >
        View the rules of {tag || streamId}
      </Link>
    </div>
  );
}

/** Returns whether the stream watches no address of the transaction. */
const isUnwatched = ({ stage, outcome }: ExplainReason, { recordCount }: StreamVerdict): boolean =>
  stage === 'address' && outcome === 'stopped' && recordCount === 0;

/** Lists the addresses of the transaction, so that users can find the one to watch. */
function UnwatchedAddresses({
  transaction: { addresses, addressCount },
  chainId,
}: {
  transaction: ExplainedTransaction;
  chainId: string;
}) {
  return (
    <>
      <h3 className="caps mt-3">Addresses of this transaction</h3>
      <p className="text-muted">The stream watches none of them.</p>
      <ul>
        {addresses.map(({ name, address }) => (
          <li key={address} className="flex min-h-7 flex-wrap items-center gap-x-3">
            <span className="inline-flex items-center gap-1">
              <Hash value={address} name="address" />
              <ExplorerLink chainId={chainId} page="address" value={address} />
            </span>
            <span className="text-12 text-faint">{name}</span>
          </li>
        ))}
      </ul>
      {addressCount > addresses.length && (
        <p className="text-muted">{formatCount(addressCount - addresses.length)} more.</p>
      )}
    </>
  );
}

const FIRST_RECORDS = 50;
const MORE_RECORDS = 100;

function Records({
  verdict: { records, recordCount },
  chainId,
}: {
  verdict: StreamVerdict;
  chainId: string | null;
}) {
  const [shown, setShown] = useState(FIRST_RECORDS);
  return (
    <>
      <h3 className="caps mt-3">Records</h3>
      <ul>
        {records
          .slice(0, shown)
          .map(({ kind, index, traceAddress = [], transactionHash, included, reasons }) => (
            <li key={`${kind} ${index} ${traceAddress.join()} ${transactionHash}`} className="mt-2">
              <p className="flex flex-wrap items-center gap-x-3">
                <Status condition={included ? INCLUDED : EXCLUDED} />
                <span>{RECORD_WORDS[kind]}</span>
                <span className="data text-muted">{[index, ...traceAddress].join('.')}</span>
                <Hash value={transactionHash} name="transaction hash" />
                {chainId !== null && (
                  <ExplorerLink chainId={chainId} page="transaction" value={transactionHash} />
                )}
              </p>
              <Reasons reasons={reasons} />
            </li>
          ))}
      </ul>
      {records.length > shown ? (
        <Button className="mt-2" onClick={() => setShown(shown + MORE_RECORDS)}>
          Show more ({formatCount(records.length - shown)} left)
        </Button>
      ) : (
        records.length < recordCount && (
          <p className="mt-2 text-muted">
            {formatCount(recordCount - records.length)} more. Open a delivery to see all of its
            records.
          </p>
        )
      )}
    </>
  );
}

const INCLUDED = { shape: 'disc', word: 'in the webhook', tone: 'ok' } as const;
const EXCLUDED = { shape: 'cross', word: 'excluded', tone: 'faint' } as const;
const UNKNOWN = { shape: 'ring', word: 'not known', tone: 'faint' } as const;

/** Lists the values on chain that the stream reads, and why each was sent or not. */
function Values({ verdict: { values, valueCount } }: { verdict: StreamVerdict }) {
  return (
    <>
      <h3 className="caps mt-3">Values</h3>
      <ul>
        {values.map(({ chainId, name, block, included, after, reason }) => (
          <li key={`${chainId} ${name}`} className="mt-2">
            <p className="flex flex-wrap items-center gap-x-3">
              <Status condition={included ? INCLUDED : after === null ? UNKNOWN : EXCLUDED} />
              <span className="data min-w-0 break-all">{name}</span>
              <span className="text-muted">block {formatCount(block)}</span>
            </p>
            <Reasons reasons={[reason]} />
          </li>
        ))}
      </ul>
      {valueCount > values.length && (
        <p className="mt-2 text-muted">{formatCount(valueCount - values.length)} more.</p>
      )}
    </>
  );
}

const RECORD_WORDS = {
  log: 'log',
  transaction: 'transaction',
  internalTransaction: 'internal transaction',
  call: 'call',
} as const;

/** Number of deliveries whose flight is drawn: those of both phases to two destinations. */
const DRAWN_DELIVERIES = 4;

function Deliveries({ deliveries }: { deliveries: readonly DeliverySummary[] }) {
  return (
    <>
      <h3 className="caps mt-3">Deliveries</h3>
      <ul>
        {deliveries.map((delivery, n) => (
          <li key={delivery.id}>
            <p className="flex flex-wrap items-center gap-x-4">
              <Status condition={DELIVERY_CONDITIONS[delivery.state]} />
              <Link
                to="/deliveries/$deliveryId"
                params={{ deliveryId: delivery.id }}
                className="data inline-flex min-h-7 items-center text-accent hover:underline"
              >
                {delivery.phase}
                {delivery.destination !== undefined &&
                  ` to destination ${delivery.destination}`},{' '}
                {formatClock(delivery.createdAt)}
              </Link>
              <span className="min-w-0 truncate text-muted">{delivery.error}</span>
            </p>
            {n < DRAWN_DELIVERIES && <Timing id={delivery.id} />}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Draws the flight of a delivery once its times have loaded. */
function Timing({ id }: { id: string }) {
  const { data: delivery, isPending } = useQuery(deliveryQuery(id));
  if (delivery === undefined) return isPending && <FlightSpace />;
  return <DeliveryTiming delivery={delivery} />;
}
