import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { deliveryQuery } from '../../data/queries/delivery.ts';
import { isUnknownId } from '../../data/queries/service.ts';
import { neighborsQuery } from '../../data/queries/history.ts';
import { formatId } from '../../ui/text/format.ts';
import { useShortcuts } from '../../ui/keys/keyboard.ts';
import { toListFilter, type DeliverySearch } from '../../data/search.ts';
import { buttonClass } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/text/copyButton.tsx';
import { Breadcrumb } from '../../ui/breadcrumb.tsx';
import { DeliveryView } from './deliveryView.tsx';
import { DeliveryNotFound } from './deliveryNotFound.tsx';
import { useNamePage } from '../../ui/pageTitle.ts';

/** Shows a delivery on its own page, with links to its neighbors in the list. */
export function DeliveryPage() {
  const { deliveryId } = useParams({ from: '/frame/deliveries/$deliveryId' });
  const { view, ...filter } = useSearch({ from: '/frame/deliveries/$deliveryId' });
  const navigate = useNavigate({ from: '/deliveries/$deliveryId' });
  useNamePage(formatId(deliveryId));
  const { data: delivery, error } = useQuery(deliveryQuery(deliveryId));
  const { data: beside } = useQuery({
    ...neighborsQuery(toListFilter(filter), deliveryId),
    enabled: delivery !== undefined,
  });
  const search: DeliverySearch = view === undefined ? filter : { ...filter, view };
  const open = (id: string | null | undefined): boolean => {
    if (id == null) return false;
    void navigate({ params: { deliveryId: id }, search, replace: true });
    return true;
  };
  useShortcuts({ j: () => open(beside?.older), k: () => open(beside?.newer) });
  if (delivery === undefined && isUnknownId(error)) {
    return (
      <>
        <Breadcrumb to="/deliveries" title="Deliveries" here={formatId(deliveryId)} />
        <DeliveryNotFound id={deliveryId} />
      </>
    );
  }
  return (
    <div className="flex h-full flex-col">
      <DeliveryView
        key={deliveryId}
        id={deliveryId}
        view={view}
        onView={(next) => void navigate({ search: { ...filter, view: next }, replace: true })}
        trail={
          <Breadcrumb to="/deliveries" search={{ ...filter, sel: deliveryId }} title="Deliveries" />
        }
      >
        <CopyButton
          text={location.href}
          label="Copy link"
          icon="link"
          iconOnly
          className="max-sm:hidden"
        />
        <NeighborLink id={beside?.older} search={search} label="Older delivery" keycap="j">
          <ChevronDown size={14} strokeWidth={1.5} aria-hidden="true" />
        </NeighborLink>
        <NeighborLink id={beside?.newer} search={search} label="Newer delivery" keycap="k">
          <ChevronUp size={14} strokeWidth={1.5} aria-hidden="true" />
        </NeighborLink>
      </DeliveryView>
    </div>
  );
}

function NeighborLink({
  id,
  search,
  label,
  keycap,
  children,
}: {
  /** Id of the neighbor; undefined while it loads, null if there is none. */
  id: string | null | undefined;
  search: DeliverySearch;
  label: string;
  keycap: string;
  children: React.ReactNode;
}) {
  if (id == null) {
    return <span className={`${buttonClass('quiet', true)} opacity-50`}>{children}</span>;
  }
  return (
    <Link
      to="/deliveries/$deliveryId"
      params={{ deliveryId: id }}
      search={search}
      replace
      aria-label={label}
      data-tip={`${label} (${keycap})`}
      className={buttonClass('quiet', true)}
    >
      {children}
    </Link>
  );
}
