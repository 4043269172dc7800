/** Blocks and the matches of streams in them. */
import type { DeliverMode, DeliverySummary } from '@sluice/kit/contract';

export interface BlockRef {
  number: number;
  hash: string;
}

export interface BlockHeader extends BlockRef {
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  /** On Aptos, the ledger version of the block's last transaction. */
  lastVersion?: number | undefined;
}

/** The match of one stream in one block, with its body split at `confirmed` and `retries`. */
export interface NewMatch {
  streamId: string;
  tag: string;
  /**
   * If a match is split across several webhooks: the number of this part, from 0, and how many
   * there are.
   */
  part: number;
  parts: number;
  deliver: DeliverMode;
  logs: number;
  transactions: number;
  internalTransactions: number;
  /** Record counts by type, as in the contract's `ActivityBreakdown`. */
  records: Readonly<Record<string, number>>;
  /** One-line summary of the body, for people. */
  about: string;
  /** Transaction hashes of all records, without duplicates. */
  transactionHashes: string[];
  bodyHead: string;
  bodyTail: string;
  /** JSON of the data that the body still lacks, whose deliveries wait for it; null if complete. */
  enrichment: string | null;
  /**
   * Why it cannot be sent, in which case its deliveries are quarantined on creation; null
   * otherwise.
   */
  setAside: string | null;
}

export interface BlockCommit {
  chain: string;
  /** Epoch of the chain's lease. */
  epoch: number;
  block: BlockHeader;
  /**
   * The checkpoint the block follows. Default: its parent; blocks in between are skipped unread.
   */
  after?: BlockRef | undefined;
  /** Revision of the rules used for matching. */
  ruleRevision: number;
  /** This block confirms the matches of blocks up to this height. */
  confirmUpTo: number;
  /** Number of blocks to keep in the window. */
  windowBlocks: number;
  matches: NewMatch[];
  /** Why the block was accepted although not everything about it could be verified. */
  unverified?: string | undefined;
  /** The newest known block, for display. Default: this block. */
  head?: number | undefined;
}

export type CommitOutcome =
  | { outcome: 'committed'; deliveries: DeliverySummary[] }
  /**
   * The rules changed. This block is settled at this revision: matched with it or a newer one, it
   * commits, whatever changes in the meantime.
   */
  | { outcome: 'stale-rules'; revision: number }
  /** The block does not follow the checkpoint, which another writer moved. */
  | { outcome: 'not-next' }
  /** Another process has taken the chain's lease. */
  | { outcome: 'lost-lease' };

export interface Checkpoint extends BlockRef {
  genesisHash: string;
}

/** The match of one stream in a block, as stored. */
export interface LedgerMatch {
  streamId: string;
  state: 'frozen' | 'confirmed' | 'orphaned';
  isEnriching: boolean;
  /** In order of creation. */
  deliveries: DeliverySummary[];
}

export interface BlockReads {
  readCheckpoint(chain: string): Promise<Checkpoint | undefined>;
  /** The newest stored headers of the chain, newest first, with the number of matches per block. */
  readWindow(chain: string, limit: number): Promise<(BlockHeader & { matches: number })[]>;
}

export interface ExplainReads {
  /**
   * Matches of the block with this hash, newest first, at most 1,000; optionally only those of one
   * transaction.
   */
  listMatchesOf(chain: string, blockHash: string, transactionHash?: string): Promise<LedgerMatch[]>;
  /** Finds the block in which this transaction was matched. */
  findTransaction(hash: string): Promise<{ chain: string; block: BlockRef } | undefined>;
  /** Hashes of the transactions with records in a delivery, including quarantined ones. */
  listTransactionsOf(deliveryId: string): Promise<string[]>;
  /** Searches recent blocks and blocks with matches. */
  findBlock(hash: string): Promise<{ chain: string; block: BlockRef } | undefined>;
  /** The committed block at this height, as long as its hash is kept. */
  readBlockAt(chain: string, number: number): Promise<BlockRef | undefined>;
  /** Streams whose list contains this lowercase address. */
  listWatchers(address: string): Promise<{ streamId: string; label: string | null }[]>;
  /**
   * Labels that the stream gives to these lowercase addresses; addresses without a label are
   * omitted.
   */
  listLabels(streamId: string, addresses: readonly string[]): Promise<Record<string, string>>;
}

/**
 * Each call names the epoch of the chain's lease under which it started. If another process has
 * taken the lease since, nothing is written, and the result is `lost-lease` or undefined.
 */
export interface BlockWrites {
  /**
   * Sets a chain's checkpoint when it does not follow the previous one. Without `holeFrom` the
   * chain starts here: earlier unconfirmed matches are never confirmed, unsent deliveries are
   * cancelled, and coverage of streams starts at the next block. With it, this applies only to
   * blocks from there on, and blocks from there up to this one are recorded as a hole. If the chain
   * is not new, a gap is recorded with `why`, and a halt ends. Returns the cancelled deliveries.
   */
  startChain(start: {
    chain: string;
    epoch: number;
    block: BlockHeader;
    genesisHash: string;
    holeFrom?: number | undefined;
    why?: string | undefined;
  }): Promise<DeliverySummary[] | undefined>;
  /** Commits the checkpoint, matches and deliveries of one block atomically. */
  commitBlock(commit: BlockCommit): Promise<CommitOutcome>;
  /**
   * Rewinds the chain to a common ancestor: matches above it are orphaned, their unsent deliveries
   * are cancelled, and those already sent get removal webhooks if their streams want them. Returns the
   * cancelled deliveries and the removal webhooks.
   */
  rewindChain(rewind: {
    chain: string;
    epoch: number;
    ancestor: BlockRef;
  }): Promise<DeliverySummary[] | undefined>;
  /** Records that the chain has halted; if that is already recorded, only the reason is updated. */
  recordHalt(halt: { chain: string; epoch: number; why: string }): Promise<void>;
  /** Records that the chain continues after a halt. */
  endHalt(halted: { chain: string; epoch: number }): Promise<void>;
}
