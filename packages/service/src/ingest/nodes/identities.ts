/** Which chain the nodes serve: by block 0's hash, of Aptos by the chain id. One that serves another is left out. */
import { SourceError } from '../source.ts';
import type { AnyProvider } from './standing.ts';

type Node = Pick<AnyProvider, 'name' | 'identify' | 'forgetIdentity' | 'exclude'>;

export interface Identities {
  /** Reads which chain it serves, where that is not known, and leaves it out where it is not ours. */
  admit(provider: Node): Promise<void>;
  /**
   * Reads anew which chain is ours: the expected one where a node has it.
   *
   * @param ask as in {@link Providers.ask}
   */
  readGenesisHash(
    ask: (read: (provider: Node) => Promise<string | undefined>) => Promise<string | undefined>,
    expected: string | undefined,
  ): Promise<string>;
}

/** @param how.mark what tells chains apart, for messages */
export function createIdentities(
  { chain, flag, mark }: { chain: string; flag: string; mark: string },
  all: readonly Node[],
): Identities {
  let genesisHash: string | undefined;

  /** The genesis hash that all of those that answer share; for a chain seen for the first time. */
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
      throw failed?.reason ?? new SourceError('missing', `${all[0]!.name}: it has no ${mark}`);
    }
    const other = others.find(({ hash }) => hash !== one.hash);
    if (other !== undefined) {
      throw new SourceError(
        'wrong-chain',
        `${mark} of ${one.name} is ${one.hash}, that of ${other.name} ${other.hash}: they serve different chains under ${chain}; remove the wrong ${flag}`,
      );
    }
    return one.hash;
  };

  return {
    async admit(provider) {
      const identity = await provider.identify();
      if (genesisHash === undefined || identity.genesisHash === undefined) return;
      if (identity.genesisHash === genesisHash) return;
      const why = `${provider.name}: its ${mark} is ${identity.genesisHash}, that of the others ${genesisHash}: another chain answers under ${chain}; correct its ${flag}`;
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
        // A node that no longer has block 0 is of the right chain by its id.
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
