import type { DeliveryDetail } from '@sluice/kit/sluice';
import { useNow } from '../../clock.ts';
import { formatDateTime, formatSpan } from '../../format.ts';
import { Status } from '../../ui/status.tsx';

const WARNED_MS = 14 * 24 * 3_600_000;

/** The receiver's certificate, once it is about to expire: soon nothing reaches it any more. */
export function CertificateWarning({ delivery }: { delivery: DeliveryDetail }) {
  const now = useNow();
  const certificate = delivery.attemptList.findLast((each) => each.certificate)?.certificate;
  if (certificate == null || certificate.expiresAt - now >= WARNED_MS) return null;
  const { subject, names, expiresAt } = certificate;
  const isOver = expiresAt <= now;
  return (
    <p className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-1.5">
      <Status
        condition={
          isOver
            ? { shape: 'triangle', word: 'certificate expired', tone: 'bad' }
            : { shape: 'exclamation', word: 'certificate expires soon', tone: 'warn' }
        }
      />
      <span className="min-w-0">
        The receiver’s certificate for{' '}
        <span className="data">{names.length === 0 ? subject : names.join(', ')}</span>{' '}
        {isOver
          ? `expired ${formatSpan(now - expiresAt)} ago`
          : `expires in ${formatSpan(expiresAt - now)}`}
        , <time className="data">{formatDateTime(expiresAt)}</time>
      </span>
    </p>
  );
}
