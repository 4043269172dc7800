/**
 * Makes the deliveries of replays due again, each replay at its own pace. Progress is stored in the
 * ledger, so any process can continue a replay after a restart.
 */
import { createWaker } from '../base/waker.ts';
import type { Log } from '../base/log.ts';
import type { RunningReplay } from '../store/replays/contract.ts';
import type { Store } from '../store/store.ts';

export interface Replays {
  start(): void;
  stop(): Promise<void>;
}

/** Maximum number of deliveries that one transaction makes due. */
const BATCH = 500;
/** Length of a batch in seconds at the replay's pace. A batch has at least one delivery. */
const BATCH_S = 0.5;
/** Interval of polls, because signals may be lost. */
const POLL_MS = 1_000;

export function createReplays({ store, log }: { store: Store; log: Log }): Replays {
  let stopping = false;
  const waker = createWaker();
  let running: Promise<void> | undefined;
  let forget = (): void => {};

  const advance = async ({ id, filter, perSecond, position, lastId }: RunningReplay) => {
    const limit = Math.max(1, Math.min(BATCH, Math.floor(perSecond * BATCH_S)));
    // Reads outside the write transaction, because a selective filter may scan the entire table.
    const ids = await store.listReplayable({ filter, after: position, lastId, limit });
    const isLast = ids.length < limit;
    if (!(await store.advanceReplay({ id, after: position, ids, isLast }))) return;
    if (isLast) log.info('replay done', { replay: id });
    const replay = await store.readReplay(id);
    if (replay === undefined) return;
    // If this fails, the replay is published again when it makes progress.
    store.events.publish([{ type: 'replay', replay }]).catch(() => {});
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
    start() {
      forget = store.signals.on('replays', waker.wake);
      running = run();
    },
    async stop() {
      stopping = true;
      forget();
      waker.wake();
      await running;
    },
  };
}
