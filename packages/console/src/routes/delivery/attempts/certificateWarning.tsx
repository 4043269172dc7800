import type { DeliveryDetail } from '@sluice/kit/sluice';
import { useNow } from '../../../ui/text/clock.ts';
import { formatSpan } from '../../../ui/text/format.ts';
import { Status } from '../../../ui/status.tsx';
import { DateTime } from '../../../ui/text/time.tsx';

const CONDITION = { shape: 'exclamation', word: 'certificate expires soon', tone: 'warn' } as const;

export function CertificateWarning({ delivery }: { delivery: DeliveryDetail }) {
  const now = useNow();
  const certificate = delivery.attemptList.findLast((each) => each.certificate)?.certificate;
  // An expired certificate needs no warning: either it has been renewed since the last attempt, or
  // the attempts show the error.
  if (!certificate?.expiresSoon || certificate.expiresAt <= now) return null;
  const { subject, names, expiresAt } = certificate;
  const [name = subject, ...others] = names;
  return (
    <p className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-1.5">
      <Status condition={CONDITION} />
      <span className="min-w-0 basis-64 grow break-words">
        The certificate for <span className="data">{name}</span>
        {others.length > 0 && <span data-tip={others.join(', ')}> (+{others.length})</span>} expires
        in {formatSpan(expiresAt - now)}, on{' '}
        <time className="data" dateTime={new Date(expiresAt).toISOString()}>
          <DateTime timeMs={expiresAt} />
        </time>
        . Renew it at the receiver before then.
      </span>
    </p>
  );
}
