import { isSluiceError, type SluiceError } from '@sluice/kit/sluice';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/text/copyButton.tsx';
import { StatusShape } from '../ui/status.tsx';

/** Where the console asks is not for its reader to set. */
const hintOf = ({ code, hint }: SluiceError): string =>
  code === 'network_error' ? 'Check that the service runs and can be reached from here.' : hint;

/** What failed, why, the next step, and where its code is explained. What was loaded before stays on the page. */
export function ErrorPanel({
  what,
  error,
  onRetry,
  stale = false,
}: {
  what: string;
  error: unknown;
  onRetry: () => void;
  /** Older data is still shown beside the panel. */
  stale?: boolean;
}) {
  const known = isSluiceError(error) ? error : null;
  const reason = error instanceof Error ? error.message : String(error);
  return (
    <div
      role="alert"
      className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b border-line bg-surface px-4 py-3"
    >
      <div className="min-w-0 flex-1 basis-64">
        <p className="flex items-center gap-2 font-medium">
          <StatusShape condition={{ shape: 'triangle', word: '', tone: 'bad' }} />
          {what}
        </p>
        <p className="mt-0.5 break-words text-muted">
          {reason}
          {known?.status === undefined && known !== null && `. ${hintOf(known)}`}
          {stale && ' What you see is from before.'}{' '}
          {known !== null && (
            <a href={known.docUrl} target="_blank" rel="noreferrer" className="data underline">
              {known.code}
            </a>
          )}
          {known?.status !== undefined && <span className="data text-faint"> {known.status}</span>}
        </p>
        {known?.requestId !== undefined && (
          <p className="mt-1 flex flex-wrap items-center gap-1 text-12 text-faint">
            Request <span className="data break-all">{known.requestId}</span>
            <CopyButton text={known.requestId} label="Copy request id" iconOnly />
            {(known.status ?? 0) >= 500 && (
              <span>The service’s log, its standard error, says more under this id.</span>
            )}
          </p>
        )}
      </div>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  );
}
