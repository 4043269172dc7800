import type { DeliveryDetail, DeliverySummary } from '@sluice/kit/sluice';
import { clsx } from 'clsx';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { HelpCircle, PencilLine, RotateCw } from 'lucide-react';
import { deliveryBodyQuery, deliveryQuery } from '../../data/queries/delivery.ts';
import { useBody } from '../../body/body.ts';
import type { SentBody } from '../../body/bodyWorker.ts';
import { DELIVERY_CONDITIONS } from '../../words/condition.ts';
import { formatId } from '../../ui/text/format.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { INSPECTOR_TABS, type InspectorTab } from '../../data/search.ts';
import { Button, buttonClass, Keycap } from '../../ui/button.tsx';
import { useChosenTab } from '../../ui/chosenTab.ts';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { ErrorPanel } from '../../words/errorPanel.tsx';
import { Status } from '../../ui/status.tsx';
import { Attempts } from './attempts/attempts.tsx';
import type { RetryActions } from './attempts/retry.ts';
import { CertificateWarning } from './attempts/certificateWarning.tsx';
import { DeliveryTiming } from './flight/deliveryTiming.tsx';
import { FlightSpace } from './flight/flightView.tsx';
import { CodeView } from './body/codeView.tsx';
import { useDeliveryActions } from './deliveryActions.tsx';
import { DecodedView } from './body/decodedView.tsx';
import { Facts } from './facts.tsx';
import { HeaderList } from './attempts/headerList.tsx';
import { PayloadView } from './body/payloadView.tsx';
import { ResponseView } from './attempts/responseView.tsx';
import { BackOffBanner } from './attempts/backOffBanner.tsx';

const hasFailed = ({ error, state }: DeliverySummary): boolean =>
  error !== null && state !== 'succeeded';

/**
 * Shows a delivery. Its facts appear at once if a list provides them; the request and the response
 * appear once they have loaded.
 */
export function DeliveryView({
  id,
  summary,
  pair,
  view,
  onView,
  trail,
  closeButton,
  children,
}: {
  id: string;
  summary?: DeliverySummary | undefined;
  pair?: DeliverySummary | undefined;
  /**
   * The selected tab. Default: the response if the last attempt failed, otherwise the decoded body.
   */
  view: InspectorTab | undefined;
  onView: (view: InspectorTab) => void;
  /** Content before the delivery's id. */
  trail?: React.ReactNode;
  /** Button that closes the panel; undefined on the delivery's page. */
  closeButton?: React.ReactNode;
  /** Additional buttons. */
  children: React.ReactNode;
}) {
  const detail = useQuery(deliveryQuery(id));
  const sent = useQuery(deliveryBodyQuery(id));
  const delivery = summary ?? detail.data;
  const tab = view ?? (delivery !== undefined && hasFailed(delivery) ? 'response' : 'decoded');

  const step = (by: 1 | -1): void => {
    const next = INSPECTOR_TABS[INSPECTOR_TABS.indexOf(tab) + by];
    if (next !== undefined) onView(next);
  };
  useShortcuts({ '[': () => step(-1), ']': () => step(1) });
  const { again, onSend, onEdit, retry, dialogs, problems } = useDeliveryActions({
    id,
    delivery,
    webhookUrl: detail.data?.webhookUrl,
    body: sent.data,
  });

  return (
    <>
      {dialogs}
      <Header
        id={id}
        delivery={delivery}
        trail={trail}
        again={again}
        onSend={onSend}
        onEdit={onEdit}
        closeButton={closeButton}
      >
        {children}
      </Header>
      {detail.isError && (
        <ErrorPanel
          what="Couldn't load the delivery"
          error={detail.error}
          onRetry={() => void detail.refetch()}
          stale={detail.data !== undefined}
        />
      )}
      {problems}
      {delivery !== undefined && (
        <Facts
          delivery={delivery}
          detail={detail.data}
          pair={pair ?? detail.data?.pair ?? undefined}
        />
      )}
      {delivery !== undefined && <BackOffBanner delivery={delivery} retry={retry} />}
      {detail.data !== undefined && <CertificateWarning delivery={detail.data} />}
      <div className="border-b border-line px-4 pt-2 pb-1 empty:hidden">
        {detail.data === undefined ? (
          detail.isPending && <FlightSpace />
        ) : (
          <DeliveryTiming delivery={detail.data} />
        )}
      </div>
      {detail.data !== undefined && hasFailed(detail.data) && tab !== 'attempts' && (
        <section aria-label="Attempts" className="border-b border-line py-1">
          <Attempts delivery={detail.data} brief retry={retry} />
        </section>
      )}
      {/* The attempts of a failed delivery are above the tabs, so the tabs appear with them. */}
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

function Header({
  id,
  delivery,
  trail,
  again,
  onSend,
  onEdit,
  closeButton,
  children,
}: {
  id: string;
  delivery: DeliverySummary | undefined;
  trail: React.ReactNode;
  /** Label of the send button. */
  again: string;
  /** Sends the delivery; null if the delivery cannot be sent now. */
  onSend: (() => void) | null;
  /** Opens the dialog that sends an edited copy. */
  onEdit: () => void;
  closeButton: React.ReactNode;
  children: React.ReactNode;
}) {
  return (
    <header className="flex flex-wrap items-center gap-2 border-b border-line py-2 pr-2 pl-4">
      <div className="flex min-w-0 flex-1 items-center gap-2">
        {trail}
        {delivery !== undefined && <Status condition={DELIVERY_CONDITIONS[delivery.state]} />}
        <h2 className="data min-w-16 truncate font-medium" data-tip={id}>
          {formatId(id)}
        </h2>
        <CopyButton text={id} label="Copy ID" iconOnly className="max-sm:hidden" />
      </div>
      {/* On narrow screens, the buttons move below the ID, and Close stays next to it. */}
      <div
        className={clsx(
          'flex items-center gap-2',
          closeButton === undefined ? 'max-sm:w-full' : 'max-lg:order-1 max-lg:w-full',
        )}
      >
        <Button disabled={onSend === null} onClick={onSend ?? undefined}>
          <RotateCw size={14} strokeWidth={1.5} aria-hidden="true" />
          {again}
          <Keycap>r</Keycap>
        </Button>
        <Button
          variant="quiet"
          square
          aria-label="Edit and resend"
          data-tip="Edit and resend"
          onClick={onEdit}
        >
          <PencilLine size={14} strokeWidth={1.5} aria-hidden="true" />
        </Button>
        <Link
          to="/explain"
          search={{ q: id }}
          aria-label="Explain this delivery"
          data-tip="Explain this delivery"
          className={buttonClass('quiet', true)}
        >
          <HelpCircle size={14} strokeWidth={1.5} aria-hidden="true" />
        </Link>
        {children}
      </div>
      {closeButton}
    </header>
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
  retry: RetryActions;
}) {
  switch (tab) {
    case 'decoded':
    case 'payload':
    case 'code':
      if (sent.data !== undefined) return <Sent tab={tab} delivery={delivery} sent={sent.data} />;
      return sent.isError ? (
        <ErrorPanel
          what="Couldn't load the body"
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

/** Shows one of the tabs that need the sent body. */
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
