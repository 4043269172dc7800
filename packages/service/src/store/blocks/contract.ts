/** Blocks, and the matches of streams in them. */
import type {
  ChainGap,
  Confirmations,
  DeliverMode,
  DeliverySummary,
  RecentBlocks,
  Reorg,
  StreamTimeline,
  UnverifiedCode,
} from '@sluice/kit/contract';
import type { Child } from '../children/contract.ts';
import type { ConfirmBy } from '../tables/blocks.ts';

export interface BlockRef {
  number: number;
  hash: string;
}

export interface BlockHeader extends BlockRef {
  parentHash: string;
  /** Timestamp in Unix seconds. */
  timestamp: number;
  /** Ledger version of the block's last transaction; only on Aptos. */
  lastVersion?: number | undefined;
}

/**
 * Finality tags of chains whose validators vote: `safe` blocks are likely to stay, `finalized`
 * blocks always stay.
 */
export const FINALITY_TAGS = ['safe', 'finalized'] as const satisfies ConfirmBy[];
export type FinalityTag = (typeof FINALITY_TAGS)[number];

/**
 * Numbers of the newest confirmed blocks, by condition; negative if there are none.
 * With `depth`, this is the block from which the match's number of blocks is counted back.
 */
export type ConfirmedHeights = Readonly<Record<ConfirmBy, number>>;

/** The reading of an uncertain block, to compare a later reading with it. */
export interface Reading {
  /** The parts that were read. */
  needs: Readonly<Record<string, boolean | undefined>>;
  /** The records that were read. */
  records: string;
  /** Milliseconds until the next reading; 0 to read the block at once. */
  dueInMs: number;
}

/** The parts of a block that current streams need. */
export interface BlockNeeds {
  logs: boolean;
  /** Transactions, including their receipts. */
  transactions: boolean;
  traces: boolean;
  /** Every call in the traces, not only those that move value. Default: false. */
  calls?: boolean | undefined;
  /** Proofs of the receipts. Default: false. */
  proofs?: boolean | undefined;
  /** Whether a stream reads values in the state of the block. Default: false. */
  state?: boolean | undefined;
  /** Whether a stream holds unverified blocks, so that these are read again. Default: false. */
  holds?: boolean | undefined;
}

/** Marks of an unverified block: the gaps of its evidence, and its witnesses. */
export interface Unverified {
  /** The codes, in the order of `UNVERIFIED_CODES`; at least one. */
  codes: readonly UnverifiedCode[];
  /** Number of operators whose nodes returned the same content. */
  witnesses: number;
  /** True if a check failed, so the block is read again later. */
  isUncertain: boolean;
  /** The reading of a block that will be read again if it is uncertain, or if a stream holds it. */
  reading?: Reading | undefined;
}

/** Number of operators whose nodes must return the same unverified block, so that it is not held. */
const WITNESSES = 2;

export const isWitnessed = ({ witnesses }: Pick<Unverified, 'witnesses'>): boolean =>
  witnesses >= WITNESSES;

/**
 * The match of one stream in one block, or a part of it. The body is stored without the values of
 * `confirmed` and `retries`.
 */
export interface NewMatch {
  streamId: string;
  tag: string;
  /** Index of this part, from 0. A match that is too large for one webhook has several parts. */
  part: number;
  parts: number;
  deliver: DeliverMode;
  logs: number;
  transactions: number;
  internalTransactions: number;
  /** Record counts by type, as in the kit's `ActivityBreakdown`. */
  records: Readonly<Record<string, number>>;
  /** One-line summary of the body, for display. */
  about: string;
  /** Transaction hashes of all records, without duplicates. */
  transactionHashes: string[];
  bodyHead: string;
  bodyTail: string;
  /**
   * JSON plan of the data that is missing from the body; deliveries wait until the data is added.
   * Null if the body is complete.
   */
  enrichment: string | null;
  /**
   * Why the match cannot be sent; null if it can. If set, the deliveries of the match are
   * quarantined on creation.
   */
  setAside: string | null;
}

export interface BlockCommit {
  chain: string;
  /** Epoch of the chain's lease. */
  epoch: number;
  block: BlockHeader;
  /**
   * The current checkpoint, which the commit moves to `block`. Blocks in between are skipped.
   * Default: the parent of `block`.
   */
  after?: BlockRef | undefined;
  /**
   * Set if the blocks after the checkpoint were searched by range. `isProven`: their headers prove
   * that no stream matches a skipped block. By default, skipped blocks are recorded as a gap,
   * because no stream watched the chain, unless `after` is the parent of the block: then the chain
   * has no block at these heights.
   */
  searched?: { isProven: boolean } | undefined;
  /** Revision of the rules that the block was matched with. */
  ruleRevision: number;
  /**
   * Height of the newest block whose matches this commit confirms, if they wait for the chain's own
   * confirmations.
   */
  confirmUpTo: number;
  /**
   * Heights of the safe and the finalized block, up to which this commit confirms the matches that
   * wait for them; negative if there are none. Default: none.
   */
  tagged?: Partial<Record<FinalityTag, number>> | undefined;
  windowBlocks: number;
  matches: NewMatch[];
  /** Whether streams read values in the state of the block. Default: false. */
  readsState?: boolean | undefined;
  /** New children of the streams' factories in the block. Default: none. */
  children?: readonly Child[] | undefined;
  /** Marks of an unverified block; undefined if the block is verified. */
  unverified?: Unverified | undefined;
  /** Number of the newest known block, for display. Default: the number of `block`. */
  head?: number | undefined;
}

