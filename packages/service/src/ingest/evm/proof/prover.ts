/**
 * Decides whether the blocks of a chain must be proven: always on known chains, and on others by a
 * verdict that is determined once, from proven blocks whose headers two nodes share. Only the
 * operator can undo a verdict that requires proofs.
 */
import type { ChainProof } from '@sluice/kit/contract';
import type { Log } from '../../../base/log.ts';
import type { Store } from '../../../store/store.ts';
import { type Json, object } from '../../json.ts';
import { type HeaderProof, isProvableChain } from '../header.ts';
import type { Provider } from '../provider.ts';
import { SourceError } from '../../source.ts';
import { findUnproven } from './proveBlock.ts';

/** Storage for verdicts. */
export type VerdictStore = Pick<Store, 'readCheckpoint' | 'readSetting' | 'saveSetting'>;

export interface Prover {
  /** Loads the verdict. Must be called before the first block is read. */
  load(): Promise<void>;
  /** Strictness of header checks. */
  headers(): HeaderProof;
  /** Whether unproven blocks are rejected. */
  isRequired(): boolean;
  /** Whether blocks are needed to determine a verdict. */
  isJudging(): boolean;
  /**
   * Proves a block if proofs are required; otherwise, it may use the block as a sample.
   *
   * @param block with full transactions
   * @param receipts in transaction order
   * @throws SourceError `inconsistent` if a required proof fails
   */
  check(node: Provider, block: Json, receipts: readonly Json[]): Promise<void>;
  health(): ChainProof;
}

/** Number of blocks with transactions that must be proven before proofs are required on a chain. */
const SAMPLE_BLOCKS = 16;

export function createProver({
  chain,
  setting,
  nodes,
  store,
  log,
}: {
  chain: string;
  /** `on` or `off`, set by the operator; undefined to determine a verdict. */
  setting: 'on' | 'off' | undefined;
  nodes(): readonly Provider[];
  /** Without it, no verdict is determined. */
  store: VerdictStore | undefined;
  log: Log;
}): Prover {
  const isKnown = isProvableChain(chain);
  /** The value is the hash of block 0, so that a replaced chain has no verdict. */
  const verdictKey = `provable:${chain}`;
  let isRequired = setting === 'on' || (setting === undefined && isKnown);
  let reason = setting === 'off' ? 'proof=off' : '';
  /** The chain that the verdict is about; unknown before the first load. */
  let genesisHash: string | undefined;
  let proven = 0;

  const isJudging = (): boolean =>
    !isRequired && reason === '' && genesisHash !== undefined && nodes().length > 1;

  const giveUp = (why: string): void => {
    if (!isJudging()) return;
    reason = why;
    log.info('blocks are checked, not proven', { chain, reason });
  };

  const judge = async (node: Provider, block: Json, receipts: readonly Json[]): Promise<void> => {
    const unproven = findUnproven(block, receipts);
    if (unproven.length > 0) return giveUp(unproven.join('; '));
    const other = nodes().find((each) => each !== node)!;
    const theirs = await other.request('eth_getBlockByHash', [block['hash'], false], {
      order: 'aside',
      isOptional: true,
    });
    const header = theirs === null ? {} : object(theirs, `${other.name}: block`);
    const isSame = ['hash', 'transactionsRoot', 'receiptsRoot'].every(
      (field) => header[field] === block[field],
    );
    proven = isSame ? proven + 1 : 0;
    if (proven < SAMPLE_BLOCKS || !isJudging()) return;
    isRequired = true;
    await store!.saveSetting(verdictKey, genesisHash!);
    log.info('blocks are proven from now on', { chain });
  };

  return {
    async load() {
      if (genesisHash !== undefined || isRequired || setting === 'off') return;
      genesisHash = (await store?.readCheckpoint(chain))?.genesisHash;
      if (genesisHash === undefined) return;
      isRequired = (await store?.readSetting(verdictKey)) === genesisHash;
    },
    headers: () => (isRequired ? 'strict' : isKnown ? 'known' : 'none'),
    isRequired: () => isRequired,
    isJudging,

    async check(node, block, receipts) {
      if (isRequired) {
        const unproven = findUnproven(block, receipts);
        if (unproven.length === 0) return;
        throw new SourceError(
          'inconsistent',
          `${node.name}: block ${Number(block['number'])} is not proven: ${unproven.join('; ')}`,
        );
      }
      if (!isJudging() || receipts.length === 0) return;
      // A failure of either node is reported elsewhere; the next block is another sample.
      await judge(node, block, receipts).catch(() => undefined);
    },

    health() {
      if (isRequired) return { isProven: true, reason: '' };
      if (reason !== '') return { isProven: false, reason };
      return {
        isProven: false,
        reason:
          nodes().length > 1
            ? `${proven} of ${SAMPLE_BLOCKS} sample blocks are proven`
            : 'a single node cannot show that the chain follows the standard rules; add another, or pass proof=on',
      };
    },
  };
}
