/** Checks which chain each node serves. */
import { SourceError } from '../source.ts';
import type { AnyProvider } from './anyProvider.ts';

type Node = Pick<AnyProvider, 'name' | 'identify' | 'forgetIdentity' | 'exclude'>;

/**
 * Checks which chain the nodes serve, by the hash of block 0 or the chain id. Nodes of a different
 * chain are excluded.
 */
export interface Identities {
  /** Identifies the node's chain, if unknown. Excludes a node of another chain, and throws. */
  admit(provider: Node): Promise<void>;
  /**
   * Determines again which chain the nodes serve. Returns `expected` if a node serves that chain,
   * or else the hash of a chain that a node serves. Without `expected`, all responding nodes must
   * agree.
   *
   * @param ask like {@link Providers.ask}
   */
  readGenesisHash(
    ask: (read: (provider: Node) => Promise<string | undefined>) => Promise<string | undefined>,
    expected: string | undefined,
  ): Promise<string>;
}

/** @param how.mark name of the value that identifies a chain, for messages */
export function createIdentities(
  { chain, flag, mark }: { chain: string; flag: string; mark: string },
  all: readonly Node[],
): Identities {
  let genesisHash: string | undefined;

  /**
   * Returns the genesis hash of a chain that is read for the first time. Throws if no node provides
   * one, or if the responding nodes have different ones.
   */
  const readFirstGenesis = async (): Promise<string> => {
    const results = await Promise.allSettled(all.map((each) => each.identify()));
    const found = results.flatMap((result, n) =>
      result.status === 'fulfilled' && result.value.genesisHash !== undefined
        ? [{ name: all[n]!.name, hash: result.value.genesisHash }]
        : [],
    );
    const [one, ...others] = found;
    if (one === undefined) {
      const failed = results.find((result) => result.status === 'rejected');
      throw failed?.reason ?? new SourceError('missing', `${all[0]!.name}: ${mark} is missing`);
    }
    const other = others.find(({ hash }) => hash !== one.hash);
    if (other !== undefined) {
      throw new SourceError(
        'wrong-chain',
        `${mark} is ${one.hash} on ${one.name} but ${other.hash} on ${other.name}: they serve different chains with the ID ${chain}. Remove the wrong ${flag}`,
      );
    }
    return one.hash;
  };

  return {
    async admit(provider) {
      const identity = await provider.identify();
      if (genesisHash === undefined || identity.genesisHash === undefined) return;
      if (identity.genesisHash === genesisHash) return;
      const why = `${provider.name}: its ${mark} is ${identity.genesisHash}, but ${genesisHash} on the others: it serves a different chain with the ID ${chain}. Correct its ${flag}`;
      provider.exclude(why);
      throw new SourceError('wrong-chain', why);
    },

    async readGenesisHash(ask, expected) {
      genesisHash = undefined;
      for (const each of all) each.forgetIdentity();
      if (expected === undefined) return (genesisHash = await readFirstGenesis());
      let another: string | undefined;
      const found = await ask(async (provider) => {
        const identity = await provider.identify();
        // A node that no longer has block 0 is accepted because of its chain id.
        if (identity.genesisHash === undefined || identity.genesisHash === expected)
          return expected;
        another ??= identity.genesisHash;
        return undefined;
      }).catch((error: unknown) => {
        if (another === undefined) throw error;
      });
      return (genesisHash = found ?? another!);
    },
  };
}
