/**
 * Decides whether the blocks of a chain must be proven, unless the operator configures it. Known
 * chains require proofs. Other chains require them once enough sample blocks were proven and a
 * second node had the same headers; only the operator can undo this verdict.
 */
import type { ChainProof } from '@sluice/kit/contract';
import type { Log } from '../../../base/log.ts';
import type { Store } from '../../../store/store.ts';
import { type Json, object } from '../../json.ts';
import { type HeaderProof, isProvableChain } from '../header.ts';
import type { Provider } from '../provider.ts';
import { SourceError } from '../../source.ts';
import { findUnproven } from './proveBlock.ts';

export type VerdictStore = Pick<Store, 'readCheckpoint' | 'readSetting' | 'saveSetting'>;

export interface Prover {
  /** Loads the verdict. Must be called before the first block is read. */
  load(): Promise<void>;
  headers(): HeaderProof;
  /** Returns whether unproven blocks are rejected. */
  isRequired(): boolean;
  /** Returns whether complete blocks are needed as samples for a verdict. */
  isJudging(): boolean;
  /**
   * Proves a block if proofs are required; otherwise, may use it as a sample for the verdict.
   *
   * @param block with full transactions
   * @param receipts in transaction order
   * @throws SourceError `inconsistent` if a required proof fails
   */
  check(node: Provider, block: Json, receipts: readonly Json[]): Promise<void>;
  health(): ChainProof;
}

/**
 * Number of sample blocks that must be proven in a row before a chain requires proofs. Blocks
 * without transactions are not used as samples.
 */
const SAMPLE_BLOCKS = 16;

export function createProver({
  chain,
  setting,
  nodes,
  store,
  log,
}: {
  chain: string;
  /**
   * The operator's decision; undefined for the default: proofs on known chains, and a verdict on
   * other chains.
   */
  setting: 'on' | 'off' | undefined;
  nodes(): readonly Provider[];
  /** Storage for the verdict; if undefined, there is no verdict. */
  store: VerdictStore | undefined;
  log: Log;
}): Prover {
  const isKnown = isProvableChain(chain);
  /**
   * Key of the setting that stores the verdict. The value is the hash of block 0, so that a
   * replaced chain has no verdict.
   */
  const verdictKey = `provable:${chain}`;
  let isRequired = setting === 'on' || (setting === undefined && isKnown);
  let reason = setting === 'off' ? 'proof=off' : '';
  /** Hash of block 0 of the chain that the verdict is about; undefined until it is loaded. */
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
