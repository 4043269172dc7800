/** Where one chain's blocks come from. */
import type { BlockHeader, BlockRef } from '../store/store.ts';
import type { BlockNeeds, EvmBlock } from '../match/block.ts';

export interface Source {
  /** True once it is known that no provider of this chain traces blocks. */
  readonly lacksTraces: boolean;
  /** Checks that the node answers and is of the expected chain; answers with block 0's hash. */
  readGenesisHash(): Promise<string>;
  /** The newest block of the node. */
  readHead(): Promise<BlockHeader>;
  /** By height on the node's own chain, or by hash; undefined when the node has no such block. */
  readHeader(at: number | string): Promise<BlockHeader | undefined>;
  /**
   * The block with this hash and what is needed of it, its parts checked against each other.
   * Throws a {@link SourceError} when the node lacks a part or its parts disagree.
   */
  readBlock(header: BlockHeader, needs: BlockNeeds): Promise<EvmBlock>;
  /** The newest block that can no longer be undone; undefined where no provider knows the tag. */
  readFinalized(): Promise<number | undefined>;
  /**
   * The result of one request, from a provider that knows this block. Throws a {@link SourceError}
   * when none does, or when the request fails: `refused` when the node answered with an error.
   */
  requestAt(block: BlockRef, method: string, params: readonly unknown[]): Promise<unknown>;
  /** Calls back when there may be a new head: pushed where the node can, and at every poll. */
  watchHeads(onHint: () => void): () => void;
  /** Turns to the next provider of this chain, if there is one. */
  tryNext(): void;
  stop(): Promise<void>;
}

/**
 * Something is wrong with the node's answers; trying again, or another node, may help.
 * - `unreachable`: no answer, a refused connection, a rate limit, an error of the node
 * - `missing`: the node does not have a block or part it should have (it lags)
 * - `inconsistent`: parts of a block contradict each other
 * - `wrong-chain`: the node serves another chain than the one configured
 */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly kind: 'unreachable' | 'missing' | 'inconsistent' | 'wrong-chain';

  constructor(kind: SourceError['kind'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}
