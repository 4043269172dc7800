/**
 * What changed in the ledger, in the order it did, for those who watch: held for a while, so that a reader
 * that was away goes on where it left off.
 */
import { randomBytes } from 'node:crypto';
import type { LiveEvent } from '@sluice/kit/contract';

/** What came of one write, or of some moments. */
export interface EventBatch {
  /** Where it stands among all of them: letters, digits and hyphens. */
  position: string;
  /** Each as JSON. */
  events: string[];
}

export interface EventFeed {
  /** The newest batch there is. */
  newest(): Promise<EventBatch>;
  /**
   * The batch at this position and those after it, not all of them at once; undefined where it is held
   * no more, or never was.
   */
  readFrom(position: string): Promise<EventBatch[] | undefined>;
  /** There may be more to read. Answers with the way to stop listening. */
  on(listener: () => void): () => void;
  close(): void;
}

/** Gathered before anybody is told: several states of one thing become the last one. */
export const GATHER_MS = 50;
const HELD_EVENTS = 5_000;
const BATCHES_AT_ONCE = 20;

/** Of a ledger that one process owns: in its memory, so that nothing is held beyond its end. */
export function createMemoryFeed(): EventFeed & { append(events: readonly LiveEvent[]): void } {
  // Positions of an earlier process mean nothing in this one.
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
        // A later state of the same thing replaces the earlier one, in the later one's place.
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

/** Most of what happens nobody watches. */
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
    // Of thousands a second, so nothing is put before it: no other key is a bare id.
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
