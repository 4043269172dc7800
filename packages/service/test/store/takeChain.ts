import type { Store } from '../../src/store/store.ts';

/** Takes the lease of a new chain, for longer than any test runs, and returns its epoch. */
export async function takeChain(store: Store, chain: string): Promise<number> {
  const epoch = await store.takeLease({ name: chain, holder: 'a test', forMs: 3_600_000 });
  if (epoch === undefined) throw new Error(`the lease of ${chain} is taken`);
  return epoch;
}
