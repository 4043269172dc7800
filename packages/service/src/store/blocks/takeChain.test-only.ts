import type { Store } from '../store.ts';

/**
 * Takes the lease of a chain that was never read, for longer than any test, and returns its epoch.
 */
export async function takeChain(store: Store, chain: string): Promise<number> {
  const epoch = await store.takeLease({ name: chain, holder: 'a test', forMs: 3_600_000 });
  if (epoch === undefined) throw new Error(`the lease of ${chain} is taken`);
  return epoch;
}
