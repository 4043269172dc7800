import type { DeliveryDetail, DeliverySummary } from '@sluice/kit/sluice';
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { HelpCircle, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { deliveryBodyQuery, deliveryQuery, replayMutation, stopMutation } from '../../api.ts';
import { useBody } from '../../body.ts';
import type { SentBody } from '../../bodyWorker.ts';
import { deliveryCondition } from '../../condition.ts';
import { formatId } from '../../format.ts';
import { useShortcuts } from '../../keyboard.ts';
import { INSPECTOR_TABS, type InspectorTab } from '../../search.ts';
import { useActions } from '../../ui/actionList.tsx';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { useChosenTab } from '../../ui/chosenTab.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { CopyButton } from '../../ui/copyButton.tsx';
import { copyText } from '../../ui/copyText.ts';
import { copyActions, useCopyKeys, type Copies } from '../../ui/copyKeys.ts';
import { ErrorPanel } from '../../ui/errorPanel.tsx';
import { Status } from '../../ui/status.tsx';
import { Attempts, type Retry } from './attempts.tsx';
import { CertificateWarning } from './certificateWarning.tsx';
import { CodeView } from './codeView.tsx';
import { toCurl } from './curl.ts';
import { DecodedView } from './decodedView.tsx';
import { Facts } from './facts.tsx';
import { HeaderList } from './headerList.tsx';
import { PayloadView } from './payloadView.tsx';
import { ResponseView } from './responseView.tsx';
import { SparedNotice } from './sparedNotice.tsx';

const hasFailed = ({ error, state }: DeliverySummary): boolean =>
  error !== null && state !== 'succeeded';

/** One delivery: what it is at once, from the list; what was sent and answered when it arrives. */
export function DeliveryView({
  id,
  summary,
  pair,
  view,
  onView,
  trail,
  children,
}: {
  id: string;
  summary?: DeliverySummary | undefined;
  pair?: DeliverySummary | undefined;
  /** Absent: the answer of one that failed, else what it says. */
  view: InspectorTab | undefined;
  onView: (view: InspectorTab) => void;
  /** Stands before the name. */
  trail?: React.ReactNode;
  /** What the place adds to the buttons. */
  children: React.ReactNode;
}) {
  const detail = useQuery(deliveryQuery(id));
  const sent = useQuery(deliveryBodyQuery(id));
  const delivery = summary ?? detail.data;
  const queryClient = useQueryClient();
  const replay = useMutation(replayMutation(queryClient));
  const stop = useMutation(stopMutation(queryClient, id));
  const tab = view ?? (delivery !== undefined && hasFailed(delivery) ? 'response' : 'decoded');

  const step = (by: 1 | -1): void => {
    const next = INSPECTOR_TABS[INSPECTOR_TABS.indexOf(tab) + by];
    if (next !== undefined) onView(next);
  };
  const mayReplay =
    delivery !== undefined &&
    ['pending', 'succeeded', 'failed', 'quarantined'].includes(delivery.state);
  const sendAgain = (): void => {
    if (mayReplay && !replay.isPending) replay.mutate(delivery);
  };
  const retry: Retry = {
    now: sendAgain,
    stop: () => stop.mutate(),
    isBusy: stop.isPending || replay.isPending,
  };
  const { data: known } = detail;
  const { data: body } = sent;
  const copies: Copies = {
    id,
    link: location.href,
    copyCurl:
      known === undefined || body === undefined
        ? undefined
        : () => void copyText(toCurl({ id, body }, known.webhookUrl), 'curl'),
  };
  useCopyKeys(() => copies);
  const [isAsking, setAsking] = useState(false);
  useShortcuts({
    '[': () => step(-1),
    ']': () => step(1),
    r: () => {
      if (mayReplay && !replay.isPending) setAsking(true);
    },
  });
  const again = delivery?.state === 'pending' ? 'Send now' : 'Send again';
  const actions = useActions(() => ({
    of: `Delivery ${formatId(id)}`,
    actions: [
      mayReplay && {
        label: again,
        keycap: 'r',
        run: sendAgain,
      },
      delivery?.state === 'pending' &&
        delivery.attempts > 0 && { label: 'Stop retrying', run: () => stop.mutate() },
      ...copyActions(copies),
    ],
  }));

  return (
    <>
      {actions}
      {isAsking && (
        <Confirm
          title={`Delivery ${formatId(id)}`}
          action={again}
          onConfirm={sendAgain}
          onClose={() => setAsking(false)}
        >
          {delivery?.state === 'succeeded'
            ? 'It was delivered already. The receiver gets it once more, with the same webhook-id.'
            : 'It is sent to its receiver at once.'}
        </Confirm>
      )}
      <header className="flex flex-wrap items-center gap-2 border-b border-line py-2 pr-2 pl-4">
        {trail}
        {delivery !== undefined && <Status condition={deliveryCondition(delivery)} />}
        <h2 className="data min-w-16 truncate font-medium" title={id}>
          {formatId(id)}
        </h2>
        <CopyButton text={id} label="Copy id" iconOnly className="max-sm:hidden" />
        <span className="ml-auto" />
        <Button disabled={!mayReplay || replay.isPending} onClick={sendAgain}>
          <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
          {again}
          <Keycap>r</Keycap>
        </Button>
        <Link
          to="/explain"
          search={{ q: id }}
          aria-label="Explain why it was sent"
          title="Explain why it was sent"
          className={buttonClass('quiet', true)}
        >
          <HelpCircle size={14} strokeWidth={1.5} aria-hidden="true" />
        </Link>
        {children}
      </header>
      {detail.isError && (
        <ErrorPanel
          what="The delivery could not be read"
          error={detail.error}
          onRetry={() => void detail.refetch()}
          stale={detail.data !== undefined}
        />
      )}
      {replay.isError && (
        <ErrorPanel
          what="The delivery was not sent again"
          error={replay.error}
          onRetry={sendAgain}
        />
      )}
      {stop.isError && (
        <ErrorPanel
          what="The delivery is still retried"
          error={stop.error}
          onRetry={() => stop.mutate()}
        />
      )}
      {delivery !== undefined && (
        <Facts
          delivery={delivery}
          detail={detail.data}
          pair={pair ?? detail.data?.pair ?? undefined}
        />
      )}
      {delivery !== undefined && <SparedNotice delivery={delivery} retry={retry} />}
      {detail.data !== undefined && <CertificateWarning delivery={detail.data} />}
      {detail.data !== undefined && hasFailed(detail.data) && tab !== 'attempts' && (
        <section aria-label="Attempts" className="border-b border-line py-1">
          <Attempts delivery={detail.data} brief retry={retry} />
        </section>
      )}
      {/* What was tried of a failed one stands above, so the tabs come with it. */}
      {delivery === undefined || (detail.data === undefined && hasFailed(delivery)) ? (
        detail.isPending && <Reading />
      ) : (
        <Tabs tab={tab} attempts={delivery.attempts} onView={onView} onStep={step}>
          {detail.data === undefined ? (
            detail.isPending && <Reading />
          ) : (
            <Panel tab={tab} delivery={detail.data} sent={sent} retry={retry} />
          )}
        </Tabs>
      )}
    </>
  );
}

function Tabs({
  tab,
  attempts,
  onView,
  onStep,
  children,
}: {
  tab: InspectorTab;
  attempts: number;
  onView: (view: InspectorTab) => void;
  onStep: (by: 1 | -1) => void;
  children: React.ReactNode;
}) {
  const tabs = useChosenTab<HTMLDivElement>(tab);
  return (
    <>
      <div
        ref={tabs}
        role="tablist"
        aria-label="Delivery"
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3"
      >
        {INSPECTOR_TABS.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={each === tab}
            aria-controls="delivery-panel"
            tabIndex={each === tab ? 0 : -1}
            onClick={() => onView(each)}
            onKeyDown={({ key }) => {
              if (key === 'ArrowRight') onStep(1);
              if (key === 'ArrowLeft') onStep(-1);
            }}
            className="control h-9 border-b-2 border-transparent px-2 text-12 whitespace-nowrap text-muted capitalize hover:text-text aria-selected:border-accent aria-selected:text-text"
          >
            {each}
            {each === 'attempts' && <span className="data text-faint"> {attempts}</span>}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id="delivery-panel"
        aria-labelledby={`tab-${tab}`}
        className="flex min-h-60 flex-1 flex-col"
      >
        {children}
      </div>
    </>
  );
}

const Reading = () => <p className="animate-late p-4 text-faint">Loading</p>;

function Panel({
  tab,
  delivery,
  sent,
  retry,
}: {
  tab: InspectorTab;
  delivery: DeliveryDetail;
  sent: UseQueryResult<SentBody>;
  retry: Retry;
}) {
  switch (tab) {
    case 'decoded':
    case 'payload':
    case 'code':
      if (sent.data !== undefined) return <Sent tab={tab} delivery={delivery} sent={sent.data} />;
      return sent.isError ? (
        <ErrorPanel
          what="The body could not be read"
          error={sent.error}
          onRetry={() => void sent.refetch()}
        />
      ) : (
        <Reading />
      );
    case 'response':
      return <ResponseView attempts={delivery.attemptList} />;
    case 'attempts':
      return (
        <div className="min-h-0 flex-1 overflow-y-auto py-1">
          <Attempts delivery={delivery} retry={retry} />
        </div>
      );
    case 'headers':
      return <HeaderList delivery={delivery} />;
  }
}

/** What was sent, in one of its forms. */
function Sent({
  tab,
  delivery,
  sent,
}: {
  tab: 'decoded' | 'payload' | 'code';
  delivery: DeliveryDetail;
  sent: SentBody;
}) {
  const body = useBody(sent);
  if (tab === 'code') return <CodeView delivery={delivery} body={sent} />;
  if (body === undefined) return <Reading />;
  return tab === 'decoded' ? (
    <DecodedView body={body} delivery={delivery} />
  ) : (
    <PayloadView delivery={delivery} sent={sent} body={body} />
  );
}
