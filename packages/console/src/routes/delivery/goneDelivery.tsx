import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { aboutQuery } from '../../data/queries/access.ts';
import { useNow } from '../../ui/text/clock.ts';
import { formatDateTime, formatSpan } from '../../ui/text/format.ts';
import { timeOfId } from '../../data/live/liveCache.ts';
import { UUID } from '../../words/paste.ts';
import { buttonClass } from '../../ui/button.tsx';

/** Deliveries have ids of version 7, which begin with their time. */
const madeAtOf = (id: string): number | null =>
  UUID.test(id) && id[14] === '7' ? timeOfId(id) : null;

/** Where a link leads to a delivery that the service does not have: why that is, as far as its id tells. */
export function GoneDelivery({ id }: { id: string }) {
  const { data: about } = useQuery(aboutQuery);
  const now = useNow();
  const madeAt = madeAtOf(id);
  const isExpired = madeAt !== null && about !== undefined && now - madeAt > about.deliveredMs;
  return (
    <div className="p-4">
      <p className="font-medium">
        {isExpired ? 'Expired by retention' : 'There is no delivery with this id'}
      </p>
      <p className="mt-1 max-w-140 text-muted">
        {madeAt !== null && `Its id was made on ${formatDateTime(madeAt)}. `}
        {isExpired
          ? `Deliveries that arrived are kept for ${formatSpan(about.deliveredMs)}, others for ${formatSpan(about.undeliveredMs)}.`
          : 'The link is cut off, of another service, or of a ledger that was begun anew since.'}
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        <Link to="/deliveries" className={buttonClass('plain')}>
          All deliveries
        </Link>
        {madeAt !== null && (
          <Link to="/deliveries" search={{ until: madeAt }} className={buttonClass('plain')}>
            Those of that time
          </Link>
        )}
      </div>
    </div>
  );
}
