import type { DeliverySummary, Spared } from '@sluice/kit/sluice';
import { useQuery } from '@tanstack/react-query';
import { streamsQuery } from '../../../data/queries/streams.ts';
import { useNow } from '../../../ui/text/clock.ts';
import { sparedWords } from '../../../words/condition.ts';
import { Button } from '../../../ui/button.tsx';
import { Status } from '../../../ui/status.tsx';
import type { Retry } from './retry.ts';

const CONDITION = { shape: 'bars', word: 'receiver spared', tone: 'warn' } as const;

/** Why a delivery that is due, or will be before the end of it, is not sent; undefined of every other. */
export function useSpared({
  streamId,
  state,
  nextAttemptAt,
}: Pick<DeliverySummary, 'streamId' | 'state' | 'nextAttemptAt'>): Spared | undefined {
  const { data: streams } = useQuery(streamsQuery);
  const spared = streams?.find(({ id }) => id === streamId)?.spared;
  const waits = state === 'pending' && nextAttemptAt !== null;
  return waits && spared && nextAttemptAt <= spared.until ? spared : undefined;
}

/** A delivery waits though it is due: whatever its own schedule says, its receiver is sent nothing now. */
export function SparedNotice({ delivery, retry }: { delivery: DeliverySummary; retry: Retry }) {
  const now = useNow();
  const spared = useSpared(delivery);
  if (spared === undefined) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5">
      <Status condition={CONDITION} />
      <p className="min-w-0 basis-64 grow break-words">
        The receiver {spared.reason === 'failures' ? 'fails' : 'asked for patience'}:{' '}
        {sparedWords(spared, now)}. Nothing is lost, and no attempt is used up.
      </p>
      {spared.reason === 'failures' && spared.until > now && (
        <Button disabled={retry.isBusy} onClick={retry.now}>
          Ask it now
        </Button>
      )}
    </div>
  );
}
