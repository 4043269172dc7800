import type { DeliverySummary } from '@sluice/kit/sluice';
import { Link, useParams, useSearch } from '@tanstack/react-router';

/**
 * Links to the delivery of the same match in the other phase. Next to a list, it selects that
 * delivery in the list; elsewhere, it opens its page.
 */
export function PairLink({
  of,
  pair,
  className,
  label,
  children,
}: {
  /** ID of the delivery that is shown; null without one. */
  of: string | null;
  pair: DeliverySummary;
  className: string;
  /** Name of a link without text. */
  label?: string;
  children: React.ReactNode;
}) {
  const { sel } = useSearch({ strict: false });
  const { deliveryId } = useParams({ strict: false });
  return (
    <Link
      {...(sel === of
        ? { to: '.', search: (now) => ({ ...now, sel: pair.id }) }
        : {
            to: '/deliveries/$deliveryId',
            params: { deliveryId: pair.id },
            ...(deliveryId === of && { search: true }),
          })}
      className={className}
      {...(label !== undefined && { 'aria-label': label, title: label })}
    >
      {children}
    </Link>
  );
}
