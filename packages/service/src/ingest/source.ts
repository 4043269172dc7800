/** Defines how the blocks of one chain are read from its nodes, and the errors of nodes. */
import { RetryableError } from '../base/errors.ts';
import type { ChainAgreement, ChainProof, ChainTrust, ProviderHealth } from '@sluice/kit/contract';
import { previewText } from '../base/preview.ts';
import type {
  BlockNeeds,
  BlockHeader,
  BlockRef,
  FinalityTag,
  Unverified,
} from '../store/blocks/contract.ts';
import type { RecordIds } from './later/records.ts';
import type { RangeRefusal } from './nodes/rangeRefusal.ts';
import type { LogSearch, SearchedLog } from '../match/logSearch.ts';

/** A block that the source may not have fully verified. */
export interface MaybeUnverified {
  /** Marks of the gaps in the evidence; undefined if the block is verified. */
  unverified?: Unverified | undefined;
}

/**
 * Returns the header of a block. The ledger gets no other parts, because it may run in another
 * thread, and the functions of a block cannot be copied to it.
 */
export const headerOf = ({
  number,
  hash,
  parentHash,
  timestamp,
  lastVersion,
}: BlockHeader): BlockHeader => ({ number, hash, parentHash, timestamp, lastVersion });

/** A block that may concern the streams. */
export interface FoundBlock extends BlockRef {
  /** The logs that were found in it, if they suffice. */
  logs?: readonly SearchedLog[];
}

/** Result of searching a block range by logs. */
export interface FoundBlocks {
  /** The last block that was searched. */
  end: BlockHeader;
  /** Blocks that may concern the streams, in order. */
  hits: FoundBlock[];
  /** Whether the headers of all searched blocks were read and rule out further hits. */
  isProven: boolean;
}

/** A search for the blocks of some streams, which adapts to the limits of the nodes. */
export interface BlockSearch {
  /**
   * Searches blocks from `from` up to `upTo` at most. Returns undefined if the nodes can't be
   * searched now, or if reading each block costs less.
   */
  next(from: number, upTo: number): Promise<FoundBlocks | undefined>;
}

/** Maximum number of consecutive heights at which a chain has no block. */
export const MAX_EMPTY_HEIGHTS = 64;

/** A source of blocks, for any chain family. */
export interface ChainSource<Block> {
  /** True once it is known that no provider of this chain traces blocks. */
  readonly lacksTraces: boolean;
  /**
   * Returns the last known state of each provider: first the configured ones in order, then the
   * added ones.
   */
  providers(): ProviderHealth[];
  /**
   * Returns the result of the check of the newest block against other providers, or of a later
   * check that ended in a disagreement; null until there is one.
   */
  agreement(): ChainAgreement | null;
  /** The evidence that a block needs; absent on chains whose headers prove nothing. */
  readonly trust?: ChainTrust;
  /**
   * Returns whether blocks are proven, and if not, why; absent on chains whose headers prove
   * nothing.
   */
  proof?(): ChainProof;
  /**
   * Returns the identity of the chain that the nodes serve: the hash of block 0, or a chain id. If a provider has the `expected` identity, returns it, and providers of other chains are
   * excluded. Without `expected`, throws a {@link SourceError} if providers differ.
   */
  readGenesisHash(expected?: string): Promise<string>;
  /**
   * Returns the header of the newest block, checked against a witness. Uses the primary, unless the
   * primary fails or a clearly better provider replaces it.
   */
  readHead(): Promise<BlockHeader>;
  /**
   * Reads a header by height, checked against a witness, or by hash. Returns undefined if no
   * provider has the block; throws a {@link SourceError} if providers disagree about a height.
   */
  readHeader(at: number | string): Promise<BlockHeader | undefined>;
  /**
   * Reports that the header with this hash led to no valid block, which counts against its
   * provider.
   */
  doubt(hash: string): void;
  /**
   * Reads the block with this hash and the parts that are needed, checked against each other.
   * Throws a {@link SourceError} if no provider has all parts, or if the parts contradict each
   * other.
   */
  readBlock(block: BlockRef, needs: BlockNeeds): Promise<Block>;
  /**
   * Reads the header and the block at a height, in fewer calls than `readHeader` and `readBlock`;
   * undefined if no provider has the block.
   */
  readBlockAt(
    number: number,
    needs: BlockNeeds,
  ): Promise<{ header: BlockHeader; block: Block } | undefined>;
  /** Opens a search for blocks by their logs; absent if the chain family has no such queries. */
  openSearch?(search: LogSearch): BlockSearch;
  /** Reads uncertain blocks again; absent on chains without such blocks. */
  later?: LaterReadings<Block>;
  /**
   * Locates a transaction: `pending` if it is not in a block yet, undefined if no provider knows
   * it.
   */
  findTransaction(hash: string): Promise<TransactionPlace | undefined>;
  /**
   * Reads the tagged block: the lowest that any of `all` providers reports, or at low priority the
   * first that is reported. Undefined if no provider reports one.
   */
  readTagged(tag: FinalityTag, from: 'all' | 'any'): Promise<BlockRef | undefined>;
  /**
   * Reads the header of the newest complete block below this head. Present only on chains whose
   * blocks are passed over while no stream watches the chain.
   */
  readNewestComplete?(head: BlockHeader): Promise<BlockHeader | undefined>;
  /** Estimates the memory size of a block in bytes. */
  sizeOf(block: Block): number;
  /**
   * Calls back when there may be a new head: on every push from a node, and on every poll. Returns
   * a function that stops the calls.
   */
  watchHeads(onHint: () => void): () => void;
  stop(): Promise<void>;
}

