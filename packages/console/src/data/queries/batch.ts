/**
 * Combines requests of the same tick into one call, or into several calls of at most `most` keys.
 * @returns a function that returns the value for one key; null if the response does not contain
 * it.
 */
export function createBatch<Value>(
  most: number,
  readMany: (keys: string[]) => Promise<ReadonlyMap<string, Value>>,
): (key: string) => Promise<Value | null> {
  let keys = new Set<string>();
  let values: Promise<ReadonlyMap<string, Value>> | undefined;

  const readAll = async (): Promise<ReadonlyMap<string, Value>> => {
    await new Promise((resolve) => setTimeout(resolve));
    const asked = [...keys];
    keys = new Set();
    values = undefined;
    const calls = Array.from({ length: Math.ceil(asked.length / most) }, (_, n) =>
      readMany(asked.slice(n * most, (n + 1) * most)),
    );
    return new Map((await Promise.all(calls)).flatMap((found) => [...found]));
  };

  return async (key) => {
    keys.add(key);
    values ??= readAll();
    return (await values).get(key) ?? null;
  };
}
