/** Which deliveries have been handled, so that each is handled once. */
import { SluiceError } from '../errors.ts';

/**
 * Remembers ids. The handler asks `has` before it hands a delivery over and calls `add` after the
 * delivery was handled, never before. For several processes or workers put it on what they share
 * (Redis: `EXISTS` and `SET id 1 EX 172800`; SQL: a table with the id as its key); keep ids for 48
 * hours, longer than any pause between two attempts. Ids are at most 300 characters of
 * `A-Z a-z 0-9 _ - . /`.
 */
export interface SeenStore {
  has(id: string): boolean | Promise<boolean>;
  add(id: string): unknown;
}

/** What {@link createMemorySeenStore} takes. */
export interface MemorySeenStoreOptions {
  /**
   * Most ids kept. Beyond it the oldest is forgotten early, and once a warning is given.
   * @defaultValue 250_000, about 30 MB: 1.4 deliveries a second over 48 hours. At least 1.
   */
  maxIds?: number | undefined;
  /**
   * How long an id is kept.
   * @unit milliseconds
   * @defaultValue 172_800_000 (48 hours)
   */
  keepMs?: number | undefined;
  /** The time, in milliseconds. Default `Date.now`. */
  now?: (() => number) | undefined;
  /** Is told once when the store is full. Default `console.warn`. */
  warn?: ((message: string) => void) | undefined;
}

/** A {@link SeenStore} that answers at once. */
export interface MemorySeenStore {
  has(id: string): boolean;
  add(id: string): void;
}

/**
 * A store in the memory of this process: lost when it ends, unknown to other processes.
 * @throws SluiceError `invalid_argument` for a number out of bounds.
 */
export function createMemorySeenStore({
  maxIds = 250_000,
  keepMs = 48 * 3_600_000,
  now = Date.now,
  // oxlint-disable-next-line no-console -- a warning that nobody hears is none
  warn = (message) => console.warn(message),
}: MemorySeenStoreOptions = {}): MemorySeenStore {
  if (!(maxIds >= 1) || !(keepMs > 0)) {
    throw new SluiceError('invalid_argument', 'maxIds must be 1 or more, keepMs above 0', {
      hint: 'Leave them out for 250,000 ids and 48 hours.',
    });
  }
  /** When each id was added; a map keeps that order. */
  const addedAt = new Map<string, number>();
  let warned = false;

  const isKept = (at: number | undefined) => at !== undefined && now() - at < keepMs;

  return {
    has: (id) => isKept(addedAt.get(id)),
    add(id) {
      addedAt.delete(id);
      addedAt.set(id, now());
      for (const [oldest, at] of addedAt) {
        if (isKept(at)) {
          if (addedAt.size <= maxIds) break;
          if (!warned) {
            warned = true;
            warn(
              `Sluice: the memory of handled webhooks is full at ${maxIds} ids; the oldest are dropped. Raise maxIds or use a shared store.`,
            );
          }
        }
        addedAt.delete(oldest);
      }
    },
  };
}
