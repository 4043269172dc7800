/** Blocks, and what streams matched in them. */
import type { DeliverMode, DeliverySummary } from '@sluice/kit/contract';

export interface BlockRef {
  number: number;
  hash: string;
}

export interface BlockHeader extends BlockRef {
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
  /** Of an Aptos block: the ledger version of its last transaction. */
  lastVersion?: number | undefined;
}

/** What one stream matched in one block, with its body split at `confirmed` and `retries`. */
export interface NewMatch {
  streamId: string;
  tag: string;
  /** Of a match that one webhook cannot hold: which part this is, from 0, and of how many. */
  part: number;
  parts: number;
  deliver: DeliverMode;
  logs: number;
  transactions: number;
  internalTransactions: number;
  /** How many of each kind, for the counts: what the contract's `ActivityBreakdown` says of them. */
  records: Readonly<Record<string, number>>;
  /** What the body says, in a line for people. */
  about: string;
  /** Of every record, each once. */
  transactionHashes: string[];
  bodyHead: string;
  bodyTail: string;
  /** JSON of what the body still lacks, or null: its deliveries wait until it is there. */
  enrichment: string | null;
  /** Why nothing of it is sent: its deliveries are quarantined from the start. Null for any other match. */
  setAside: string | null;
}

export interface BlockCommit {
  chain: string;
  /** Of the chain's lease. */
  epoch: number;
  block: BlockHeader;
  /** The checkpoint it is committed onto. Default: its parent; blocks between are passed over unread. */
  after?: BlockRef | undefined;
  /** Rules the matches were made with. */
  ruleRevision: number;
  /** Matches of blocks up to this height are confirmed with this block. */
  confirmUpTo: number;
  /** Blocks of the window to keep. */
  windowBlocks: number;
  matches: NewMatch[];
  /** Why the block was accepted although not everything about it could be verified. */
  unverified?: string | undefined;
  /** The newest block that is known, for those who watch. Default: this one. */
  head?: number | undefined;
}

export type CommitOutcome =
  | { outcome: 'committed'; deliveries: DeliverySummary[] }
  /**
   * The rules moved. They are settled for this block at this revision: matched with these or newer ones it
   * commits, whatever changes meanwhile.
   */
  | { outcome: 'stale-rules'; revision: number }
  /** The checkpoint is not the one the block follows: somebody else moved it. */
  | { outcome: 'not-next' }
  /** The chain's lease is another's by now, and so the chain. */
  | { outcome: 'lost-lease' };

export interface Checkpoint extends BlockRef {
  genesisHash: string;
}

/** What of a block was matched for one stream. */
export interface LedgerMatch {
  streamId: string;
  state: 'frozen' | 'confirmed' | 'orphaned';
  isEnriching: boolean;
  /** In the order they were made. */
  deliveries: DeliverySummary[];
}

export interface BlockReads {
  readCheckpoint(chain: string): Promise<Checkpoint | undefined>;
  /** The newest stored headers of the chain, newest first, with the matches each block gave. */
  readWindow(chain: string, limit: number): Promise<(BlockHeader & { matches: number })[]>;
}

export interface ExplainReads {
  /** Of the block with this hash, newest first, at most 1,000; of one transaction where it is given. */
  listMatchesOf(chain: string, blockHash: string, transactionHash?: string): Promise<LedgerMatch[]>;
  /** Where something of this transaction was matched. */
  findTransaction(hash: string): Promise<{ chain: string; block: BlockRef } | undefined>;
  /** Hashes of the transactions that a delivery has records of, sent or set aside. */
  listTransactionsOf(deliveryId: string): Promise<string[]>;
  /** Among recent blocks, and those in which something was matched. */
  findBlock(hash: string): Promise<{ chain: string; block: BlockRef } | undefined>;
  /** The committed block at this height, as long as its hash is kept. */
  readBlockAt(chain: string, number: number): Promise<BlockRef | undefined>;
  /** Streams whose list has this address; lower case. */
  listWatchers(address: string): Promise<{ streamId: string; label: string | null }[]>;
  /** The labels of those of these addresses, in lower case, that the stream watches under one. */
  listLabels(streamId: string, addresses: readonly string[]): Promise<Record<string, string>>;
}

/**
 * Each names the epoch of the chain's lease it was begun with. Where the lease was taken by another since,
 * nothing is written, and the answer is `lost-lease` or undefined.
 */
export interface BlockWrites {
  /**
   * Sets a chain's checkpoint where it does not follow from the one before. Without `holeFrom` the
   * chain begins here: whatever was not confirmed never is, what was not sent is cancelled, and
   * streams are covered from the next block on. With it, that holds for blocks from there on alone,
   * and those up to this one are recorded as a hole. Where the chain is not new, the gap is noted, with
   * `why` for people, and a halt is over. Answers with the cancelled deliveries.
   */
  startChain(start: {
    chain: string;
    epoch: number;
    block: BlockHeader;
    genesisHash: string;
    holeFrom?: number | undefined;
    why?: string | undefined;
  }): Promise<DeliverySummary[] | undefined>;
  /** Checkpoint, matches and deliveries of one block, or none of them. */
  commitBlock(commit: BlockCommit): Promise<CommitOutcome>;
  /**
   * Takes the chain back to a common ancestor: matches above it are orphaned, deliveries of theirs
   * that were never sent are cancelled, and streams that ask for it get a notice of removal for what
   * was sent. Answers with the cancelled deliveries and the notices.
   */
  rewindChain(rewind: {
    chain: string;
    epoch: number;
    ancestor: BlockRef;
  }): Promise<DeliverySummary[] | undefined>;
  /** The chain goes no further by itself; of a halt that is noted already only what is said of it changes. */
  noteHalt(halt: { chain: string; epoch: number; why: string }): Promise<void>;
  /** It goes on from where it halted. */
  endHalt(halted: { chain: string; epoch: number }): Promise<void>;
}
