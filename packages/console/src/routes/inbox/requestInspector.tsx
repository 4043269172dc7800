import type { InboxRequest } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { chainsQuery } from '../../data/queries/chains.ts';
import { deliveryQuery } from '../../data/queries/delivery.ts';
import { inboxRequestQuery } from '../../data/queries/inboxes.ts';
import { BodyView } from '../../body/bodyView.tsx';
import { SIGNATURE_CONDITIONS } from './signatureConditions.ts';
import { formatBytes, formatCount, formatDuration } from '../../ui/text/format.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { REQUEST_VIEWS, type RequestView } from '../../data/search.ts';
import { isolateName } from '../../words/names.ts';
import { useActions } from '../../ui/keys/actionList.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { copyText } from '../../ui/text/copyText.ts';
import { copyActions, useCopyKeys } from '../../words/copyKeys.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { ScrollText } from '../../ui/text/scrollText.tsx';
import { Segments } from '../../ui/form/segments.tsx';
import { Status } from '../../ui/status.tsx';
import { ExplorerLink } from '../chains/explorerLink.tsx';
import { attemptOf } from '../delivery/flight/deliveryFlight.ts';
import { DeliveryTiming } from '../delivery/flight/deliveryTiming.tsx';
import { FlightSpace } from '../delivery/flight/flightView.tsx';
import { toCurl } from '@sluice/kit/contract';
import { DateTime } from '../../ui/text/time.tsx';

/** URL of a handler on the user's machine, for the curl command. */
const LOCAL_URL = 'http://localhost:3000/';

const VIEW_WORDS: Record<RequestView, string> = {
  body: 'Body',
  headers: 'Headers',
  signature: 'Signature',
  answer: 'Response',
};
const VIEWS = REQUEST_VIEWS.map((value) => ({ value, label: VIEW_WORDS[value] }));

/** Shows one request next to the list or, on a phone, over the list. */
export function RequestInspector({
  inbox,
  id,
  view = 'body',
  onView,
  onClose,
}: {
  inbox: string;
  id: string;
  view: RequestView | undefined;
  onView: (view: RequestView) => void;
  onClose: () => void;
}) {
  const request = useQuery(inboxRequestQuery(inbox, id));
  const panel = useRef<HTMLElement>(null);
  // The panel takes the focus, because it covers the list on a phone.
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  const { data } = request;
  const curl =
    data && toCurl({ method: 'POST', url: LOCAL_URL, headers: data.headers, body: data.body });
  const step = (by: 1 | -1): void => {
    const next = REQUEST_VIEWS[REQUEST_VIEWS.indexOf(view) + by];
    if (next !== undefined) onView(next);
  };
  const copies =
    data === undefined || curl === undefined
      ? null
      : {
          id: data.webhookId,
          link: location.href,
          copyCurl: () => void copyText(curl, 'curl command'),
        };
  useShortcuts({ '[': () => step(-1), ']': () => step(1) });
  useCopyKeys(() => copies);
  const actions = useActions(() =>
    copies ? { of: 'Webhook', actions: copyActions(copies) } : null,
  );
  return (
    <section
      ref={panel}
      tabIndex={-1}
      aria-label="Webhook"
      className="flex min-w-0 flex-col border-line bg-surface outline-none max-md:fixed max-md:inset-x-0 max-md:top-11 max-md:bottom-12 max-md:z-10 md:w-[46%] md:min-w-96 md:border-l"
    >
      {actions}
      <header className="flex flex-wrap items-center gap-2 border-b border-line py-2 pr-2 pl-4">
        {data !== undefined && (
          <>
            <span className={`data font-medium ${data.status >= 300 ? 'text-bad' : ''}`}>
              {data.status}
            </span>
            <Status condition={SIGNATURE_CONDITIONS[data.verified ? 'valid' : 'wrong']} />
          </>
        )}
        <span className="ml-auto" />
        {curl !== undefined && <CopyButton text={curl} label="Copy as curl" icon="code" iconOnly />}
        {data !== undefined && <CopyButton text={data.body} label="Copy body" iconOnly />}
        <CopyButton text={location.href} label="Copy link" icon="link" iconOnly />
        <Button variant="quiet" square aria-label="Close" data-tip="Close (Esc)" onClick={onClose}>
          <X size={16} strokeWidth={1.5} aria-hidden="true" />
        </Button>
      </header>
      {request.isError && (
        <ErrorPanel
          what="Couldn't load the webhook"
          error={request.error}
          onRetry={() => void request.refetch()}
        />
      )}
      {data !== undefined && (
        <>
          <Facts request={data} />
          {data.delivery !== null && <Timing request={data} />}
          <div className="border-b border-line px-2 py-1">
            <Segments label="Show" options={VIEWS} value={view} onChange={onView} />
          </div>
          <View request={data} view={view} />
        </>
      )}
    </section>
  );
}

