/** Deliveries as they happen, none left out: also over a dropped connection and a restarted service. */
import type { DeliverySummary, LiveState, SluiceClient } from '@sluice/kit/sluice';
import { persist } from './persist.ts';

export interface FollowOptions {
  signal: AbortSignal;
  /** Only of this stream. */
  streamId?: string | undefined;
  /** Begin with deliveries made at or after this time, in Unix milliseconds. Default: now. */
  sinceMs?: number | undefined;
  /** Leave out what happens to older deliveries. Default false. */
  newOnly?: boolean;
  onState?: ((state: LiveState) => void) | undefined;
}

/** Commits of several processes become visible out of order by less than this. */
const OVERLAP_MS = 10_000;

/**
 * Each state of each delivery, as the service tells of it. Where it says that events were missed, and
 * at the start, what was made meanwhile is read from the list: the same delivery may come twice then.
 */
export async function* followDeliveries(
  sluice: SluiceClient,
  { signal, streamId, sinceMs, newOnly = false, onState }: FollowOptions,
): AsyncGenerator<DeliverySummary, undefined> {
  // By the clock of the service, which is not ours.
  const [newest] = (await sluice.listDeliveries({ limit: 1, streamId })).result;
  // Ids are in the order in which deliveries were made.
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
    for (const delivery of await persist(() => listFrom(from), signal)) queue.push(delivery);
  };
  let isFirst = true;
  const listening = async (): Promise<void> => {
    const events = sluice.liveEvents({
      signal,
      onState(state) {
        onState?.(state);
        // What came between the first look and the connection is in no event.
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

/** From whoever pushes to the one who takes; ends when it is told to, or by the signal. */
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
