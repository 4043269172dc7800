import type { DeliverySummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Maximize2, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { deliveryQuery } from '../../data/queries/delivery.ts';
import { isUnknownId } from '../../data/queries/service.ts';
import { formatId } from '../../ui/text/format.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import type { DeliverySearch, InspectorTab } from '../../data/search.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { DeliveryView } from './deliveryView.tsx';
import { DeliveryNotFound } from './deliveryNotFound.tsx';

/** Shows a delivery next to the list or, on a phone, over the list. */
export function Inspector({
  id,
  summary,
  pair,
  view,
  filter,
  onView,
  onClose,
}: {
  id: string;
  summary: DeliverySummary | undefined;
  pair: DeliverySummary | undefined;
  view: InspectorTab | undefined;
  /** Filter of the list, so that the delivery's page steps through the same list. */
  filter: DeliverySearch;
  onView: (view: InspectorTab) => void;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const panel = useRef<HTMLElement>(null);
  // The panel takes the focus, because it covers the list on a phone.
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  const page = {
    to: '/deliveries/$deliveryId',
    params: { deliveryId: id },
    search: view === undefined ? filter : { ...filter, view },
  } as const;
  useShortcuts({ o: () => void navigate(page) });
  const { error } = useQuery(deliveryQuery(id));
  const closeButton = (
    <Button variant="quiet" square aria-label="Close" data-tip="Close (Esc)" onClick={onClose}>
      <X size={16} strokeWidth={1.5} aria-hidden="true" />
    </Button>
  );
  return (
    <section
      ref={panel}
      tabIndex={-1}
      aria-label={`Delivery ${formatId(id)}`}
      className="flex min-w-0 flex-col overflow-y-auto border-line bg-surface outline-none max-md:fixed max-md:inset-x-0 max-md:top-11 max-md:bottom-12 max-md:z-10 md:w-[44%] md:min-w-96 md:border-l"
    >
      {summary === undefined && isUnknownId(error) ? (
        <>
          <header className="flex border-b border-line py-2 pr-2 pl-4">
            <h2 className="data mr-auto self-center font-medium" data-tip={id}>
              {formatId(id)}
            </h2>
            {closeButton}
          </header>
          <DeliveryNotFound id={id} />
        </>
      ) : (
        <DeliveryView
          id={id}
          summary={summary}
          pair={pair}
          view={view}
          onView={onView}
          closeButton={closeButton}
        >
          <Link
            {...page}
            aria-label="Open as a page"
            data-tip="Open as a page (o)"
            className={buttonClass('quiet', true)}
          >
            <Maximize2 size={14} strokeWidth={1.5} aria-hidden="true" />
          </Link>
        </DeliveryView>
      )}
    </section>
  );
}
