/**
 * Blocks read before their turn, so that a long gap is not one round trip after another. How many at
 * once follows from need: more while the commit waits for the network, fewer after a failure, and
 * never more than fit.
 */
export interface ReadAhead<T> {
  /** Starts reading the blocks from `from` to `to`, as far as it pays and fits. */
  want(from: number, to: number): void;
  /** What was read at this height; undefined where nothing was begun, found, or it failed. */
  read(number: number): Promise<T | undefined>;
  /** The same, and forgets it. */
  take(number: number): Promise<T | undefined>;
  /** Forgets all; what is under way comes to nothing. */
  clear(): void;
}

export interface ReadAheadLimits {
  maxBlocks: number;
  /** Of blocks read and not yet taken, those under way counted as large as the others. */
  maxBytes: number;
}

interface Entry<T> {
  reading: Promise<T | undefined>;
  isDone: boolean;
  isWaitedFor: boolean;
  sizeBytes: number;
}

const START_BLOCKS = 4;
/** Of the moving average of sizes, the weight of the newest. */
const SIZE_WEIGHT = 0.1;

/**
 * @param fetch reads the block at a height; undefined where there is none
 * @param sizeOf roughly how many bytes it occupies
 */
export function createReadAhead<T>(
  fetch: (number: number) => Promise<T | undefined>,
  sizeOf: (block: T) => number,
  { maxBlocks, maxBytes }: ReadAheadLimits,
): ReadAhead<T> {
  const entries = new Map<number, Entry<T>>();
  let depth = Math.min(START_BLOCKS, maxBlocks);
  let averageBytes = 0;

  const begin = (number: number): void => {
    const entry: Entry<T> = {
      // Whatever went wrong shows again when the block's turn comes.
      reading: fetch(number).catch(() => {
        depth = Math.max(1, Math.floor(depth / 2));
        return undefined;
      }),
      isDone: false,
      isWaitedFor: false,
      sizeBytes: averageBytes,
    };
    entries.set(number, entry);
    void entry.reading.then((block) => {
      entry.isDone = true;
      entry.sizeBytes = block === undefined ? 0 : sizeOf(block);
      averageBytes += (entry.sizeBytes - averageBytes) * (averageBytes === 0 ? 1 : SIZE_WEIGHT);
    });
  };

  const fits = (): boolean => {
    if (entries.size === 0) return true;
    let bytes = averageBytes;
    for (const entry of entries.values()) bytes += Math.max(entry.sizeBytes, averageBytes);
    return bytes <= maxBytes;
  };

  const read = async (number: number): Promise<T | undefined> => {
    const entry = entries.get(number);
    if (entry === undefined) return undefined;
    if (!entry.isDone && !entry.isWaitedFor) {
      entry.isWaitedFor = true;
      depth = Math.min(maxBlocks, depth + 1);
    }
    return entry.reading;
  };

  return {
    want(from, to) {
      for (let number = from; number <= Math.min(to, from + depth - 1); number++) {
        if (entries.has(number)) continue;
        if (!fits()) return;
        begin(number);
      }
    },
    read,
    take(number) {
      const reading = read(number);
      entries.delete(number);
      return reading;
    },
    clear() {
      entries.clear();
    },
  };
}
