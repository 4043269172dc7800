import type { ChainAgreement } from '@sluice/kit/contract';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { SourceError } from '../source.ts';
import type { AnyProvider } from './anyProvider.ts';

/**
 * Prevents a single node from deciding which block is at a height, by checking each new block
 * against a witness. If the witness has a different block, the majority of the nodes with a vote
 * determines the block. Without a majority, no block is accepted until the nodes agree.
 */
export interface Agreement {
  /**
   * Returns false if the other nodes outvote the provider of this header.
   *
   * @param isHead whether the block is the newest; other nodes then have up to 1 s to receive it
   * @throws SourceError `disagreement` if no block has the majority
   */
  check(header: BlockHeader, giver: AnyProvider, isHead: boolean): Promise<boolean>;
  /**
   * Returns the result of the check of the newest block, or of a later check that ended in a
   * disagreement; null until there is one.
   */
  latest(): ChainAgreement | null;
}

/** Maximum wait for other nodes to have the block; the usual wait is a fraction of this. */
const WAIT_MS = 1_000;
const RETRY_QUERY_MS = 100;
const COUNTED = 1_024;

interface BlockVote {
  provider: AnyProvider;
  hash: string;
}

/**
 * @param operatorOf returns the operator of a node; the nodes of one operator count as one witness
 * @param flag the command-line flag that configures the nodes
 */
export function createAgreement(
  providers: readonly AnyProvider[],
  operatorOf: (node: AnyProvider) => string,
  flag: string,
): Agreement {
  /**
   * Hash of the last accepted head, which is not checked again. An older head is checked again,
   * because it may have left the chain.
   */
  let settledHead = '';
  let latest: ChainAgreement | null = null;
  /** Disagreements that were counted, so that each counts once; oldest first. */
  const counted = new Set<string>();

  /** Returns a provider's vote at this height; undefined if it has no usable block. */
  const ask = async (provider: AnyProvider, number: number): Promise<BlockVote | undefined> => {
    try {
      const header = await provider.readHeaderAt(number);
      return header && { provider, hash: header.hash };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.kind === 'inconsistent') provider.fault('inconsistent');
      return undefined;
    }
  };

  const otherVoters = (giver: AnyProvider): AnyProvider[] =>
    providers
      .filter((each) => operatorOf(each) !== operatorOf(giver) && each.hasVote)
      .toSorted((a, b) => a.score - b.score);

  /** Returns the first vote of another node, because one node that agrees is enough. */
  const readWitness = async (
    header: BlockHeader,
    giver: AnyProvider,
  ): Promise<BlockVote | undefined> => {
    for (const provider of otherVoters(giver)) {
      const opinion = await ask(provider, header.number);
      if (opinion !== undefined) return opinion;
    }
    return undefined;
  };

  const count = (number: number, { provider, hash }: BlockVote, outvoted: boolean): void => {
    const key = `${provider.name} ${number} ${hash} ${outvoted}`;
    if (counted.has(key)) return;
    counted.add(key);
    if (counted.size > COUNTED) counted.delete(counted.values().next().value!);
    provider.disagreed(outvoted);
  };

  /** Returns the votes of all nodes, and the hash that more than half of them share, if any. */
  const vote = async (
    header: Pick<BlockHeader, 'number' | 'hash'>,
    giver: AnyProvider,
  ): Promise<{ winner: string | undefined; opinions: BlockVote[] }> => {
    const asked = await Promise.all(otherVoters(giver).map((each) => ask(each, header.number)));
    const all = [
      // The provider may have lost its vote, for example because it was caught lying.
      ...(giver.hasVote ? [{ provider: giver, hash: header.hash }] : []),
      ...asked.filter((each) => each !== undefined),
    ];
    // The nodes of one operator have one vote, that of its best node.
    const operators = all.map(({ provider }) => operatorOf(provider));
    const opinions = all.filter((_, n) => operators.indexOf(operators[n]!) === n);
    const votes = Map.groupBy(opinions, ({ hash }) => hash);
    const winner = [...votes].find(([, each]) => each.length * 2 > opinions.length)?.[0];
    return { winner, opinions };
  };

  /**
   * Returns whether the other nodes outvote a node at the height of one of their heads, if none of
   * them has the node's head. Otherwise, a node could win with a longer branch of its own.
   */
  const isOutvotedBelow = async (head: BlockHeader, giver: AnyProvider): Promise<boolean> => {
    const heads = new Set(otherVoters(giver).flatMap((each) => each.health().head ?? []));
    // Fewer nodes have the higher of these blocks, so the vote about one may end without a majority.
    for (const number of [...heads].toSorted((a, b) => b - a)) {
      const own = number < head.number ? await ask(giver, number) : undefined;
      if (own === undefined) continue;
      const { winner, opinions } = await vote({ number, hash: own.hash }, giver);
      if (winner === undefined || winner === own.hash) continue;
      for (const each of opinions) if (each.hash !== winner) count(number, each, true);
      return true;
    }
    return false;
  };

  return {
    latest: () => latest,
    async check(header, giver, isHead) {
      if (header.hash === settledHead) return true;
      let state: ChainAgreement['state'] = 'alone';
      const deadline = performance.now() + WAIT_MS;
      for (;;) {
        if (otherVoters(giver).length === 0) break;
        const witness = await readWitness(header, giver);
        if (witness?.hash === header.hash) {
          state = 'agreed';
          break;
        }
        if (witness !== undefined) {
          const { winner, opinions } = await vote(header, giver);
          if (winner !== undefined) {
            for (const each of opinions) {
              if (each.hash !== winner) count(header.number, each, true);
            }
            if (winner !== header.hash) return false;
            state = 'outvoted';
            break;
          }
          if (performance.now() > deadline) {
            for (const each of opinions) count(header.number, each, false);
            latest = { blockNumber: header.number, state: 'disagreed' };
            throw new SourceError('disagreement', describe(header.number, opinions, flag));
          }
        } else if (!isHead || performance.now() > deadline) {
          if (isHead && (await isOutvotedBelow(header, giver))) return false;
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_QUERY_MS));
      }
      if (isHead) {
        settledHead = header.hash;
        latest = { blockNumber: header.number, state };
      }
      return true;
    },
  };
}

function describe(number: number, opinions: readonly BlockVote[], flag: string): string {
  const sides = opinions.map(({ provider, hash }) => `${provider.name} has ${hash}`).join(', ');
  return `the providers disagree about block ${number} (${sides}): no block is accepted until they agree. Add a third provider with another ${flag} to break the tie`;
}
