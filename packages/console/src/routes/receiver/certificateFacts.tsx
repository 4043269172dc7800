import { useQuery } from '@tanstack/react-query';
import { certificateQuery } from '../../data/queries/receivers.ts';
import { Status } from '../../ui/status.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { formatAgo, formatDateTime, formatSpan } from '../../ui/text/format.ts';
import { condition } from '../../words/condition.ts';
import { ErrorPanel } from '../../words/errorPanel.tsx';

/** Number of names that are shown. The others are in a tooltip. */
const SHOWN_NAMES = 3;

/** Shows the certificate that the receiver presented last. */
export function CertificateFacts({ receiver }: { receiver: string }) {
  const now = useNow();
  const { data, error, refetch } = useQuery(certificateQuery(receiver));
  if (error !== null) {
    return (
      <ErrorPanel
        what="Couldn't load the certificate"
        error={error}
        onRetry={() => void refetch()}
      />
    );
  }
  if (data === undefined) return null;
  const { certificate, seenAt } = data;
  if (certificate === null || seenAt === null) {
    return <span className="text-muted">None in the newest attempts</span>;
  }
  const { names, issuer, subject, expiresAt, expiresSoon } = certificate;
  const shown = names.length === 0 ? [subject] : names.slice(0, SHOWN_NAMES);
  const rest = names.slice(SHOWN_NAMES);
  return (
    <>
      <span className="min-w-0 wrap-anywhere">
        <span className="data">{shown.join(', ')}</span>
        {rest.length > 0 && (
          <span className="text-muted" data-tip={rest.join(', ')}>
            {' '}
            and {rest.length} more
          </span>
        )}
      </span>
      <span className="min-w-0 text-muted wrap-anywhere">issued by {issuer}</span>
      {expiresAt <= now ? (
        <Status condition={condition('triangle', 'expired', 'bad')} />
      ) : (
        <span className={expiresSoon ? 'text-warn' : 'text-muted'}>
          expires in {formatSpan(expiresAt - now)}, {formatDateTime(expiresAt)}
        </span>
      )}
      <span className="text-12 text-faint">seen {formatAgo(seenAt, now)}</span>
    </>
  );
}
