/**
 * Lets reads of feeds wait for deliveries. A waiting read causes no queries: after a signal, one query
 * finds the feeds that have grown, and only their reads are repeated.
 */
import type { FeedRead } from '../store/feeds/contract.ts';
import type { Store } from '../store/store.ts';
import { RetryLaterError } from './httpErrors.ts';

type Found = Pick<FeedRead, 'placed' | 'head' | 'leaseEndsInMs'>;

export interface WaitingReads {
  /**
   * Repeats a read until it finds deliveries, its time is over or `ended` is aborted. Returns its
   * last result.
   *
   * @throws RetryLaterError 503 if too many reads wait, in total or with this key, or this process is
   * stopping
   */
  repeat<Result extends Found>(
    read: () => Promise<Result>,
    reader: {
      streamId: string;
      /** Consumer whose readers share its deliveries; undefined if this reader gets all. */
      consumer: string | undefined;
      keyId: string;
      waitMs: number;
      ended: AbortSignal;
    },
  ): Promise<Result>;
  /** Returns the number of waiting reads. */
  count(): number;
  /** Ends all reads that wait. */
  close(): void;
}

const MAX_READS = 5_000;
const MAX_READS_OF_KEY = 1_000;
/** Retry-After while too many reads wait, and while this process stops. */
const RETRY_AFTER_SECONDS = 5;
const STOPPING_SECONDS = 1;
/** Interval at which a shared ledger is checked, because a signal may be lost. */
const CHECK_MS = 1_000;

interface Waiting {
  /** Newest position of the feed when this reader found nothing. */
  head: number;
  wake(): void;
}

/** The readers that share the deliveries of a feed. */
interface Queue {
  streamId: string;
  /** Number of readers, including those that are reading now. */
  size: number;
  /** Those that wait, in the order in which they are woken. */
  waiting: Set<Waiting>;
}

export function createWaitingReads(
  store: Pick<Store, 'signals' | 'readFeedHeads' | 'isShared'>,
): WaitingReads {
  const queues = new Map<unknown, Queue>();
  const ofKey = new Map<string, number>();
  let count = 0;
  let isClosed = false;
  let isLooking = false;
  /** Number of signals so far, which shows whether one arrived during a read. */
  let signals = 0;

  const wakeFirst = ({ waiting }: Queue, isBehind: (reader: Waiting) => boolean): void => {
    for (const reader of waiting) {
      if (!isBehind(reader)) continue;
      waiting.delete(reader);
      reader.wake();
      return;
    }
  };

  /** Wakes a reader of each feed that has grown. */
  const look = async (): Promise<void> => {
    signals++;
    if (isLooking) return;
    isLooking = true;
    try {
      for (let seen = 0; seen !== signals && queues.size > 0;) {
        seen = signals;
        const ids = new Set([...queues.values()].map(({ streamId }) => streamId));
        const heads = await store.readFeedHeads([...ids]);
        for (const queue of queues.values()) {
          wakeFirst(queue, ({ head }) => head < (heads[queue.streamId] ?? 0));
        }
      }
    } catch {
      // The ledger cannot be read. Each read checks it again at the end of its wait.
    } finally {
      isLooking = false;
    }
  };

  const forget = [
    store.signals.on('feeds', () => void look()),
    store.signals.on('consumers', () => {
      for (const queue of queues.values()) wakeFirst(queue, () => true);
    }),
  ];
  const timer = store.isShared ? setInterval(() => void look(), CHECK_MS) : undefined;
  timer?.unref();

  const admit = (keyId: string): void => {
    if (isClosed) {
      throw new RetryLaterError(503, 'This process is stopping: try again', STOPPING_SECONDS);
    }
    const theirs = ofKey.get(keyId) ?? 0;
    if (count >= MAX_READS || theirs >= MAX_READS_OF_KEY) {
      throw new RetryLaterError(
        503,
        'Too many reads of feeds wait in this process: use fewer readers, then try again',
        RETRY_AFTER_SECONDS,
      );
    }
    count++;
    ofKey.set(keyId, theirs + 1);
  };

  const leave = (keyId: string): void => {
    count--;
    const left = ofKey.get(keyId)! - 1;
    if (left > 0) ofKey.set(keyId, left);
    else ofKey.delete(keyId);
  };

  return {
    async repeat(read, { streamId, consumer, keyId, waitMs, ended }) {
      let seen = signals;
      let found = await read();
      if (found.placed.length > 0 || waitMs === 0) return found;
      admit(keyId);
      const id = consumer === undefined ? Symbol('reader') : `${streamId} ${consumer}`;
      const queue = queues.get(id) ?? { streamId, size: 0, waiting: new Set() };
      queue.size++;
      queues.set(id, queue);
      const until = performance.now() + waitMs;
      try {
        for (;;) {
          if (isClosed) return found;
          const leftMs = until - performance.now();
          const leaseEndsInMs = found.leaseEndsInMs ?? Infinity;
          const { promise: woken, resolve } = Promise.withResolvers<boolean>();
          const reader = { head: found.head, wake: () => resolve(true) };
          const end = (): void => {
            // It must not be woken instead of another reader.
            queue.waiting.delete(reader);
            resolve(false);
          };
          const timeout = setTimeout(end, Math.min(leftMs, leaseEndsInMs));
          ended.addEventListener('abort', end);
          queue.waiting.add(reader);
          if (ended.aborted) end();
          if (seen !== signals) void look();
          const isWoken = await woken;
          clearTimeout(timeout);
          ended.removeEventListener('abort', end);
          if (ended.aborted || isClosed) {
            // Its deliveries are for the next reader.
            if (isWoken) wakeFirst(queue, () => true);
            return found;
          }
          seen = signals;
          found = await read();
          const last = found.placed.at(-1);
          if (last !== undefined && last.position < found.head) wakeFirst(queue, () => true);
          const isOver = !isWoken && leftMs <= leaseEndsInMs;
          if (last !== undefined || isOver) return found;
        }
      } finally {
        leave(keyId);
        if (--queue.size === 0) queues.delete(id);
      }
    },
    count: () => count,
    close() {
      isClosed = true;
      clearInterval(timer);
      for (const each of forget) each();
      for (const { waiting } of queues.values()) for (const { wake } of waiting) wake();
    },
  };
}
