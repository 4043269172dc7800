/** Follows deliveries without gaps, even if the connection drops or the service restarts. */
import type { DeliverySummary, LiveState, SluiceClient } from '@sluice/kit/sluice';
import { retryWhileUnavailable } from './persist.ts';

export interface FollowOptions {
  signal: AbortSignal;
  /** Id of the only stream to follow. Default: all streams. */
  streamId?: string | undefined;
  /**
   * Earliest creation time of the deliveries to start with, inclusive, in Unix milliseconds.
   * Default: after the newest delivery.
   */
  sinceMs?: number | undefined;
  /** Whether to skip changes of deliveries that were created before the start. Default: false. */
  newOnly?: boolean;
  onState?: ((state: LiveState) => void) | undefined;
}

/**
 * Overlap when the list is read again after missed events: reading starts this many milliseconds
 * before the last delivery, because commits of other processes can become visible this much later.
 */
const OVERLAP_MS = 10_000;

/**
 * Yields deliveries when they are created and each time that they change. Also reads the list of
 * deliveries at the start and after missed events, so a state may be yielded twice.
 */
export async function* followDeliveries(
  sluice: SluiceClient,
  { signal, streamId, sinceMs, newOnly = false, onState }: FollowOptions,
): AsyncGenerator<DeliverySummary, undefined> {
  // Starts after the newest delivery instead of at a local time, because the clocks may differ.
  const [newest] = (await sluice.listDeliveries({ limit: 1, streamId })).result;
  // Ids sort by creation time.
  const isNew = ({ createdAt, id }: DeliverySummary): boolean =>
    sinceMs === undefined ? newest === undefined || id > newest.id : createdAt >= sinceMs;
  const isWanted = (delivery: DeliverySummary): boolean =>
    (streamId === undefined || delivery.streamId === streamId) && (!newOnly || isNew(delivery));
  let after = sinceMs ?? newest?.createdAt ?? 0;
  const queue = createQueue<DeliverySummary>(signal);
  let missed = Promise.resolve();

  const listFrom = async (from: number): Promise<DeliverySummary[]> => {
    const found: DeliverySummary[] = [];
    for await (const delivery of sluice.listDeliveries({ streamId })) {
      if (delivery.createdAt < from) break;
      if (isNew(delivery)) found.push(delivery);
    }
    return found.toReversed();
  };
  const readMissed = async (from: number): Promise<void> => {
    for (const delivery of await retryWhileUnavailable(() => listFrom(from), signal))
      queue.push(delivery);
  };
  let isFirst = true;
  const listening = async (): Promise<void> => {
    const events = sluice.liveEvents({
      signal,
      onState(state) {
        onState?.(state);
        // No event reports deliveries that were created between the first request and the
        // connection.
        if (state.state === 'live' && isFirst) {
          isFirst = false;
          missed = readMissed(after);
          missed.catch(queue.fail);
        }
      },
    });
    for await (const { event } of events) {
      if (event.type === 'reset') await readMissed(after - OVERLAP_MS);
      else if (event.type === 'delivery' && isWanted(event.delivery)) {
        await missed;
        queue.push(event.delivery);
      }
    }
  };
  listening().then(queue.end, queue.fail);
  for await (const delivery of queue.items()) {
    after = Math.max(after, delivery.createdAt);
    yield delivery;
  }
}

interface Queue<Item> {
  push(item: Item): void;
  end(): void;
  fail(error: unknown): void;
  items(): AsyncGenerator<Awaited<Item>, void>;
}

/** Creates a queue that ends on `end`, `fail` or the signal. */
function createQueue<Item>(signal: AbortSignal): Queue<Item> {
  let waiting: Item[] = [];
  let over = false;
  let failure: { error: unknown } | undefined;
  let wake = (): void => {};
  const end = (): void => {
    over = true;
    wake();
  };
  signal.addEventListener('abort', end, { once: true });
  return {
    push(item) {
      waiting.push(item);
      wake();
    },
    end,
    fail(error) {
      failure ??= { error };
      end();
    },
    async *items() {
      for (;;) {
        const items = waiting;
        waiting = [];
        for (const item of items) {
          if (signal.aborted) return;
          yield item;
        }
        if (waiting.length > 0) continue;
        if (failure !== undefined && !signal.aborted) throw failure.error;
        if (over) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
