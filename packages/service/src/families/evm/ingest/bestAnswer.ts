/** Chooses the best answer about an uncertain block that is read again from every node. */
import {
  type AcceptBlock,
  type AcceptedParts,
  contentOf,
  findMajority,
  readAnswers,
  lacksParts,
  toParts,
  toUnverified,
} from './acceptance.ts';
import type { Answer } from './answers.ts';
import type { Network } from './networks.ts';
import type { Provider } from './provider.ts';
import type { Providers } from '../../../ingest/nodes/providers.ts';
import { SourceError } from '../../../ingest/source.ts';

export interface BestAnswer {
  accepted: AcceptedParts;
  /** Whether a node of every operator answered, or the answer needs no other one. */
  isComplete: boolean;
}

export type ChooseBest = (...given: Parameters<AcceptBlock>) => Promise<BestAnswer>;

/**
 * Returns a function that reads a block from every node, and chooses a proven answer, else one
 * without failed checks if the others show that they lack parts of it, else the answer of most
 * operators.
 *
 * @throws SourceError `disagreement` if there is no such answer
 */
export function createChooseBest({
  network,
  nodes: { all, operatorOf },
}: {
  network: Pick<Network, 'deviations'>;
  nodes: Pick<Providers<Provider>, 'all' | 'operatorOf'>;
}): ChooseBest {
  const isPassing = (answer: Answer): boolean =>
    toUnverified(answer, 1, network)?.isUncertain !== true;

  return async (header, ask, read) => {
    const { proven, heard } = await readAnswers(ask, read, () => false);
    if (proven !== undefined) return { accepted: toParts(proven), isComplete: true };

    const operatorsOf = (some: Iterable<Provider>): number =>
      new Set([...some].map(operatorOf)).size;
    const accept = (answer: Answer, witnesses: number): AcceptedParts =>
      toParts(answer, toUnverified(answer, witnesses, network));
    const fullest = [...heard].find(
      ([, answer]) =>
        isPassing(answer) &&
        [...heard.values()].every((each) => isSame(each, answer) || lacksParts(each, answer)),
    );
    if (fullest !== undefined) {
      const [, answer] = fullest;
      const agreeing = [...heard].filter(([, each]) => isSame(each, answer)).map(([node]) => node);
      return { accepted: accept(answer, operatorsOf(agreeing)), isComplete: true };
    }
    const { answer, operators, isUnanimous } = findMajority(heard, operatorOf);
    if (!isUnanimous && operators < 2) {
      throw new SourceError(
        'disagreement',
        `the providers return different content for block ${header.number}`,
      );
    }
    const isComplete = operatorsOf(heard.keys()) === operatorsOf(all);
    return { accepted: accept(answer, operators), isComplete };
  };
}

const isSame = (a: Answer, b: Answer): boolean => contentOf(a) === contentOf(b);
