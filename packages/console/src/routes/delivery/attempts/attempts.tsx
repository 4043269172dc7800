import type { DeliveryAttempt, DeliveryDetail, StreamSummary } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Info } from 'lucide-react';
import { useState } from 'react';
import { deliveryBodyQuery } from '../../../data/queries/delivery.ts';
import { streamQuery, streamsQuery } from '../../../data/queries/streams.ts';
import { isWaiting } from '@sluice/kit/contract';
import { useNow } from '../../../ui/text/clock.ts';
import {
  formatClock,
  formatDateTime,
  formatDue,
  formatDuration,
  formatMoment,
  formatSpan,
  formatWait,
} from '../../../ui/text/format.ts';
import { ChangeUrl } from './changeUrl.tsx';
import { attemptGuidance, type SuggestedAction } from './guidance.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/text/copyButton.tsx';
import { Status, StatusShape } from '../../../ui/status.tsx';
import { AttemptTimings } from './attemptTimings.tsx';
import type { RetryActions } from './retry.ts';
import { useBackOff, useIsPaused } from './backOffBanner.tsx';
import { toConnectingCurl } from '@sluice/kit/contract';
import { toDeliveryCurl, toReplayCommand } from '../body/curl.ts';
import { SimilarFailures } from './similarFailures.tsx';
import { responseWord } from './responseWord.ts';

/** Lists the attempts, or only the last one if `brief`. Shows when the next attempt is due. */
export function Attempts({
  delivery,
  brief = false,
  retry,
}: {
  delivery: DeliveryDetail;
  brief?: boolean;
  retry: RetryActions;
}) {
  const { attemptList, nextAttemptAt, state } = delivery;
  const shown = brief ? attemptList.slice(-1) : attemptList;
  const isPaused = useIsPaused(delivery);
  const waits = !isPaused && nextAttemptAt !== null && (isWaiting(state) || state === 'leased');
  const backOff = useBackOff(delivery);
  return (
    <>
      {attemptList.length === 0 && <p className="px-4 py-2 text-muted">Not sent yet.</p>}
      <ol>
        {shown.map((attempt, index) => (
          <AttemptLine key={attempt.number} attempt={attempt} previous={shown[index - 1]} />
        ))}
        {waits && (
          <NextAttempt delivery={delivery} dueAt={backOff?.until ?? nextAttemptAt} retry={retry} />
        )}
      </ol>
      <Advice delivery={delivery} />
    </>
  );
}

/**
 * Shows when the next attempt is due. Once a first attempt has been made, shows the waits after the
 * next attempt and a button that stops the retries.
 */
function NextAttempt({
  delivery: { attempts, remainingWaitsMs },
  dueAt,
  retry,
}: {
  delivery: DeliveryDetail;
  dueAt: number;
  retry: RetryActions;
}) {
  const now = useNow();
  const [first, ...others] = remainingWaitsMs.map((waitMs) => `+${formatWait(waitMs)}`);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-1">
      <span className="data w-7 text-faint">#{attempts + 1}</span>
      <time
        dateTime={new Date(dueAt).toISOString()}
        data-tip={formatDateTime(dueAt)}
        className="data"
      >
        {formatMoment(dueAt, now).length > 5
          ? formatDateTime(dueAt)
          : formatClock(dueAt).slice(0, 8)}
      </time>
      <Status condition={{ shape: 'dashed', word: formatDue(dueAt, now), tone: 'warn' }} />
      {attempts > 0 && (
        <>
          <span className="min-w-0 text-muted">
            {first === undefined ? 'last attempt' : `then ${[first, ...others].join(', ')}`}
          </span>
          <Button variant="quiet" className="ml-auto" disabled={retry.isBusy} onClick={retry.stop}>
            Stop retrying
          </Button>
        </>
      )}
    </li>
  );
}

function AttemptLine({
  attempt,
  previous,
}: {
  attempt: DeliveryAttempt;
  previous: DeliveryAttempt | undefined;
}) {
  const { number, startedAt, durationMs, error } = attempt;
  const ok = error === null;
  const gapMs = previous && startedAt - previous.startedAt - previous.durationMs;
  return (
    <li className="px-4 py-1">
      <div className="data flex items-center gap-3">
        <span className="w-7 shrink-0 text-faint">#{number}</span>
        <time
          dateTime={new Date(startedAt).toISOString()}
          data-tip={formatDateTime(startedAt)}
          className="shrink-0 max-sm:hidden"
        >
          {formatClock(startedAt)}
        </time>
        <span className="w-14 shrink-0 text-right text-faint max-sm:hidden">
          {gapMs !== undefined && `+${formatSpan(gapMs)}`}
        </span>
        <span className={`inline-flex shrink-0 items-center gap-1.5 ${ok ? '' : 'text-bad'}`}>
          <StatusShape
            condition={
              ok
                ? { shape: 'disc', word: 'responded', tone: 'ok' }
                : { shape: 'triangle', word: 'failed', tone: 'bad' }
            }
          />
          {responseWord(attempt)}
        </span>
        <span className="shrink-0 text-muted">{formatDuration(durationMs)}</span>
      </div>
      <p className="data flex flex-wrap gap-x-4 pl-10 text-faint">
        <AttemptTimings attempt={attempt} />
        <span className="min-w-40 flex-1 truncate" data-tip={requestOf(attempt)}>
          {outcomeOf(attempt, previous)}
        </span>
      </p>
    </li>
  );
}

