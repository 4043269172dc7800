/**
 * Retries deliveries that were in flight each of the last two times the service died. Sends one at
 * a time, in an isolated process (`isolation.ts`) or, if only this process can reach the destination, in this one.
 */
import { createWaker } from '../base/waker.ts';
import { startStopwatch } from './stopwatch.ts';
import type { Log } from '../base/log.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';
import { type Leases, STALL_MS } from './leases.ts';
import type { Isolation } from './send/isolation.ts';
import type { SendResult } from './destinations/destination.ts';
import type { SendRequest } from './send/send.ts';

export interface Suspects {
  start(): void;
  look(): void;
  /** Stops claiming deliveries and waits for the delivery in flight. */
  stop(): Promise<void>;
}

/**
 * Interval of polls, because suspects of a paused stream or a dead process become due without a
 * signal.
 */
const CHECK_EVERY_MS = 10_000;

export function createSuspects({
  store,
  isolation,
  log,
  leases,
  leaseMs,
  attempt,
  isIsolable,
  failingStreams,
}: {
  store: Store;
  isolation: Isolation;
  log: Log;
  leases: Pick<Leases, 'renew' | 'abandon'>;
  leaseMs: number;
  /** Makes an attempt with `send`. Default: the normal sender. */
  attempt(
    delivery: ClaimedDelivery,
    send?: (sending: SendRequest) => Promise<SendResult>,
  ): Promise<void>;
  /** Returns whether an isolated process can send to this webhook URL. */
  isIsolable(url: string): boolean;
  /** Returns the streams whose deliveries must not be sent now. */
  failingStreams(): string[];
}): Suspects {
  let stopping = false;
  const waker = createWaker();
  let running: Promise<void> | undefined;

  const isolated = (suspect: ClaimedDelivery): void => {
    store.recordIsolated(suspect).catch((error: unknown) => {
      log.error('failed to record that a delivery is isolated', {
        delivery: suspect.id,
        stream: suspect.streamId,
        error: String(error),
      });
    });
  };

  /** Sends the next suspect; returns false if there is none. */
  const sendOne = async (): Promise<boolean> => {
    if (!(await store.hasDueSuspect())) return false;
    // Claims the delivery only after the isolated process has started, to keep the lease short.
    await isolation.start();
    if (stopping) return false;
    const elapsedMs = startStopwatch();
    const suspect = await store.claimSuspect({ leaseMs, notStreams: failingStreams() });
    if (suspect === undefined) return false;
    if (elapsedMs() > STALL_MS && (await leases.renew([suspect]))?.length !== 1) {
      leases.abandon(suspect);
      return false;
    }
    const isIsolated = isIsolable(suspect.webhookUrl);
    log.warn(`retrying a suspect delivery ${isIsolated ? 'in an isolated process' : 'alone'}`, {
      delivery: suspect.id,
      stream: suspect.streamId,
    });
    if (isIsolated) {
      await attempt(suspect, (sending) => isolation.send(sending, () => isolated(suspect)));
    } else await attempt(suspect);
    return true;
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      const sent = await sendOne().catch((error: unknown) => {
        log.error('failed to send a suspect delivery, retrying', { error: String(error) });
        return false;
      });
      if (!sent) await waker.sleep(CHECK_EVERY_MS);
    }
  };

  return {
    start: () => void (running = run()),
    look: waker.wake,
    async stop() {
      stopping = true;
      waker.wake();
      await running;
    },
  };
}
