/** What every request needs of the ledger, and any process may change: held, and read again when it is old. */
export interface Fresh<Value> {
  read(): Promise<Value>;
  /** It was changed here: the next to read sees that. */
  forget(): void;
}

const FRESH_MS = 2_000;

export function createFresh<Value>(readValue: () => Promise<Value>): Fresh<Value> {
  let held: { value: Value; readAt: number } | undefined;
  let reading: Promise<Value> | undefined;

  const readAgain = async (): Promise<Value> => {
    // What changes while it is read may be missing in it: its age counts from before.
    const readAt = performance.now();
    const mine = readValue();
    reading = mine;
    try {
      const value = await mine;
      // One that began before the last change says nothing to later readers.
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
