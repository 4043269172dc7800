/**
 * Reads blocks in advance, so that catching up doesn't wait for one round trip per block. The
 * depth, the number of blocks to read ahead, grows when a read must be awaited, and shrinks after a
 * failure.
 */
export interface ReadAhead<T> {
  /** Starts reading the blocks from `from` to `to`, within the current depth and the limits. */
  want(from: number, to: number): void;
  /**
   * Returns the block at this height; undefined if it was not requested or not found, or if the
   * read failed.
   */
  read(number: number): Promise<T | undefined>;
  /** Returns the block as `read` does, and removes it. */
  take(number: number): Promise<T | undefined>;
  /** Discards everything, including reads in progress. */
  clear(): void;
}

export interface ReadAheadLimits {
  maxBlocks: number;
  /**
   * Maximum total size of the blocks that were requested but not taken yet. Each block counts as at
   * least the average size. A single block may exceed the limit.
   */
  maxBytes: number;
}

interface Entry<T> {
  reading: Promise<T | undefined>;
  isDone: boolean;
  isAwaited: boolean;
  sizeBytes: number;
}

const START_BLOCKS = 4;
/** Weight of the newest block's size in the moving average of sizes. */
const SIZE_WEIGHT = 0.1;

/**
 * @param fetch reads the block at a height; undefined if there is none
 * @param sizeOf estimates the size of a block, in bytes
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
      // If the error persists, the caller's read of the block reports it.
      reading: fetch(number).catch(() => {
        depth = Math.max(1, Math.floor(depth / 2));
        return undefined;
      }),
      isDone: false,
      isAwaited: false,
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
    if (!entry.isDone && !entry.isAwaited) {
      entry.isAwaited = true;
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
