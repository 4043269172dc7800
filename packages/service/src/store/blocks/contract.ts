/** Blocks and the matches of streams in them. */
import type { DeliverMode, DeliverySummary } from '@sluice/kit/contract';

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

/** The match of one stream in one block, with its body split at `confirmed` and `retries`. */
export interface NewMatch {
  streamId: string;
  tag: string;
  /**
   * If a match is split across several webhooks, the number of this part, from 0, and the number of
   * parts.
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
  /**
   * JSON of the data that is missing from the body and that its deliveries wait for; null if
   * complete.
   */
  enrichment: string | null;
  /**
   * Reason why the match cannot be sent, so that its deliveries are quarantined on creation; null
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
   * The checkpoint that the block follows; blocks in between are skipped unread. Default: its
   * parent.
   */
  after?: BlockRef | undefined;
  /**
   * Set if the blocks after the checkpoint were searched by their logs; by default, skipped blocks
   * are known to concern no stream. `isProven`: headers prove that no other block does.
   */
  searched?: { isProven: boolean } | undefined;
  /** Revision of the rules used for matching. */
  ruleRevision: number;
  /** Height up to which this block confirms matches. */
  confirmUpTo: number;
  windowBlocks: number;
  matches: NewMatch[];
  /** Reason why the block was accepted unverified. */
  unverified?: string | undefined;
  /** Newest known block, for display. Default: this block. */
  head?: number | undefined;
}

export type CommitOutcome =
  | { outcome: 'committed'; deliveries: DeliverySummary[] }
  /**
   * The rules changed. The block is settled at this revision: once matched with it or a newer one,
   * it commits even if they change again.
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
  /** Deliveries in order of creation. */
  deliveries: DeliverySummary[];
}

export interface BlockReads {
  readCheckpoint(chain: string): Promise<Checkpoint | undefined>;
  /**
   * Returns the newest stored headers of the chain, newest first, with the number of matches per
   * block.
   */
  readWindow(chain: string, limit: number): Promise<(BlockHeader & { matches: number })[]>;
}

export interface ExplainReads {
  /**
   * Returns matches of the block with this hash, newest first, at most 1,000; optionally only for
   * one transaction.
   */
  listMatchesOf(chain: string, blockHash: string, transactionHash?: string): Promise<LedgerMatch[]>;
  /** Finds the block in which this transaction was matched. */
  findTransaction(hash: string): Promise<{ chain: string; block: BlockRef } | undefined>;
  /**
   * Returns the hashes of the transactions with records in a delivery, which may be quarantined.
   */
  listTransactionsOf(deliveryId: string): Promise<string[]>;
  /** Searches recent blocks and blocks with matches. */
  findBlock(hash: string): Promise<{ chain: string; block: BlockRef } | undefined>;
  /** Returns the committed block at this height, while its hash is kept. */
  readBlockAt(chain: string, number: number): Promise<BlockRef | undefined>;
  /** Returns the streams that watch this lowercase address. */
  listWatchers(address: string): Promise<{ streamId: string; label: string | null }[]>;
  /** Returns the stream's labels of these lowercase addresses; omits addresses without a label. */
  listLabels(streamId: string, addresses: readonly string[]): Promise<Record<string, string>>;
}

/**
 * Each call passes the epoch of the chain's lease. If another process has taken the lease since
 * then, nothing is written, and the result is `lost-lease` or undefined.
 */
export interface BlockWrites {
  /**
   * Sets a checkpoint that does not follow the previous one, records a gap with `why` unless the
   * chain is new, and ends a halt; returns the canceled deliveries. Without `holeFrom`, the chain
   * and its coverage start here and unsent deliveries are canceled; with it, only that block and
   * later ones are affected, and are recorded as a hole.
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
   * Rewinds the chain to a common ancestor: orphans matches above it, cancels their unsent
   * deliveries, and creates removal webhooks for sent ones. Returns the canceled deliveries and the
   * removal webhooks.
   */
  rewindChain(rewind: {
    chain: string;
    epoch: number;
    ancestor: BlockRef;
  }): Promise<DeliverySummary[] | undefined>;
  /** Records that the chain has halted. If that is already recorded, it only updates the reason. */
  recordHalt(halt: { chain: string; epoch: number; why: string }): Promise<void>;
  /** Records that the chain continues after a halt. */
  endHalt(halted: { chain: string; epoch: number }): Promise<void>;
}