export type CommitOutcome =
  /** `children` are those that were added, up to the maximum of their stream. */
  | { outcome: 'committed'; children: readonly Child[] }
  /**
   * The block was matched with outdated rules. `revision` is now settled for it: matched with this
   * or a newer revision, the block commits even if the rules change again.
   */
  | { outcome: 'stale-rules'; revision: number }
  /** The block does not follow the checkpoint, because another writer moved the checkpoint. */
  | { outcome: 'not-next' }
  /** Another process has taken the chain's lease. */
  | { outcome: 'lost-lease' };

export interface Checkpoint extends BlockRef {
  genesisHash: string;
}

export interface CommittedBlock extends BlockRef {
  /** Time of the commit in Unix milliseconds. */
  committedAt: number;
}

/** The match of one stream in a block, as stored. */
export interface LedgerMatch {
  streamId: string;
  state: 'frozen' | 'confirmed' | 'orphaned';
  /** The confirmations of the stream; null for those of the chain. */
  confirmations: Confirmations | null;
  isEnriching: boolean;
  /** Codes of the unverified block; empty if the block is verified. */
  unverified: string[];
  /** Number of operators whose nodes returned the unverified block; null if it is verified. */
  witnesses: number | null;
  /** Deliveries in order of creation. */
  deliveries: DeliverySummary[];
}

export interface BlockReads {
  readCheckpoint(chain: string): Promise<Checkpoint | undefined>;
  /** Returns the tags that matches or running backfills of the chain wait for. */
  listAwaitedTags(chain: string): Promise<FinalityTag[]>;
  /**
   * Returns the headers of the newest stored blocks, newest first, with the number of matches in
   * each.
   */
  readWindow(chain: string, limit: number): Promise<(BlockHeader & { matches: number })[]>;
}

export interface ExplainReads {
  /**
   * Returns up to 1,000 matches of the block with this hash, newest first. With `transactionHash`,
   * returns only matches with records of this transaction.
   */
  listMatchesOf(chain: string, blockHash: string, transactionHash?: string): Promise<LedgerMatch[]>;
  /** Finds the block in which this transaction was matched. */
  findTransaction(hash: string): Promise<{ chain: string; block: BlockRef } | undefined>;
  /**
   * Returns the hashes of the transactions with records in a delivery, even if the delivery is
   * quarantined.
   */
  listTransactionsOf(deliveryId: string): Promise<string[]>;
  /** Finds a block by its hash among recent blocks and blocks with matches. */
  findBlock(hash: string): Promise<{ chain: string; block: BlockRef } | undefined>;
  /** Returns the committed block at this height, if its hash is still stored. */
  readBlockAt(chain: string, number: number): Promise<CommittedBlock | undefined>;
  /** Returns the streams that watch this lowercase address. */
  listWatchers(address: string): Promise<{ streamId: string; label: string | null }[]>;
  /** Returns the stream's labels for these lowercase addresses; omits addresses without a label. */
  listLabels(streamId: string, addresses: readonly string[]): Promise<Record<string, string>>;
}

/** The recent history of chains. */
export interface ChainHistoryReads {
  /**
   * Returns the matches of these streams in the newest blocks of their chains, including removed
   * blocks, in the order of `streamIds`.
   */
  listTimelines(asked: { streamIds: readonly string[]; limit: number }): Promise<StreamTimeline[]>;
  /**
   * Lists the newest blocks of one chain or of all, with the matches of one stream or of all,
   * including removed blocks with matches.
   */
  listBlocks(asked: {
    chain?: string | undefined;
    streamId?: string | undefined;
    limit: number;
  }): Promise<RecentBlocks[]>;
  /** Lists reorgs of one chain or of all, newest first. At most 100 are kept per chain. */
  listReorgs(asked: { chain?: string | undefined; limit: number }): Promise<Reorg[]>;
  /** Lists gaps of one chain or of all, newest first. At most 100 are kept per chain. */
  listGaps(asked: { chain?: string | undefined; limit: number }): Promise<ChainGap[]>;
}

/**
 * Each call passes the epoch of the chain's lease. If another process has taken the lease in the
 * meantime, nothing is written and the result is `lost-lease`, false or undefined.
 */
export interface BlockWrites {
  /**
   * Restarts the chain after `block`: moves the checkpoint, ends a halt and records a gap with
   * `why`, unless the chain is new or no block is skipped. With `holeFrom`, the blocks from
   * `holeFrom` to `block` become a hole, and frozen matches from `holeFrom` on are orphaned.
   * Without it, all frozen matches are orphaned, and coverage starts after `block`. Children of
   * factories are deleted from the same block on.
   */
  startChain(start: {
    chain: string;
    epoch: number;
    block: BlockHeader;
    genesisHash: string;
    holeFrom?: number | undefined;
    why?: string | undefined;
  }): Promise<boolean>;
  /** Commits the checkpoint, matches and deliveries of one block atomically. */
  commitBlock(commit: BlockCommit): Promise<CommitOutcome>;
  /**
   * Rewinds the chain to a common ancestor: orphans the matches above it, cancels their deliveries
   * that were never claimed, and creates removal webhooks for matches that were or may have been
   * sent, if their stream has `notifyRemoved`. Returns the children of factories
   * that left the chain.
   */
  rewindChain(rewind: {
    chain: string;
    epoch: number;
    ancestor: BlockRef;
  }): Promise<Child[] | undefined>;
  /**
   * Records that the chain has halted. If the chain has already halted, only the reason is updated.
   */
  recordHalt(halt: { chain: string; epoch: number; why: string }): Promise<void>;
  /** Records that the chain continues after a halt. */
  endHalt(halted: { chain: string; epoch: number }): Promise<void>;
}
