/** Decides which headers are rejected before a block is read. */
import type { ChainTrust } from '@sluice/kit/contract';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import type { Json } from '../../../ingest/json.ts';
import { SourceError } from '../../../ingest/source.ts';
import type { HeaderProof, HeaderProver } from './headerLayout.ts';
import type { LearnedFacts } from './learned.ts';
import type { Network } from './networks.ts';

export interface HeaderRules {
  /** Returns whether a header that a node pushed is used, without its block. */
  takesPushed(header: Json): boolean;
  /**
   * Proves the header of a block; returns undefined if headers are not checked.
   *
   * @param how.isAlone whether no other node can be queried
   * @throws SourceError `inconsistent` if the header is rejected
   */
  check(
    block: Json,
    header: BlockHeader,
    how: { node: string; isAlone: boolean },
  ): Promise<HeaderProof | undefined>;
}

const REMEMBERED = 64;

/** Returns whether a block that fails a check is rejected, because true blocks pass it. */
export const isStrict = (trust: ChainTrust, { isStandard }: Pick<Network, 'isStandard'>): boolean =>
  trust === 'strict' || (trust === 'evidence' && isStandard);

/** Returns what to do if a block is rejected that another setting accepts. */
export const adviceFor = (trust: ChainTrust): string =>
  trust === 'strict' ? '. To accept what the nodes agree on, pass trust=evidence' : '';

/**
 * On chains of standard rules, a header that does not match its hash is always rejected. Elsewhere,
 * it is rejected if the headers of the chain usually match and another node can be queried, unless two
 * nodes return such a header for the same block: then the rules have changed.
 */
export function createHeaderRules({
  trust,
  network,
  prover,
  learned,
}: {
  trust: ChainTrust;
  network: Pick<Network, 'isStandard'>;
  prover: HeaderProver;
  learned: Pick<LearnedFacts, 'knows' | 'forget' | 'confirm'>;
}): HeaderRules {
  const rejectsAll = isStrict(trust, network);
  /** The nodes that returned a header without its hash, by block hash, oldest first. */
  const failures = new Map<string, Set<string>>();

  const rejects = (hash: string, node: string, isAlone: boolean): boolean => {
    if (rejectsAll) return true;
    const nodes = (failures.get(hash) ?? new Set()).add(node);
    failures.set(hash, nodes);
    if (failures.size > REMEMBERED) failures.delete(failures.keys().next().value!);
    if (nodes.size > 1) learned.forget('headers-prove');
    return !isAlone && learned.knows('headers-prove');
  };

  return {
    takesPushed: (header) => !rejectsAll || prover.check(header).result === 'passed',
    async check(block, { number, hash }, { node, isAlone }) {
      if (trust === 'node') return undefined;
      const proof = await prover.prove(block, node);
      if (proof.result === 'passed') learned.confirm('headers-prove');
      if (proof.result !== 'failed') return proof;
      // Block 0 may have other header rules.
      if (number !== 0 && rejects(hash, node, isAlone)) {
        throw new SourceError(
          'inconsistent',
          `${node}: the header of block ${number} does not match its hash ${hash}${adviceFor(trust)}`,
        );
      }
      if (network.isStandard || learned.knows('headers-prove')) return proof;
      return { result: 'not-applicable', reason: 'the rules of the header are not known' };
    },
  };
}
