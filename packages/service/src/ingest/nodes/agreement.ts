/**
 * No single node decides which block stands at a height while there is another to ask. Each new
 * block is shown to a second provider; where that one has another block, all are asked and the
 * majority decides. Where there is none, nothing is taken until they agree: a fork at the head
 * settles within seconds, and a provider that stopped following its chain loses its voice.
 */
import type { ChainAgreement } from '@sluice/kit/contract';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { SourceError } from '../source.ts';
import type { AnyProvider } from './standing.ts';

export interface Agreement {
  /**
   * Answers false where the others outvote the provider that gave this header.
   *
   * @param isHead the newest block: others may need a moment to have it, and are given one
   * @throws SourceError `disagreement` where no side has the majority
   */
  check(header: BlockHeader, giver: AnyProvider, isHead: boolean): Promise<boolean>;
  /** What came of the newest block, or of one since that was disagreed about; null before the first. */
  latest(): ChainAgreement | null;
}

/** How long the others are waited for: nodes pass a block on within a fraction of this. */
const WAIT_MS = 1_000;
const ASK_AGAIN_MS = 100;
const COUNTED = 1_024;

interface Opinion {
  provider: AnyProvider;
  hash: string;
}

/** @param flag of the command line, which names the nodes */
export function createAgreement(providers: readonly AnyProvider[], flag: string): Agreement {
  /** The head agreed on last: the same one comes at every poll. An older one may be undone by now. */
  let settledHead = '';
  let latest: ChainAgreement | null = null;
  /** Disagreements already counted, oldest first. */
  const counted = new Set<string>();

  /** What a provider has at this height, if it has a block there, answers, and is believed. */
  const ask = async (provider: AnyProvider, number: number): Promise<Opinion | undefined> => {
    try {
      const header = await provider.readHeaderAt(number);
      return header && { provider, hash: header.hash };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.kind === 'inconsistent') provider.fault('inconsistent');
      return undefined;
    }
  };

  const voicesBut = (giver: AnyProvider): AnyProvider[] =>
    providers
      .filter((each) => each !== giver && each.hasVoice)
      .toSorted((a, b) => a.score - b.score);

  /** The first opinion there is: one that agrees is enough. */
  const readWitness = async (
    header: BlockHeader,
    giver: AnyProvider,
  ): Promise<Opinion | undefined> => {
    for (const provider of voicesBut(giver)) {
      const opinion = await ask(provider, header.number);
      if (opinion !== undefined) return opinion;
    }
    return undefined;
  };

  const count = (number: number, { provider, hash }: Opinion, outvoted: boolean): void => {
    const key = `${provider.name} ${number} ${hash} ${outvoted}`;
    if (counted.has(key)) return;
    counted.add(key);
    if (counted.size > COUNTED) counted.delete(counted.values().next().value!);
    provider.disagreed(outvoted);
  };

  /** Of all opinions, the hash that more than half hold. */
  const vote = async (
    header: BlockHeader,
    giver: AnyProvider,
  ): Promise<{ winner: string | undefined; opinions: Opinion[] }> => {
    const asked = await Promise.all(voicesBut(giver).map((each) => ask(each, header.number)));
    const opinions = [
      // A giver that was caught lying is heard no more than the others like it.
      ...(giver.hasVoice ? [{ provider: giver, hash: header.hash }] : []),
      ...asked.filter((each) => each !== undefined),
    ];
    const votes = Map.groupBy(opinions, ({ hash }) => hash);
    const winner = [...votes].find(([, each]) => each.length * 2 > opinions.length)?.[0];
    return { winner, opinions };
  };

  return {
    latest: () => latest,
    async check(header, giver, isHead) {
      if (header.hash === settledHead) return true;
      let state: ChainAgreement['state'] = 'alone';
      const deadline = performance.now() + WAIT_MS;
      for (;;) {
        if (voicesBut(giver).length === 0) break;
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
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      }
      if (isHead) {
        settledHead = header.hash;
        latest = { blockNumber: header.number, state };
      }
      return true;
    },
  };
}

function describe(number: number, opinions: readonly Opinion[], flag: string): string {
  const sides = opinions.map(({ provider, hash }) => `${provider.name} has ${hash}`).join(', ');
  return `the providers disagree about block ${number} (${sides}): nothing is taken until they agree; a third provider, one more ${flag}, would decide`;
}