function Facts({
  request: { delivery, webhookId, receivedAt, sizeBytes },
}: {
  request: InboxRequest;
}) {
  const { data: chains } = useQuery(chainsQuery);
  return (
    <p className="flex flex-wrap items-center gap-x-4 border-b border-line px-4 py-1">
      <span className="data">
        <DateTime timeMs={receivedAt} />
      </span>
      <span className="data text-muted">{formatBytes(sizeBytes)}</span>
      {delivery === null ? (
        <span className="text-muted">test webhook</span>
      ) : (
        <>
          <span className="flex items-center gap-1">
            <span className="data text-muted">
              {chains?.find(({ id }) => id === delivery.chainId)?.code ?? delivery.chainId} block{' '}
              {formatCount(delivery.blockNumber)}, {delivery.phase}
            </span>
            <ExplorerLink
              chainId={delivery.chainId}
              page="block"
              value={String(delivery.blockNumber)}
            />
          </span>
          <Link
            to="/streams/$streamId"
            params={{ streamId: delivery.streamId }}
            className="inline-flex min-h-7 items-center text-accent hover:underline"
          >
            {isolateName(delivery.tag) || 'Stream'}
          </Link>
          <Link
            to="/deliveries/$deliveryId"
            params={{ deliveryId: webhookId }}
            className="inline-flex min-h-7 items-center text-accent hover:underline"
          >
            Delivery
          </Link>
        </>
      )}
    </p>
  );
}

/** Draws the flight of the delivery, with the attempt that sent this request. */
function Timing({ request: { webhookId, receivedAt } }: { request: InboxRequest }) {
  const { data: delivery, isPending } = useQuery(deliveryQuery(webhookId));
  return (
    <div className="border-b border-line px-4 pt-2 pb-1 empty:hidden">
      {delivery === undefined ? (
        isPending && <FlightSpace />
      ) : (
        <DeliveryTiming delivery={delivery} pickedAttempt={attemptOf(delivery, receivedAt)} />
      )}
    </div>
  );
}

function View({ request, view }: { request: InboxRequest; view: RequestView }) {
  switch (view) {
    case 'body':
      return <BodyView label="Body" text={request.body} />;
    case 'headers':
      return (
        <dl className="min-h-0 flex-1 overflow-y-auto px-4 py-1">
          {Object.entries(request.headers).map(([name, value]) => (
            <div key={name} className="data flex flex-wrap gap-x-3 border-b border-line py-1">
              <dt className="w-44 text-muted">{name}</dt>
              <dd className="min-w-0 break-all">{value}</dd>
            </div>
          ))}
        </dl>
      );
    case 'signature':
      return <SignatureView request={request} />;
    case 'answer':
      return <ResponseView request={request} />;
  }
}

/** Shows the result of the signature check and links to Verify. */
function SignatureView({
  request: { verified, headers, delivery, webhookId },
}: {
  request: InboxRequest;
}) {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-4 py-3">
      <Status condition={SIGNATURE_CONDITIONS[verified ? 'valid' : 'wrong']} />
      <p className="mt-1 text-muted">
        {verified
          ? 'x-signature is the Keccak-256 of this body followed by the streams secret.'
          : 'x-signature is not the Keccak-256 of this body followed by the streams secret. The secret was changed while the request was being sent.'}
      </p>
      <dl className="mt-2">
        {['x-signature', 'webhook-signature', 'webhook-timestamp'].map((name) => (
          <div key={name} className="data flex flex-wrap gap-x-3 border-b border-line py-1">
            <dt className="w-44 text-muted">{name}</dt>
            <dd className="min-w-0 break-all">{headers[name] ?? '–'}</dd>
          </div>
        ))}
      </dl>
      {delivery !== null && (
        <Link
          to="/verify"
          search={{ delivery: webhookId }}
          className={`${buttonClass('plain')} mt-3`}
        >
          Verify in this browser
        </Link>
      )}
    </div>
  );
}

function ResponseView({ request: { status, answer } }: { request: InboxRequest }) {
  return (
    <>
      <p className="flex flex-wrap gap-x-4 border-b border-line px-4 py-2">
        <span className={`data font-medium ${status >= 300 ? 'text-bad' : ''}`}>{status}</span>
        <span className="data text-muted">
          {answer.delayMs === 0 ? 'no delay' : `after ${formatDuration(answer.delayMs)}`}
        </span>
      </p>
      {answer.body === '' ? (
        <p className="p-4 text-muted">The response has no body.</p>
      ) : (
        <ScrollText label="Response" wrap className="flex-1">
          {answer.body}
        </ScrollText>
      )}
    </>
  );
}
