import type { DeliveryDetail } from '@sluice/kit/sluice';
import { useNow } from '../../../ui/text/clock.ts';
import { formatDateTime, formatQuantity, formatSpan } from '../../../ui/text/format.ts';
import { Status } from '../../../ui/status.tsx';

const CONDITION = { shape: 'exclamation', word: 'certificate expires soon', tone: 'warn' } as const;

/** The receiver's certificate was about to expire: soon nothing reaches it any more. */
export function CertificateWarning({ delivery }: { delivery: DeliveryDetail }) {
  const now = useNow();
  const certificate = delivery.attemptList.findLast((each) => each.certificate)?.certificate;
  // One that is over by now was renewed since, or the attempts fail for it and say so themselves.
  if (!certificate?.expiresSoon || certificate.expiresAt <= now) return null;
  const { subject, names, expiresAt } = certificate;
  const [name = subject, ...others] = names;
  return (
    <p className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-1.5">
      <Status condition={CONDITION} />
      <span className="min-w-0 basis-64 grow break-words">
        The receiver showed one for <span className="data">{name}</span>
        {others.length > 0 && (
          <span title={others.join(', ')}> and {formatQuantity(others.length, 'other name')}</span>
        )}{' '}
        that ends in {formatSpan(expiresAt - now)},{' '}
        <time dateTime={new Date(expiresAt).toISOString()} className="data">
          {formatDateTime(expiresAt)}
        </time>
        . Unless it is renewed there, nothing is delivered after that.
      </span>
    </p>
  );
}