/** Returns the URL of an attempt, with the method if it has one. */
const requestOf = ({ webhookUrl }: DeliveryAttempt): string =>
  webhookUrl.startsWith('http') ? `POST ${webhookUrl}` : webhookUrl;

/**
 * Describes an attempt in addition to its status. For a success, returns the URL. For a
 * failure, returns the first line of the response, `same response` if it repeats the previous one,
 * or the error if there is no response text.
 */
function outcomeOf(attempt: DeliveryAttempt, previous: DeliveryAttempt | undefined): string {
  const { status, error, responseBody } = attempt;
  if (error === null) return requestOf(attempt);
  const said = responseBody.trim();
  if (status === null || said === '') return error;
  return previous?.status === status && previous.responseBody.trim() === said
    ? 'same response'
    : (said.split('\n', 1)[0] ?? '');
}

/** Explains the last failure and offers next steps. */
function Advice({ delivery }: { delivery: DeliveryDetail }) {
  const { data: streams } = useQuery(streamsQuery);
  const newest = delivery.attemptList.at(-1);
  if (newest === undefined || newest.error === null) return null;
  const guidance = attemptGuidance(newest, {
    bodyBytes: delivery.bodyBytes,
    p95Ms: streams?.find(({ id }) => id === delivery.streamId)?.p95Ms ?? null,
    nextAttemptAt: delivery.nextAttemptAt,
  });
  return (
    <>
      {guidance && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 pt-1 pb-2">
          <p className="min-w-0 flex-1 basis-64 text-muted">
            <Info
              size={14}
              strokeWidth={1.5}
              aria-hidden="true"
              className="mr-1.5 inline-block align-[-2px] text-info"
            />
            {guidance.advice}
          </p>
          {guidance.offers.length > 0 && (
            <div className="flex flex-wrap items-center gap-2">
              {guidance.offers.map((offer) => (
                <NextStep
                  key={typeof offer === 'string' ? offer : offer.label}
                  offer={offer}
                  delivery={delivery}
                  webhookUrl={newest.webhookUrl}
                />
              ))}
            </div>
          )}
        </div>
      )}
      <SimilarFailures streamId={delivery.streamId} status={newest.status} />
    </>
  );
}

function NextStep({
  offer,
  delivery,
  webhookUrl,
}: {
  offer: SuggestedAction;
  delivery: DeliveryDetail;
  webhookUrl: string;
}) {
  switch (offer) {
    case 'verify':
      return (
        <Link to="/verify" search={{ delivery: delivery.id }} className={buttonClass('plain')}>
          Check the signature
        </Link>
      );
    case 'edit':
      return <EditUrl delivery={delivery} />;
    case 'limit':
      return (
        <Link
          to="/streams/$streamId"
          params={{ streamId: delivery.streamId }}
          search={{ tab: 'settings' }}
          className={buttonClass('plain')}
        >
          Edit rate limits
        </Link>
      );
    case 'curl':
      return <CurlOffer id={delivery.id} webhookUrl={webhookUrl} />;
    case 'connect':
      return <CopyButton text={toConnectingCurl(webhookUrl)} label="Copy curl -v" />;
    case 'local':
      return (
        <CopyButton
          text={toReplayCommand(delivery, webhookUrl)}
          label="Copy command to replay to localhost"
        />
      );
    default:
      return <CopyButton text={offer.copy} label={offer.label} />;
  }
}

/** The URL of an additional destination is fixed, so only that of the stream itself is offered. */
function EditUrl({ delivery }: { delivery: DeliveryDetail }) {
  const { data: streams } = useQuery(streamsQuery);
  const stream = streams?.find(({ id }) => id === delivery.streamId);
  if (stream === undefined || (delivery.destination ?? 0) !== 0) return null;
  return <EditStreamUrl stream={stream} delivery={delivery} />;
}

function EditStreamUrl({ stream, delivery }: { stream: StreamSummary; delivery: DeliveryDetail }) {
  const { data: saved } = useQuery(streamQuery(stream));
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button disabled={saved === undefined} onClick={() => setOpen(true)}>
        Change the webhook URL…
      </Button>
      {isOpen && saved !== undefined && (
        <ChangeUrl
          stream={stream}
          savedUrl={saved.webhookUrl}
          delivery={delivery}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function CurlOffer({ id, webhookUrl }: { id: string; webhookUrl: string }) {
  const { data: body } = useQuery(deliveryBodyQuery(id));
  return body === undefined ? null : (
    <CopyButton text={toDeliveryCurl(id, body, webhookUrl)} label="Copy as curl" />
  );
}
