/** Stores the ids of handled deliveries, so that each delivery is handled once. */
import { SluiceError } from '../errors.ts';

/**
 * Store of the ids of handled deliveries. The handler calls `has` before it handles a delivery, and
 * `add` only after it has handled the delivery successfully. For several processes or workers, use
 * a shared store (Redis: `EXISTS` and `SET id 1 EX 172800`; SQL: a table with the id as its key).
 * Keep ids for 48 hours, which is longer than any wait between two attempts. Ids have at most 300
 * characters of `A-Z a-z 0-9 _ - . /`.
 */
export interface SeenStore {
  has(id: string): boolean | Promise<boolean>;
  add(id: string): unknown;
}

/** Options of {@link createMemorySeenStore}. */
export interface MemorySeenStoreOptions {
  /**
   * Maximum number of ids. When there are more, the oldest ids are dropped early, with one warning.
   * @defaultValue 250_000, about 30 MB: enough for 1.4 deliveries per second over 48 hours.
   * At least 1.
   */
  maxIds?: number | undefined;
  /**
   * Time for which an id is kept.
   * @unit milliseconds
   * @defaultValue 172_800_000 (48 hours). Above 0.
   */
  keepMs?: number | undefined;
  /** Returns the current time in milliseconds. Default: `Date.now`. */
  now?: (() => number) | undefined;
  /** Called once, when the store first drops an id early. Default: `console.warn`. */
  warn?: ((message: string) => void) | undefined;
}

/** A {@link SeenStore} whose methods are synchronous. */
export interface MemorySeenStore {
  has(id: string): boolean;
  add(id: string): void;
}

/**
 * Creates a store in the memory of this process. Its ids are lost when the process ends, and are
 * not shared with other processes.
 * @throws SluiceError `invalid_argument` for a number out of bounds.
 */
export function createMemorySeenStore({
  maxIds = 250_000,
  keepMs = 48 * 3_600_000,
  now = Date.now,
  // oxlint-disable-next-line no-console -- warnings need a default output
  warn = (message) => console.warn(message),
}: MemorySeenStoreOptions = {}): MemorySeenStore {
  if (!(maxIds >= 1) || !(keepMs > 0)) {
    throw new SluiceError('invalid_argument', 'maxIds must be 1 or more, and keepMs above 0', {
      hint: 'Leave them out for 250,000 IDs and 48 hours.',
    });
  }
  /** Time at which each id was last added, oldest first. */
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
              `Sluice: the store of handled webhooks is full at ${maxIds} IDs; the oldest are dropped. Raise maxIds or use a shared store.`,
            );
          }
        }
        addedAt.delete(oldest);
      }
    },
  };
}
