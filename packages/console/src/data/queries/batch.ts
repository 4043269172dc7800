/**
 * Combines requests of the same tick into one call, or into several calls of at most `most` keys.
 * @returns a function that returns the answer for one key; null if the response does not contain
 * it.
 */
export function createBatch<Answer>(
  most: number,
  readMany: (keys: string[]) => Promise<ReadonlyMap<string, Answer>>,
): (key: string) => Promise<Answer | null> {
  let keys = new Set<string>();
  let answers: Promise<ReadonlyMap<string, Answer>> | undefined;

  const readAll = async (): Promise<ReadonlyMap<string, Answer>> => {
    await new Promise((resolve) => setTimeout(resolve));
    const asked = [...keys];
    keys = new Set();
    answers = undefined;
    const calls = Array.from({ length: Math.ceil(asked.length / most) }, (_, n) =>
      readMany(asked.slice(n * most, (n + 1) * most)),
    );
    return new Map((await Promise.all(calls)).flatMap((found) => [...found]));
  };

  return async (key) => {
    keys.add(key);
    answers ??= readAll();
    return (await answers).get(key) ?? null;
  };
}
