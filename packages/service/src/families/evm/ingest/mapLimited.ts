/** Runs `run` on all items, at most `limit` at once, and returns the results in order. */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  limit: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  await Promise.all(
    Array.from({ length: Math.min(limit, items.length) }, async () => {
      for (const [n, item] of left) results[n] = await run(item);
    }),
  );
  return results;
}
