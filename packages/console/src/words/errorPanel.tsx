import { isSluiceError, type SluiceError } from '@sluice/kit/sluice';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/text/copyButton.tsx';
import { StatusShape } from '../ui/status.tsx';

/** Replaces the client's hint about its base URL, which users of the console cannot set. */
const hintOf = ({ code, hint }: SluiceError): string =>
  code === 'network_error' ? 'Check that the service is running and reachable.' : hint;

/**
 * Shows what failed and why, with a link to the documentation of the error code. Without a
 * response, also shows a hint.
 */
export function ErrorPanel({
  what,
  error,
  onRetry,
  stale = false,
}: {
  what: string;
  error: unknown;
  onRetry: () => void;
  /** True if older data is still shown next to the panel. */
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
          {stale && ' Showing older data.'}{' '}
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
            <CopyButton text={known.requestId} label="Copy request ID" iconOnly />
            {(known.status ?? 0) >= 500 && (
              <span>Look for this ID in the service log (stderr).</span>
            )}
          </p>
        )}
      </div>
      <Button onClick={onRetry}>Try again</Button>
    </div>
  );
}
