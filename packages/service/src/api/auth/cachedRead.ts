/**
 * Short-lived cache of a ledger value that every request needs. Another process may change the
 * value meanwhile.
 */
export interface CachedRead<Value> {
  read(): Promise<Value>;
  /** Drops the cached value after a change in this process, so that later reads see the change. */
  forget(): void;
}

const FRESH_MS = 2_000;

export function createCachedRead<Value>(readValue: () => Promise<Value>): CachedRead<Value> {
  let held: { value: Value; readAt: number } | undefined;
  let reading: Promise<Value> | undefined;

  const readAgain = async (): Promise<Value> => {
    // The age counts from the start of the read, because the value may miss a change during the
    // read.
    const readAt = performance.now();
    const mine = readValue();
    reading = mine;
    try {
      const value = await mine;
      // After a `forget` during the read, the value may be old, so it is not cached.
      if (reading === mine) held = { value, readAt };
      return value;
    } finally {
      if (reading === mine) reading = undefined;
    }
  };

  return {
    async read() {
      if (held !== undefined && performance.now() - held.readAt <= FRESH_MS) return held.value;
      return reading ?? readAgain();
    },
    forget() {
      held = undefined;
      reading = undefined;
    },
  };
}
