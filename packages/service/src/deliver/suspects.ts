/**
 * Deliveries that may have crashed the service: those it was sending each of the last two times
 * that it died. Most of them are harmless, so they are retried, but one at a time in an isolated
 * process (`isolation.ts`).
 */
import { createWaker } from '../base/waker.ts';
import { readInboxName } from '@sluice/kit/contract';
import type { Log } from '../base/log.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';
import type { Isolation } from './send/isolation.ts';
import type { SendResult, Sending } from './send/send.ts';

export interface Suspects {
  start(): void;
  /** Looks for suspects now. */
  look(): void;
  /** Takes no more deliveries and waits for the one in flight. */
  stop(): Promise<void>;
}

/** Suspects of a paused stream, or of a process that died, become due without a signal. */
const CHECK_EVERY_MS = 10_000;

export function createSuspects({
  store,
  isolation,
  log,
  leaseMs,
  attempt,
  failingStreams,
}: {
  store: Store;
  isolation: Isolation;
  log: Log;
  leaseMs: number;
  /** Makes an attempt, using `send` if given. */
  attempt(
    delivery: ClaimedDelivery,
    send?: (sending: Sending) => Promise<SendResult>,
  ): Promise<void>;
  /** Returns the streams whose receivers currently get nothing. */
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

  /** Returns false if there is nothing to send now. */
  const sendOne = async (): Promise<boolean> => {
    if (!(await store.hasDueSuspect())) return false;
    // Claimed only after the process has started, to hold the lease no longer than necessary.
    await isolation.start();
    if (stopping) return false;
    const suspect = await store.claimSuspect({ leaseMs, notStreams: failingStreams() });
    if (suspect === undefined) return false;
    log.warn('retrying a suspect delivery in an isolated process', {
      delivery: suspect.id,
      stream: suspect.streamId,
    });
    // An inbox can only be reached from this process.
    if (readInboxName(suspect.webhookUrl) !== undefined) await attempt(suspect);
    else await attempt(suspect, (sending) => isolation.send(sending, () => isolated(suspect)));
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
