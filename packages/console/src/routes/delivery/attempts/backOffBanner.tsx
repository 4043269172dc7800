import type { DeliverySummary, BackOff } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { streamsQuery } from '../../../data/queries/streams.ts';
import { useNow } from '../../../ui/text/clock.ts';
import { backOffWords } from '../../../words/condition.ts';
import { Button } from '../../../ui/button.tsx';
import { Status } from '../../../ui/status.tsx';
import type { Retry } from './retry.ts';

const CONDITION = { shape: 'bars', word: 'receiver backed off', tone: 'warn' } as const;

/** Returns the back-off of the receiver if it delays the delivery; otherwise undefined. */
export function useBackOff({
  streamId,
  state,
  nextAttemptAt,
}: Pick<DeliverySummary, 'streamId' | 'state' | 'nextAttemptAt'>): BackOff | undefined {
  const { data: streams } = useQuery(streamsQuery);
  const backOff = streams?.find(({ id }) => id === streamId)?.backOff;
  const waits = state === 'pending' && nextAttemptAt !== null;
  return waits && backOff && nextAttemptAt <= backOff.until ? backOff : undefined;
}

/** Explains that a pending delivery waits because its receiver is backed off. */
export function BackOffBanner({ delivery, retry }: { delivery: DeliverySummary; retry: Retry }) {
  const now = useNow();
  const backOff = useBackOff(delivery);
  if (backOff === undefined) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5">
      <Status condition={CONDITION} />
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
