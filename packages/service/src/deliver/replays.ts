/**
 * Makes the deliveries of replays due again, each replay at its own pace. Progress is stored in the
 * ledger, so any process can continue a replay after a restart.
 */
import { createWaker } from '../base/waker.ts';
import type { DeliverySummary } from '@sluice/kit/contract';
import type { Log } from '../base/log.ts';
import type { RunningReplay } from '../store/replays/contract.ts';
import type { Store } from '../store/store.ts';

export interface Replays {
  start(): void;
  /** Looks for replays now, because one may have been created. */
  wake(): void;
  stop(): Promise<void>;
}

/** Maximum number of deliveries that one transaction makes due. */
const BATCH = 500;
/** Length of a batch in seconds at the replay's pace. A batch has at least one delivery. */
const BATCH_S = 0.5;
/** Interval of polls, because signals may be lost. */
const POLL_MS = 1_000;

export function createReplays({
  store,
  log,
  onDue,
  onReplay,
}: {
  store: Store;
  log: Log;
  /** Called with deliveries that are pending again. */
  onDue(deliveries: DeliverySummary[]): void;
  /** Called when a replay made progress. */
  onReplay(id: string): Promise<void>;
}): Replays {
  let stopping = false;
  const waker = createWaker();
  let running: Promise<void> | undefined;

  const advance = async ({ id, filter, perSecond, position, lastId }: RunningReplay) => {
    const limit = Math.max(1, Math.min(BATCH, Math.floor(perSecond * BATCH_S)));
    // Reads outside the write transaction, because a selective filter may scan the entire table.
    const ids = await store.listReplayable({ filter, after: position, lastId, limit });
    const isLast = ids.length < limit;
    const due = await store.advanceReplay({ id, after: position, ids, isLast });
    if (due === undefined) return;
    if (isLast) log.info('replay done', { replay: id });
    onDue(due);
    await onReplay(id);
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      let waitMs = POLL_MS;
      try {
        for (const replay of await store.listRunningReplays()) {
          if (stopping) return;
          if (replay.dueInMs === 0) {
            await advance(replay);
            waitMs = 0;
          } else waitMs = Math.min(waitMs, replay.dueInMs);
        }
      } catch (error) {
        log.error('failed to replay deliveries, retrying', { error: String(error) });
        waitMs = POLL_MS;
      }
      if (waitMs > 0) await waker.sleep(waitMs);
    }
  };

  return {
    start: () => void (running = run()),
    wake: waker.wake,
    async stop() {
      stopping = true;
      waker.wake();
      await running;
    },
  };
}