export interface LaterReadings<Block> {
  /** When an uncertain block is read again: milliseconds after it was accepted. */
  afterMs: readonly number[];
  records: RecordIds<Block>;
  /**
   * Reads a block from every node, and returns the best answer. `isComplete` is false if another
   * node might have returned a better one.
   *
   * @throws SourceError if no node returned the block, or if the nodes disagree without a majority
   */
  read(header: BlockHeader, needs: BlockNeeds): Promise<{ block: Block; isComplete: boolean }>;
}

/** Maximum length of a {@link SourceError} message, in characters. */
const MESSAGE_LIMIT = 1_000;

/** The height or hash of the block that a transaction is in, or `pending` before it is in one. */
export type TransactionPlace = { at: number | string } | 'pending';

/**
 * A problem with a node's responses; a retry or another node may help.
 * - `unreachable`: no response, a refused connection, or a response that isn't from a node
 * - `rate-limited`: the node wants fewer requests; `retryAfterMs` is the time to wait
 * - `too-large`: the response exceeds the limit of the node or of the request
 * - `unsupported`: the node does not offer the method
 * - `missing`: the node lacks a block, part or state, because the node lags or pruned it
 * - `pruned`: the node no longer keeps data this old
 * - `inconsistent`: parts of a block contradict each other
 * - `disagreement`: providers have different blocks at one height, or different content of a block,
 *   without a majority
 * - `settling`: a block that is not proven waits for a second witness; `retryAfterMs` is the wait
 * - `refused`: any other error that the node returned, such as a reverted call
 * - `wrong-chain`: the node serves a chain other than the configured one
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
  | 'settling'
  | 'refused'
  | 'wrong-chain';

/** Has no cause, whose message could contain text of a node that was not cleaned. */
export class SourceError extends RetryableError {
  override readonly name = 'SourceError';
  readonly kind: SourceErrorKind;
  /** Milliseconds to wait before a retry; set only for `rate-limited` and `settling`. */
  readonly retryAfterMs: number | undefined;
  /** The code of the JSON-RPC error that the node returned, if any. */
  readonly rpcCode: number | undefined;
  /** The `data` of the error, such as the return data of a reverted call. */
  readonly data: unknown;
  /** The range that the node suggests; set only for `too-large`. */
  readonly range: RangeRefusal | undefined;

  constructor(
    kind: SourceErrorKind,
    message: string,
    more: {
      retryAfterMs?: number;
      rpcCode?: number;
      data?: unknown;
      range?: RangeRefusal;
    } = {},
  ) {
    super('node_failed', previewText(message, MESSAGE_LIMIT));
    this.kind = kind;
    this.retryAfterMs = more.retryAfterMs;
    this.rpcCode = more.rpcCode;
    this.data = more.data;
    this.range = more.range;
  }
}

/**
 * Returns whether the error may mean that the node lacks the requested data or method. Nodes report
 * missing data in different ways, so `refused` is included.
 */
export const isLacking = ({ kind }: SourceError): boolean =>
  kind === 'unsupported' || kind === 'missing' || kind === 'pruned' || kind === 'refused';

export const isOfKind = (error: unknown, ...kinds: SourceErrorKind[]): error is SourceError =>
  error instanceof SourceError && kinds.includes(error.kind);

/**
 * Reads the header at a height. Returns undefined if no node has it yet, or if no node keeps it
 * anymore.
 */
export async function readKeptHeader(
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
