import type { DeliverySummary, BackOff } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { streamsQuery } from '../../../data/queries/streams.ts';
import { useNow } from '../../../ui/text/clock.ts';
import { isWaiting } from '@sluice/kit/contract';
import { backOffWords } from '../../../words/condition.ts';
import { Button } from '../../../ui/button.tsx';
import { Status } from '../../../ui/status.tsx';
import type { RetryActions } from './retry.ts';

const BACKED_OFF = { shape: 'bars', word: 'receiver backed off', tone: 'warn' } as const;
const PAUSED = { shape: 'bars', word: 'stream paused', tone: 'muted' } as const;

/** Returns the back-off of the receiver if it delays the delivery; otherwise undefined. */
export function useBackOff({
  streamId,
  destination,
  state,
  nextAttemptAt,
}: Pick<DeliverySummary, 'streamId' | 'destination' | 'state' | 'nextAttemptAt'>):
  | BackOff
  | undefined {
  const { data: streams } = useQuery(streamsQuery);
  const stream = streams?.find(({ id }) => id === streamId);
  const receiver =
    destination === undefined
      ? stream
      : stream?.destinations.find((each) => each.destination === destination);
  const backOff = receiver?.backOff;
  const waits = isWaiting(state) && nextAttemptAt !== null;
  return waits && backOff && nextAttemptAt <= backOff.until ? backOff : undefined;
}

/** Returns whether the delivery waits until its stream is resumed. */
export function useIsPaused({
  streamId,
  state,
}: Pick<DeliverySummary, 'streamId' | 'state'>): boolean {
  const { data: streams } = useQuery(streamsQuery);
  return isWaiting(state) && streams?.find(({ id }) => id === streamId)?.status === 'paused';
}

/** Explains that a delivery waits because its stream is paused or its receiver is backed off. */
export function BackOffBanner({
  delivery,
  retry,
}: {
  delivery: DeliverySummary;
  retry: RetryActions;
}) {
  const now = useNow();
  const backOff = useBackOff(delivery);
  const isPaused = useIsPaused(delivery);
  if (isPaused) {
    return (
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5">
        <Status condition={PAUSED} />
        <p className="min-w-0 basis-64 grow">The delivery is sent when the stream is resumed.</p>
      </div>
    );
  }
  if (backOff === undefined) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5">
      <Status condition={BACKED_OFF} />
      <p className="min-w-0 basis-64 grow break-words">
        {backOff.reason === 'failures'
          ? `The receiver keeps failing: ${backOffWords(backOff, now)}.`
          : `The receiver is rate limiting requests: ${backOffWords(backOff, now)}.`}{' '}
        Nothing is lost, and no attempt is used up.
      </p>
      {backOff.reason === 'failures' && backOff.until > now && (
        <Button disabled={retry.isBusy} onClick={retry.now}>
          Probe now
        </Button>
      )}
    </div>
  );
}
