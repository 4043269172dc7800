/** Turns the result of an attempt into an outcome, and writes outcomes in batches. */
import { type DeliverySummary, isBrief, isWaiting } from '@sluice/kit/contract';
import { hideSecrets } from '../base/hideSecrets.ts';
import { type Log, describeError } from '../base/log.ts';
import { type BatchWriter, createBatchWriter } from '../store/engine/batchWriter.ts';
import type { AttemptOutcome, ClaimedDelivery } from '../store/deliveries/contract.ts';
import { laneOf } from '../store/rows/laneIds.ts';
import type { Store } from '../store/store.ts';
import type { AttemptedSend } from './attempt.ts';
import type { Lanes } from './lanes.ts';
import type { Leases } from './leases.ts';
import { type RetryOptions, nextWaitMs, retryOptionsOf } from './schedule.ts';

export function toOutcome(
  delivery: ClaimedDelivery,
  result: AttemptedSend,
  service: RetryOptions,
): AttemptOutcome {
  const { schedule, fastRetryMs } = retryOptionsOf(delivery.retryWaitsMs, service);
  const isFastRetry =
    result.error !== null &&
    isBrief(result.status) &&
    delivery.attempts === 0 &&
    fastRetryMs !== undefined;
  const ofSchedule = delivery.attempts + 1 - (delivery.fastRetried ? 1 : 0);
  // Probes, and deliveries that fail until the URL changes, are retried even after the schedule
  // ends.
  const isEndless = result.urlProblem !== undefined || delivery.isProbe;
  const wait = isFastRetry
    ? nextWaitMs([fastRetryMs], 1)
    : (nextWaitMs(schedule, ofSchedule) ??
      (isEndless ? (schedule.at(-1) ?? service.schedule.at(-1)) : undefined));
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
    // `Retry-After` may lengthen a wait but never shorten it.
    retryInMs: Math.max(wait ?? 0, result.retryAfterMs ?? 0),
    isFastRetry,
    entersFeed: result.entersFeed,
  };
}

/**
 * Creates a writer of outcomes in batches. If the ledger rejects the outcome of a delivery, the
 * delivery is quarantined.
 */
export function createOutcomes({
  store,
  log,
  lanes,
  leases,
  isDue,
  onAttempts,
  onLostOutcomes,
  onWritten,
  overdue,
}: {
  store: Pick<Store, 'completeDeliveries'>;
  log: Log;
  lanes: Pick<Lanes, 'count'>;
  leases: Pick<Leases, 'drop' | 'abandon'>;
  /** Returns whether to write this number of outcomes now instead of waiting for more. */
  isDue(size: number): boolean;
  /** Called with the deliveries whose attempts were recorded. */
  onAttempts(deliveries: DeliverySummary[]): void;
  /**
   * Called with the number of attempts whose lease was lost before their outcome was recorded.
   * Another process may have repeated them.
   */
  onLostOutcomes(count: number): void;
  /** Called after each write, including failed ones. */
  onWritten(): void;
  /**
   * After an abort, failed writes are not retried. Their deliveries return to the queue when the
   * leases expire.
   */
  overdue: AbortSignal;
}): BatchWriter<AttemptOutcome> {
  const write = async (batch: readonly AttemptOutcome[]): Promise<void> => {
    try {
      const changed = await store.completeDeliveries(batch);
      for (const outcome of batch) leases.drop(outcome);
      for (const each of changed) if (!isWaiting(each.state)) lanes.count(laneOf(each), -1);
      if (changed.length < batch.length) onLostOutcomes(batch.length - changed.length);
      onAttempts(changed);
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
        // The ledger rejected even the quarantine, so the lease is left to expire. A delivery that
        // loses ten leases in a row is quarantined.
        leases.abandon(outcome);
        log.error('failed to record an attempt', { delivery: outcome.id, error: String(error) });
        return undefined;
      }
      const refused = toRefused(outcome, error);
      log.error('delivery quarantined', { delivery: outcome.id, reason: refused.error });
      return refused;
    },
    // No delivery is lost: the attempts are written when the ledger responds, or their leases
    // expire.
    onDelay: (error, count) =>
      log.error('failed to record attempts, retrying', { count, error: String(error) }),
  });
}

/**
 * Returns the outcome to record if the ledger rejects the original one. It omits the response,
 * which may have caused the rejection.
 */
const toRefused = (outcome: AttemptOutcome, error: unknown): AttemptOutcome => ({
  ...outcome,
  durationMs: 0,
  status: null,
  error:
    `the receiver ${outcome.status === null ? 'did not respond' : `returned ${outcome.status}`}, but the ` +
    `ledger rejected the outcome: ${describeError(error)}; replay the delivery once the cause is fixed`,
  responseBody: '',
  transport: null,
  result: 'quarantined',
  retryInMs: 0,
  isFastRetry: false,
});
