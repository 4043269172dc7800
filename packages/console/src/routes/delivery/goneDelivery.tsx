import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { aboutQuery } from '../../data/queries/access.ts';
import { useNow } from '../../ui/text/clock.ts';
import { formatDateTime, formatSpan } from '../../ui/text/format.ts';
import { timeOfId } from '../../data/live/liveCache.ts';
import { UUID } from '../../words/paste.ts';
import { buttonClass } from '../../ui/button.tsx';

/** Ids of deliveries are version 7 UUIDs, which start with the creation time. */
const madeAtOf = (id: string): number | null =>
  UUID.test(id) && id[14] === '7' ? timeOfId(id) : null;

/** Explains why a delivery does not exist, as far as its id reveals. */
export function GoneDelivery({ id }: { id: string }) {
  const { data: about } = useQuery(aboutQuery);
  const now = useNow();
  const madeAt = madeAtOf(id);
  const isExpired = madeAt !== null && about !== undefined && now - madeAt > about.deliveredMs;
  return (
    <div className="p-4">
      <p className="font-medium">{isExpired ? 'Expired by retention' : 'Delivery not found'}</p>
      <p className="mt-1 max-w-140 text-muted">
        {madeAt !== null && `The ID was created on ${formatDateTime(madeAt)}. `}
        {isExpired
          ? `Successful deliveries are kept for ${formatSpan(about.deliveredMs)}, others for ${formatSpan(about.undeliveredMs)}.`
          : 'The link is incomplete, or for another service or an earlier ledger.'}
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Link to="/deliveries" className={buttonClass('plain')}>
          All deliveries
        </Link>
        {madeAt !== null && (
          <Link to="/deliveries" search={{ until: madeAt }} className={buttonClass('plain')}>
            Deliveries from that time
          </Link>
        )}
      </div>
    </div>
  );
}
