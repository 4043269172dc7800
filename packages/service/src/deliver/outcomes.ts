/** What an attempt makes of its delivery, and the writing of such outcomes, many at once. */
import { type DeliverySummary, isBrief } from '@sluice/kit/contract';
import { hideSecrets } from '../base/hideSecrets.ts';
import { type Log, describeError } from '../base/log.ts';
import { type BatchWriter, createBatchWriter } from '../store/engine/batchWriter.ts';
import type { AttemptOutcome, ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';
import type { Attempted } from './attempt.ts';
import type { Lanes, Leases } from './claims.ts';

export interface RetryOptions {
  /** Waits between attempts in milliseconds. */
  schedule: readonly number[];
  /**
   * Before the schedule, one retry so soon, of a first attempt that found no receiver or one that
   * failed with a 5xx: a restart is over by then. Undefined for none.
   */
  fastRetryMs?: number | undefined;
}

export const GONE = 410;

export function toOutcome(
  delivery: ClaimedDelivery,
  result: Attempted,
  { schedule, fastRetryMs }: RetryOptions,
): AttemptOutcome {
  const isFastRetry =
    result.error !== null &&
    isBrief(result.status) &&
    delivery.attempts === 0 &&
    fastRetryMs !== undefined;
  const ofSchedule = delivery.attempts + 1 - (delivery.fastRetried ? 1 : 0);
  // A receiver that is gone, or only asked whether it is back, does not use up the schedule.
  const isEndless = result.status === GONE || delivery.isProbe;
  const wait = isFastRetry
    ? nextWaitMs([fastRetryMs], 1)
    : (nextWaitMs(schedule, ofSchedule) ?? (isEndless ? schedule.at(-1) : undefined));
  const failed = wait === undefined ? 'failed' : 'retry';
  return {
    id: delivery.id,
    leaseToken: delivery.leaseToken,
    webhookUrl: hideSecrets(delivery.webhookUrl),
    startedAt: result.startedAt,
    durationMs: result.durationMs,
    status: result.status,
    error: result.error,
    responseBody: result.responseBody,
    transport: result.transport,
    result: result.senderDied ? 'quarantined' : result.error === null ? 'succeeded' : failed,
    // What the receiver asks for may lengthen a wait, never shorten it.
    retryInMs: Math.max(wait ?? 0, result.retryAfterMs ?? 0),
    isFastRetry,
  };
}

/** Writes outcomes in batches; one that the ledger refuses quarantines its delivery. */
export function createOutcomes({
  store,
  log,
  lanes,
  leases,
  isDue,
  onChange,
  onLostOutcomes,
  onWritten,
  overdue,
}: {
  store: Pick<Store, 'completeDeliveries'>;
  log: Log;
  lanes: Pick<Lanes, 'count'>;
  leases: Pick<Leases, 'drop'>;
  /** Whether to write now or to let more gather. */
  isDue(size: number): boolean;
  onChange(deliveries: DeliverySummary[]): void;
  /** Attempts that were made under a lease that had run out: others may have made them again. */
  onLostOutcomes(count: number): void;
  /** A write ended, also where it failed. */
  onWritten(): void;
  /** What is not written now is found again by its lease. */
  overdue: AbortSignal;
}): BatchWriter<AttemptOutcome> {
  const write = async (batch: readonly AttemptOutcome[]): Promise<void> => {
    try {
      const changed = await store.completeDeliveries(batch);
      for (const outcome of batch) leases.drop(outcome);
      for (const { streamId, state } of changed) if (state !== 'pending') lanes.count(streamId, -1);
      if (changed.length < batch.length) onLostOutcomes(batch.length - changed.length);
      onChange(changed);
    } catch (error) {
      if (!overdue.aborted) throw error;
    } finally {
      onWritten();
    }
  };

  return createBatchWriter<AttemptOutcome>({
    write,
    isDue,
    toRefused(outcome, error) {
      if (outcome.result === 'quarantined') {
        // Its lease runs out, which counts against it: a delivery that loses ten is set aside for good.
        leases.drop(outcome);
        log.error('cannot record an attempt', { delivery: outcome.id, error: String(error) });
        return undefined;
      }
      const refused = toRefused(outcome, error);
      log.error('delivery quarantined', { delivery: outcome.id, reason: refused.error });
      return refused;
    },
    // Nothing is lost: the attempts are written when the store answers, or their leases run out.
    onDelay: (error, count) =>
      log.error('cannot record attempts, trying again', { count, error: String(error) }),
  });
}

/** What is recorded of an attempt whose outcome the ledger cannot hold: nothing that came from outside. */
const toRefused = (outcome: AttemptOutcome, error: unknown): AttemptOutcome => ({
  ...outcome,
  durationMs: 0,
  status: null,
  error:
    `the receiver ${outcome.status === null ? 'did not answer' : `answered ${outcome.status}`}, and the ` +
    `ledger refuses to record it: ${describeError(error)}; replay it once the cause is found`,
  responseBody: '',
  transport: null,
  result: 'quarantined',
  retryInMs: 0,
  isFastRetry: false,
});

/** How long a delivery waits for its next attempt. The schedule itself is part of the contract. */

/** Share of a wait that is added at random, so that deliveries that failed together part again. */
const JITTER = 0.1;

/**
 * Milliseconds until the next attempt, never less than the schedule says, or undefined when
 * `attempts` used it up.
 *
 * @param attempts made so far, the failed one included: 1 or more
 * @param random from 0 up to 1
 */
export function nextWaitMs(
  schedule: readonly number[],
  attempts: number,
  random = Math.random(),
): number | undefined {
  const wait = schedule[attempts - 1];
  return wait === undefined ? undefined : Math.ceil(wait * (1 + JITTER * random));
}

/**
 * The waits behind the next attempt, should each fail from there on.
 *
 * @param attempts made so far
 * @param fastRetried whether one of them was the quick retry, which the schedule does not count
 */
export const laterWaitsMs = (
  schedule: readonly number[],
  attempts: number,
  fastRetried: boolean,
): number[] => schedule.slice(attempts - (fastRetried ? 1 : 0));
