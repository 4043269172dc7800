/** Reads the deliveries of a feed, one page ahead of their consumer. */
import { FEED_LEASE_MS, MAX_FEED_WAIT_MS } from '../../contract/rules/feed.ts';
import type { FeedDelivery, FeedPage, ReadFeedOptions } from '../../contract/shapes.generated.ts';
import { sleep } from '../request.ts';
import type { SluiceMethods } from '../sluiceMethods.generated.ts';
import { createAcknowledgements } from './acknowledgements.ts';

export type FeedCalls = Pick<SluiceMethods, 'readFeed' | 'acknowledgeFeed' | 'releaseFeed'>;

/** A delivery to handle. */
export interface ReadDelivery extends FeedDelivery {
  /** When this client received the delivery, in Unix milliseconds. */
  readonly receivedAt: number;
  readonly ack: () => Promise<void>;
}

interface ReadPage extends FeedPage {
  /** Those that have not been handed out. */
  readonly deliveries: FeedDelivery[];
  readonly receivedAt: number;
  /** Until when its deliveries may be handled, by `performance.now()`. */
  readonly usableUntil: number;
}

/** Retries go on until the iteration ends. */
const UNLIMITED = 2 ** 31 - 1;
/** Leaves 30 s after the longest wait to transfer the page. */
const READ_TIMEOUT_MS = MAX_FEED_WAIT_MS + 30_000;
/** Timeout of an attempt to send the last acknowledgements. */
const LAST_TIMEOUT_MS = 5_000;
/** Part of the lease in which a delivery may be handed out. The rest is for its handler. */
const USABLE_PART = 0.9;
/** Minimum time between two empty pages, which a service that shuts down returns at once. */
const EMPTY_PAGE_MS = 1_000;

/**
 * Yields deliveries until the signal is aborted or the caller stops. Sends all acknowledgements
 * before it returns, and releases what it has read ahead.
 */
export async function* readDeliveries(
  calls: FeedCalls,
  streamId: string,
  query: ReadFeedOptions,
  given: AbortSignal | undefined,
): AsyncGenerator<ReadDelivery, undefined> {
  const { consumer = '', destination, mode = 'share', leaseMs = FEED_LEASE_MS } = query;
  const place = { consumer, ...(destination !== undefined && { destination }) };
  const controller = new AbortController();
  const { signal } = controller;
  const stop = (): void => controller.abort();
  given?.addEventListener('abort', stop, { once: true });
  if (given?.aborted) stop();

  const acknowledgements = createAcknowledgements(
    (positions, last) =>
      calls.acknowledgeFeed(
        streamId,
        { ...place, positions: [...positions] },
        last ? { timeoutMs: LAST_TIMEOUT_MS } : { signal, maxRetries: UNLIMITED },
      ),
    signal,
    stop,
  );

  /** Pages with deliveries that have not been handed out. */
  const pages = new Set<ReadPage>();
  /** Lets other readers have what this one does not hand out. Otherwise, the leases end in time. */
  const release = async ({ deliveries, leaseEndsAt }: ReadPage): Promise<void> => {
    const positions = deliveries.map(({ position }) => position);
    if (leaseEndsAt === null || positions.length === 0) return;
    await calls
      .releaseFeed(
        streamId,
        { ...place, leaseEndsAt, positions },
        { timeoutMs: LAST_TIMEOUT_MS, maxRetries: 0 },
      )
      .catch(() => {});
  };

  let { after } = query;
  const readPage = async (): Promise<ReadPage> => {
    for (;;) {
      const began = performance.now();
      const page = await calls.readFeed(
        streamId,
        { ...query, after, waitMs: MAX_FEED_WAIT_MS },
        { signal, timeoutMs: READ_TIMEOUT_MS, maxRetries: UNLIMITED },
      );
      if (mode === 'each') after = page.nextPosition;
      const now = performance.now();
      if (page.deliveries.length === 0) {
        await sleep(Math.max(0, began + EMPTY_PAGE_MS - now), signal);
        continue;
      }
      const usableUntil = mode === 'each' ? Infinity : now + USABLE_PART * leaseMs;
      const { deliveries } = page;
      const read = { ...page, deliveries: [...deliveries], receivedAt: Date.now(), usableUntil };
      pages.add(read);
      return read;
    }
  };
  const startReading = (): Promise<ReadPage> => {
    const reading = readPage();
    // The error is thrown when the page is needed, which may be never.
    reading.catch(() => {});
    return reading;
  };

  try {
    let next = startReading();
    for (;;) {
      const page = await next;
      const { deliveries, receivedAt, usableUntil } = page;
      acknowledgements.turnPage();
      const ahead = Math.ceil(deliveries.length / 2);
      let isReading = false;
      while (deliveries.length > 0 && !signal.aborted && performance.now() < usableUntil) {
        if (deliveries.length <= ahead && !isReading) {
          next = startReading();
          isReading = true;
        }
        const delivery = deliveries.shift()!;
        const { position } = delivery;
        if (acknowledgements.has(position)) continue;
        yield {
          ...delivery,
          receivedAt,
          ack: () => acknowledgements.add(position, usableUntil),
        };
      }
      if (signal.aborted) return;
      pages.delete(page);
      if (!isReading) next = startReading();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    given?.removeEventListener('abort', stop);
    stop();
    await Promise.all([acknowledgements.close(), ...[...pages].map(release)]);
  }
}
