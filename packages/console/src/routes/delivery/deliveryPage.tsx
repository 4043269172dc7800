import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Trail } from '../../ui/trail.tsx';
import { CopyButton } from '../../ui/copyButton.tsx';
import { formatId } from '../../format.ts';
import { DeliveryView } from './deliveryView.tsx';

/** One delivery on a page of its own, to be sent to a colleague. */
export function DeliveryPage() {
  const { deliveryId } = useParams({ from: '/frame/deliveries/$deliveryId' });
  const { view } = useSearch({ from: '/frame/deliveries/$deliveryId' });
  const navigate = useNavigate({ from: '/deliveries/$deliveryId' });
  return (
    <div className="flex h-full flex-col">
      <Trail to="/deliveries" title="Deliveries" here={formatId(deliveryId)} />
      <DeliveryView
        key={deliveryId}
        id={deliveryId}
        view={view}
        onView={(next) => void navigate({ search: { view: next }, replace: true })}
      >
        <CopyButton text={location.href} label="Copy link" icon="link" iconOnly />
      </DeliveryView>
    </div>
  );
}
