/**
 * Deliveries that the service may have died of: those it was sending each of the last two times it went.
 * Most of them are innocent, so they are tried again, but each in a process alone (`isolation.ts`).
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
  /** There may be new ones. */
  look(): void;
  /** Takes no more, and waits for the one under way. */
  stop(): Promise<void>;
}

/** Those of a paused stream, or of a process that died, come up without a sign. */
const LOOK_EVERY_MS = 10_000;

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
  /** Makes an attempt, with this way to send where one is given. */
  attempt(
    delivery: ClaimedDelivery,
    send?: (sending: Sending) => Promise<SendResult>,
  ): Promise<void>;
  /** Streams whose receivers get nothing for now. */
  failingStreams(): string[];
}): Suspects {
  let stopping = false;
  const waker = createWaker();
  let running: Promise<void> | undefined;

  const isolated = (suspect: ClaimedDelivery): void => {
    store.noteIsolated(suspect).catch((error: unknown) => {
      log.error('cannot note that a delivery is isolated', {
        delivery: suspect.id,
        stream: suspect.streamId,
        error: String(error),
      });
    });
  };

  /** False when there is none to send now. */
  const sendOne = async (): Promise<boolean> => {
    if (!(await store.hasDueSuspect())) return false;
    // Claimed once its process is there, so that it is not held any longer than it must be.
    await isolation.start();
    if (stopping) return false;
    const suspect = await store.claimSuspect({ leaseMs, notStreams: failingStreams() });
    if (suspect === undefined) return false;
    log.warn('sending in a process alone what two leases were lost with', {
      delivery: suspect.id,
      stream: suspect.streamId,
    });
    // An inbox is reached from this process alone.
    if (readInboxName(suspect.webhookUrl) !== undefined) await attempt(suspect);
    else await attempt(suspect, (sending) => isolation.send(sending, () => isolated(suspect)));
    return true;
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      const sent = await sendOne().catch((error: unknown) => {
        log.error('cannot send a suspect delivery, trying again', { error: String(error) });
        return false;
      });
      if (!sent) await waker.sleep(LOOK_EVERY_MS);
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
