/** Where one chain's blocks come from. */
import { RetryableError } from '../base/errors.ts';
import type { ChainAgreement, ProviderHealth } from '@sluice/kit/contract';
import { previewText } from '../base/preview.ts';
import type { BlockHeader, BlockRef } from '../store/blocks/contract.ts';
import type { BlockNeeds, EvmBlock } from '../match/evm/block.ts';

/** What a source says of a block that it could not verify in all it says. */
export interface MaybeUnverified {
  unverified?: string | undefined;
}

/** A source of blocks of whatever family. */
export interface ChainSource<Block> {
  /** True once it is known that no provider of this chain traces blocks. */
  readonly lacksTraces: boolean;
  /** The providers as they were last seen, in the order they were given. */
  providers(): ProviderHealth[];
  /** How the newest block was held against the other providers; null before the first. */
  agreement(): ChainAgreement | null;
  /**
   * Checks that a provider answers and is of the expected chain; answers with what tells the chain from
   * others: block 0's hash, of Aptos the chain id. Where
   * a provider has the expected one, those that have another are left out from then on.
   */
  readGenesisHash(expected?: string): Promise<string>;
  /** The newest block of the provider followed now, held against another provider. */
  readHead(): Promise<BlockHeader>;
  /**
   * By height, held against another provider, or by hash; undefined when no provider has such a
   * block. Throws a {@link SourceError} when the providers disagree about a height.
   */
  readHeader(at: number | string): Promise<BlockHeader | undefined>;
  /** The header with this hash led nowhere: whoever gave it is believed less from now on. */
  doubt(hash: string): void;
  /**
   * The block with this hash and what is needed of it, its parts checked against each other.
   * Throws a {@link SourceError} when no provider has all parts, or their parts disagree.
   */
  readBlock(header: BlockHeader, needs: BlockNeeds): Promise<Block>;
  /** Where a transaction is, `pending` where in no block yet; undefined when no provider knows it. */
  findTransaction(hash: string): Promise<TransactionPlace | undefined>;
  /**
   * The newest block that can no longer be undone, believed of no provider alone; undefined where none
   * knows the tag.
   */
  readFinalized(): Promise<BlockRef | undefined>;
  /** The newest block that the first provider calls so which knows the tag, asked after all else. */
  readTagged(tag: FinalityTag): Promise<BlockRef | undefined>;
  /**
   * The header of the newest block below this head that is known to be whole, for chains that pass over
   * blocks which concern nobody; absent where each block is read in its turn.
   */
  readNewestWhole?(head: BlockHeader): Promise<BlockHeader | undefined>;
  /** Roughly the bytes a block takes in memory. */
  sizeOf(block: Block): number;
  /** Calls back when there may be a new head: pushed where the node can, and at every poll. */
  watchHeads(onHint: () => void): () => void;
  stop(): Promise<void>;
}

/** Characters of a {@link SourceError}'s message. */
const MESSAGE_LIMIT = 1_000;

/** What a chain that votes on its blocks calls those that are likely to stay, and those that do. */
export type FinalityTag = 'safe' | 'finalized';

/** Height or hash of the block that a transaction is in. */
export type TransactionPlace = { at: number | string } | 'pending';

/** An EVM chain also answers questions about its state. */
export interface Source extends ChainSource<EvmBlock> {
  /**
   * The result of one request, from a provider that knows this block. Throws a {@link SourceError}
   * when none does, or when the request fails: `refused` when the node answered with an error.
   *
   * @param maxBytes of the answer; a longer one is `too-large`
   */
  requestAt(
    block: BlockRef,
    method: string,
    params: readonly unknown[],
    maxBytes?: number,
  ): Promise<unknown>;
}

/**
 * Something is wrong with the node's answers; trying again, or another node, may help.
 * - `unreachable`: no answer, a refused connection, an answer that is none of a node
 * - `rate-limited`: the node wants fewer requests; `retryAfterMs` says for how long
 * - `too-large`: the answer is larger than the node gives, or than is read
 * - `unsupported`: the node does not offer the method
 * - `missing`: the node does not have a block, part or state it should have (it lags, or has pruned)
 * - `pruned`: the node does not keep what is so old
 * - `inconsistent`: parts of a block contradict each other
 * - `disagreement`: providers have different blocks at one height, and none is outvoted
 * - `refused`: any other error that the node answered with; a reverted call, for one
 * - `wrong-chain`: the node serves another chain than the one configured
 */
export type SourceErrorKind =
  | 'unreachable'
  | 'rate-limited'
  | 'too-large'
  | 'unsupported'
  | 'missing'
  | 'pruned'
  | 'inconsistent'
  | 'disagreement'
  | 'refused'
  | 'wrong-chain';

export class SourceError extends RetryableError {
  override readonly name = 'SourceError';
  readonly kind: SourceErrorKind;
  /** Only of `rate-limited`. */
  readonly retryAfterMs: number | undefined;
  /** Of the JSON-RPC error the node answered with, if it did. */
  readonly rpcCode: number | undefined;
  /** The `data` of that error: what a reverted call returned. */
  readonly data: unknown;

  constructor(
    kind: SourceErrorKind,
    message: string,
    more: { cause?: unknown; retryAfterMs?: number; rpcCode?: number; data?: unknown } = {},
  ) {
    // A node may say anything, of any length; this stands in the log and in `/health`.
    const cut = previewText(message, MESSAGE_LIMIT);
    super('node_failed', cut, more.cause === undefined ? undefined : { cause: more.cause });
    this.kind = kind;
    this.retryAfterMs = more.retryAfterMs;
    this.rpcCode = more.rpcCode;
    this.data = more.data;
  }
}

/** The node does not have, know or give what was asked for; nodes word it in many ways. */
export const isLacking = ({ kind }: SourceError): boolean =>
  kind === 'unsupported' || kind === 'missing' || kind === 'refused';

export const isOfKind = (error: unknown, ...kinds: SourceErrorKind[]): error is SourceError =>
  error instanceof SourceError && kinds.includes(error.kind);

/** Undefined where no node has it yet, or keeps it still. */
export async function readKept(
  source: Pick<ChainSource<unknown>, 'readHeader'>,
  number: number,
): Promise<BlockHeader | undefined> {
  try {
    return await source.readHeader(number);
  } catch (error) {
    if (isOfKind(error, 'missing', 'pruned')) return undefined;
    throw error;
  }
}
