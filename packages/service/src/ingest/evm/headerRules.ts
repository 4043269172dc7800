/** Decides which headers are rejected before a block is read. */
import type { ChainTrust } from '@sluice/kit/contract';
import type { HeaderProver } from './headerLayout.ts';
import type { Learned } from './learned.ts';
import type { Network } from './networks.ts';
import type { HeaderRules } from './provider.ts';

const REMEMBERED = 64;

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
  learned: Pick<Learned, 'knows' | 'forget' | 'confirm'>;
}): HeaderRules {
  const isStrict = trust === 'strict' || (trust === 'evidence' && network.isStandard);
  /** The nodes that returned a header without its hash, by block hash, oldest first. */
  const failures = new Map<string, Set<string>>();
  return {
    prover,
    isStrict,
    rejects(node, { number, hash }, { result, isAlone }) {
      if (result === 'passed') learned.confirm('headers-prove');
      // Block 0 may have other header rules.
      if (result !== 'failed' || number === 0 || trust === 'node') return false;
      if (isStrict) return true;
      const nodes = (failures.get(hash) ?? new Set()).add(node);
      failures.set(hash, nodes);
      if (failures.size > REMEMBERED) failures.delete(failures.keys().next().value!);
      if (nodes.size > 1) learned.forget('headers-prove');
      return !isAlone && learned.knows('headers-prove');
    },
  };
}
