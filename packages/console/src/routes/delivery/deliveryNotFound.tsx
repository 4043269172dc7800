import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { aboutQuery } from '../../data/queries/access.ts';
import { useNow } from '../../ui/text/clock.ts';
import { formatDateTime, formatSpan } from '../../ui/text/format.ts';
import { timeOfId } from '@sluice/kit/contract';
import { UUID } from '../../words/paste.ts';
import { buttonClass } from '../../ui/button.tsx';

/** Returns the creation time in a delivery's id; null if the id is not a version 7 UUID. */
const madeAtOf = (id: string): number | null =>
  UUID.test(id) && id[14] === '7' ? timeOfId(id) : null;

/** Explains why a delivery may not exist, based on the creation time in its id. */
export function DeliveryNotFound({ id }: { id: string }) {
  const { data: about } = useQuery(aboutQuery);
  const now = useNow();
  const madeAt = madeAtOf(id);
  const isExpired = madeAt !== null && about !== undefined && now - madeAt > about.deliveredMs;
  return (
    <div className="p-4">
      <p className="font-medium">{isExpired ? 'Deleted by retention' : 'Delivery not found'}</p>
      <p className="mt-1 max-w-140 text-muted">
        {madeAt !== null && `The ID was created on ${formatDateTime(madeAt)}. `}
        {isExpired
          ? `Delivered and canceled webhooks are kept for ${formatSpan(about.deliveredMs)}, others for ${formatSpan(about.undeliveredMs)}.`
          : 'The link is incomplete, or for another service or an earlier ledger.'}
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Link to="/deliveries" className={buttonClass('plain')}>
          View all deliveries
        </Link>
        {madeAt !== null && (
          <Link to="/deliveries" search={{ until: madeAt }} className={buttonClass('plain')}>
            View deliveries up to that time
          </Link>
        )}
      </div>
    </div>
  );
}
