/**
 * A feed of the ledger's live events, in order. Recent events are kept, so that a client can resume
 * after it was disconnected.
 */
import { randomBytes } from 'node:crypto';
import type { LiveEvent } from '@sluice/kit/contract';

/** The events of one write, or of several writes within a short time. */
export interface EventBatch {
  /** Position of the batch in the feed; consists of letters, digits and hyphens. */
  position: string;
  /** The events, each as JSON. */
  events: string[];
}

export interface EventFeed {
  newest(): Promise<EventBatch>;
  /**
   * Returns the batch at this position and some later ones; undefined if the batch does not exist
   * or is no longer kept.
   */
  readFrom(position: string): Promise<EventBatch[] | undefined>;
  /** Publishes events that do not result from a write to the ledger. */
  publish(events: readonly LiveEvent[]): Promise<void>;
  /** Deletes the oldest events that exceed the limit of the feed. */
  trim(): Promise<void>;
  /** Adds a listener for new batches. Returns a function that removes the listener. */
  on(listener: () => void): () => void;
  close(): void;
}

/**
 * Milliseconds from an event until listeners are called. In memory, several changes to an object
 * within this time become one event.
 */
export const GATHER_MS = 50;
const HELD_EVENTS = 5_000;
const BATCHES_AT_ONCE = 20;

/**
 * Creates a feed for a ledger that one process owns. The feed is kept in memory, so it ends with
 * the process.
 */
export function createMemoryFeed(): EventFeed & { append(events: readonly LiveEvent[]): void } {
  // Part of each position, so that positions of an earlier process are invalid in this one.
  const run = randomBytes(4).toString('hex');
  const held: HeldBatch[] = [{ position: `${run}-0`, events: [] }];
  const gathered = new Map<string, LiveEvent>();
  const listeners = new Set<() => void>();
  let heldEvents = 0;
  let first = 0;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    timer = undefined;
    const events = [...gathered.values()];
    gathered.clear();
    held.push({ position: `${run}-${first + held.length}`, events });
    heldEvents += events.length;
    let old = 0;
    for (; heldEvents > 2 * HELD_EVENTS && old < held.length - 1; old++) {
      heldEvents -= held[old]!.events.length;
    }
    held.splice(0, old);
    first += old;
    for (const listener of listeners) listener();
  };

  const append = (events: readonly LiveEvent[]): void => {
    for (const event of events) {
      // A later state of the same object replaces the earlier one and moves to the end.
      const key = keyOf(event);
      gathered.delete(key);
      gathered.set(key, event);
    }
    if (gathered.size > 0) timer ??= setTimeout(flush, GATHER_MS);
  };

  return {
    append,
    async publish(events) {
      append(events);
    },
    // The oldest events are dropped whenever a batch is added.
    trim: () => Promise.resolve(),
    newest: () => Promise.resolve(toBatch(held.at(-1)!)),
    readFrom(position) {
      const [itsRun, number] = position.split('-');
      const start = itsRun === run ? Number(number) - first : Number.NaN;
      return Promise.resolve(
        held[start] && held.slice(start, start + BATCHES_AT_ONCE).map(toBatch),
      );
    },
    on(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => clearTimeout(timer),
  };
}

interface HeldBatch {
  position: string;
  events: readonly LiveEvent[];
  serialized?: EventBatch;
}

/** Serializes a batch once and on demand, because most batches are never sent to a client. */
const toBatch = (batch: HeldBatch): EventBatch =>
  (batch.serialized ??= {
    position: batch.position,
    events: batch.events.map((event) => JSON.stringify(event)),
  });

let unkeyed = 0;

function keyOf(event: LiveEvent): string {
  switch (event.type) {
    // The id has no prefix, because there can be thousands of these events per second, and no other
    // key is a bare id.
    case 'delivery':
      return event.delivery.id;
    case 'chain':
      return `chain ${event.chain.id}`;
    case 'stream':
      return `stream ${event.streamId}`;
    case 'job':
      return `job ${event.job.id}`;
    case 'inbox':
      return `inbox ${event.request.id}`;
    case 'replay':
      return `replay ${event.replay.id}`;
    case 'block':
    case 'reorg':
    case 'reset':
      return `${event.type} ${++unkeyed}`;
  }
}
