/**
 * Changes of the ledger in order, for watchers. They are kept for a while, so that disconnected
 * readers can resume.
 */
import { randomBytes } from 'node:crypto';
import type { LiveEvent } from '@sluice/kit/contract';

/** The events of one write, or of a short period. */
export interface EventBatch {
  /** Position among all batches: letters, digits and hyphens. */
  position: string;
  /** Events as JSON. */
  events: string[];
}

export interface EventFeed {
  newest(): Promise<EventBatch>;
  /**
   * Returns the batch at this position and some later ones; undefined if it is no longer kept, or
   * never existed.
   */
  readFrom(position: string): Promise<EventBatch[] | undefined>;
  /** Calls the listener when there may be new batches. Returns a function that removes it. */
  on(listener: () => void): () => void;
  close(): void;
}

/** Delay before listeners are called. It merges several states of an object into the last one. */
export const GATHER_MS = 50;
const HELD_EVENTS = 5_000;
const BATCHES_AT_ONCE = 20;

/**
 * Creates a feed for a ledger that one process owns. It is kept in memory and ends with the
 * process.
 */
export function createMemoryFeed(): EventFeed & { append(events: readonly LiveEvent[]): void } {
  // Positions of an earlier process are invalid in this one.
  const run = randomBytes(4).toString('hex');
  const held: { position: string; events: LiveEvent[] }[] = [{ position: `${run}-0`, events: [] }];
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

  return {
    append(events) {
      for (const event of events) {
        // A later state of the same object replaces the earlier one and moves to the end.
        const key = keyOf(event);
        gathered.delete(key);
        gathered.set(key, event);
      }
      if (gathered.size > 0) timer ??= setTimeout(flush, GATHER_MS);
    },
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

/** Serialized on demand, because most events have no watchers. */
const toBatch = ({
  position,
  events,
}: {
  position: string;
  events: readonly LiveEvent[];
}): EventBatch => ({ position, events: events.map((event) => JSON.stringify(event)) });

let unkeyed = 0;

function keyOf(event: LiveEvent): string {
  switch (event.type) {
    // The key has no prefix because there are thousands per second; no other key is a bare id.
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
