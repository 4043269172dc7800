/**
 * The ledger: what is watched, how far each chain is committed, what matched, and every delivery
 * with its attempts. Each method is one transaction. SQLite and PostgreSQL run the same statements
 * (`reads.ts`, `writes.ts`) and pass the same suite (`store.suite.ts`).
 *
 * A delivery moves so, and in no other way:
 *
 *     enriching ──its body is whole──▶ pending
 *     pending ──claim──▶ leased ──complete──▶ succeeded | failed
 *        ▲                 │ retry, or the lease ran out
 *        └─────────────────┘
 *     enriching | pending ──its block left the chain, or its stream was deleted──▶ cancelled
 *     cancelled ──its block came back──▶ enriching | pending
 */
import type {
  DeliverMode,
  DeliveryDetail,
  DeliverySummary,
  DeliveryState,
  EvmStream,
  StreamStatus,
} from '@sluice/kit/contract';

/** The part of a stream that says what to match and what to send along. */
export type StreamOptions = Pick<
  EvmStream,
  | 'topic0'
  | 'allAddresses'
  | 'includeNativeTxs'
  | 'includeContractLogs'
  | 'includeInternalTxs'
  | 'includeAllTxLogs'
  | 'getNativeBalances'
  | 'abi'
  | 'advancedOptions'
  | 'demo'
  | 'triggers'
  | 'filterPossibleSpamAddresses'
>;

/** What a stream has where nobody says otherwise. */
export const DEFAULT_OPTIONS: StreamOptions = {
  topic0: null,
  allAddresses: false,
  includeNativeTxs: false,
  includeContractLogs: false,
  includeInternalTxs: false,
  includeAllTxLogs: false,
  getNativeBalances: null,
  abi: null,
  advancedOptions: null,
  demo: false,
  triggers: null,
  filterPossibleSpamAddresses: false,
};

/** How a stream delivers where nobody says otherwise. */
export const DEFAULT_DELIVERY: Pick<StreamDraft, 'deliver' | 'notifyRemoved' | 'headers'> = {
  deliver: 'both',
  notifyRemoved: false,
  headers: {},
};

export interface StreamDraft {
  tag: string;
  description: string;
  webhookUrl: string;
  chainIds: string[];
  options: StreamOptions;
  deliver: DeliverMode;
  /** Whether what was sent is taken back when its block leaves the chain. */
  notifyRemoved: boolean;
  headers: Record<string, string>;
}

export interface StreamRecord extends StreamDraft {
  id: string;
  status: StreamStatus;
  statusMessage: string;
  /** Since when the status is `error`, in Unix milliseconds; null while it is not. */
  errorSince: number | null;
  addressCount: number;
  createdAt: number;
  updatedAt: number;
}

/** A stream as the matcher needs it. Streams that no longer match are listed in `gone`. */
export interface Rule {
  stream: StreamRecord;
  /** Lower case. */
  addresses: string[];
}

export interface RuleChanges {
  revision: number;
  changed: Rule[];
  gone: string[];
}

/** Per chain, the first block a change of rules applies to. */
export type EffectiveFrom = Record<string, number>;

export interface BlockRef {
  number: number;
  hash: string;
}

export interface BlockHeader extends BlockRef {
  parentHash: string;
  /** Unix seconds. */
  timestamp: number;
}

/** What one stream matched in one block, with its body split at `confirmed` and `retries`. */
export interface NewMatch {
  streamId: string;
  tag: string;
  deliver: DeliverMode;
  logs: number;
  transactions: number;
  internalTransactions: number;
  /** Of every record, each once. */
  transactionHashes: string[];
  bodyHead: string;
  bodyTail: string;
  /** JSON of what the body still lacks, or null: its deliveries wait until it is there. */
  enrichment: string | null;
}

export interface BlockCommit {
  chain: string;
  block: BlockHeader;
  /** Rules the matches were made with. */
  ruleRevision: number;
  /** Matches of blocks up to this height are confirmed with this block. */
  confirmUpTo: number;
  /** Blocks of the window to keep. */
  windowBlocks: number;
  matches: NewMatch[];
}

export type CommitOutcome =
  | { outcome: 'committed'; deliveries: DeliverySummary[] }
  /** The rules moved: match again with newer ones. */
  | { outcome: 'stale-rules' }
  /** The checkpoint is not the block's parent: somebody else moved it. */
  | { outcome: 'not-next' };

export interface Checkpoint extends BlockRef {
  genesisHash: string;
}

export interface ClaimedDelivery {
  id: string;
  leaseToken: string;
  streamId: string;
  phase: DeliverySummary['phase'];
  /** Attempts made before this one. */
  attempts: number;
  webhookUrl: string;
  bodyHead: string;
  bodyTail: string;
  records: number;
}

/** How one HTTP attempt ended. */
export interface AttemptOutcome {
  id: string;
  leaseToken: string;
  webhookUrl: string;
  /** Unix milliseconds. */
  startedAt: number;
  durationMs: number;
  /** HTTP status; null when no answer came. */
  status: number | null;
  /** Null on success. */
  error: string | null;
  responseBody: string;
  /** `retry` needs `retryInMs`. */
  result: 'succeeded' | 'retry' | 'failed';
  retryInMs: number;
}

export interface StreamStats {
  streamId: string;
  queue: number;
  delivered24h: number;
  failedAttempts24h: number;
  /** Per 5 minutes, oldest first, the last 2 hours. */
  deliveredSeries: number[];
  lastDeliveryAt: number | null;
}

export interface Listed<T> {
  rows: T[];
  total: number;
  /** Start of the next page; undefined on the last. */
  next: ListPosition | undefined;
}

/** Where a page starts: after this row in the list's order. */
export interface ListPosition {
  at: number;
  id: string;
}

export interface DeliveryFilter {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  streamId?: string | undefined;
  state?: DeliveryState | undefined;
}

export interface Reads {
  readSetting(key: string): Promise<string | undefined>;
  /** Undefined when unknown or deleted. */
  readStream(id: string): Promise<StreamRecord | undefined>;
  /** Newest first. */
  listStreams(page: {
    limit: number;
    after?: ListPosition | undefined;
    status?: StreamStatus | undefined;
  }): Promise<Listed<StreamRecord>>;
  /** In the order of the addresses themselves. */
  listAddresses(
    streamId: string,
    page: { limit: number; after?: string | undefined },
  ): Promise<{ addresses: string[]; total: number; next: string | undefined }>;
  /** Streams changed after this revision; revision -1 reads all. */
  readRules(afterRevision: number): Promise<RuleChanges>;
  readCheckpoint(chain: string): Promise<Checkpoint | undefined>;
  /** The newest stored headers of the chain, newest first, with the matches each block gave. */
  readWindow(chain: string, limit: number): Promise<(BlockHeader & { matches: number })[]>;
  /** Newest first. */
  listDeliveries(filter: DeliveryFilter): Promise<{
    rows: DeliverySummary[];
    next: string | undefined;
  }>;
  readDelivery(id: string): Promise<DeliveryDetail | undefined>;
  /** For every stream that is not deleted. */
  readStreamStats(): Promise<StreamStats[]>;
}

export interface StreamWrites {
  saveSetting(key: string, value: string): Promise<void>;
  createStream(draft: StreamDraft): Promise<StreamRecord>;
  /** Undefined when the stream is unknown. */
  updateStream(id: string, patch: Partial<StreamDraft>): Promise<StreamRecord | undefined>;
  setStreamStatus(
    id: string,
    status: StreamStatus,
    statusMessage: string,
  ): Promise<StreamRecord | undefined>;
  /** Cancels what was not sent; history stays. */
  deleteStream(id: string): Promise<StreamRecord | undefined>;
  /** Addresses already there stay as they are. Undefined when the stream is unknown. */
  addAddresses(id: string, addresses: readonly string[]): Promise<EffectiveFrom | undefined>;
  /** All or nothing: `missing` names an address the stream does not have, and nothing changed. */
  removeAddresses(
    id: string,
    addresses: readonly string[],
  ): Promise<EffectiveFrom | { missing: string } | undefined>;
}

export interface BlockWrites {
  /**
   * Sets a chain's first checkpoint, or its checkpoint after a reset: what was not confirmed then
   * never is, and what was not sent is cancelled. Answers with the cancelled ones.
   */
  startChain(chain: string, block: BlockHeader, genesisHash: string): Promise<DeliverySummary[]>;
  /** Checkpoint, matches and deliveries of one block, or none of them. */
  commitBlock(commit: BlockCommit): Promise<CommitOutcome>;
  /**
   * Takes the chain back to a common ancestor: matches above it are orphaned, deliveries of theirs
   * that were never sent are cancelled, and streams that ask for it get a notice of removal for what
   * was sent. Answers with the cancelled deliveries and the notices.
   */
  rewindChain(chain: string, ancestor: BlockRef): Promise<DeliverySummary[]>;
}

export interface DeliveryWrites {
  /**
   * Leases due deliveries for `leaseMs`, at most `limit` together, and per stream at most
   * `perStream` less what `inFlight` says is under way.
   */
  claimDeliveries(claim: {
    limit: number;
    perStream: number;
    inFlight: Record<string, number>;
    leaseMs: number;
  }): Promise<ClaimedDelivery[]>;
  /** Records attempts whose lease still holds; answers with the deliveries it changed. */
  completeDeliveries(outcomes: readonly AttemptOutcome[]): Promise<DeliverySummary[]>;
  /** Returns deliveries to the queue whose lease ran out, or every lease with `all`. */
  releaseLeases(scope: 'expired' | 'all'): Promise<number>;
  rollUpStats(): Promise<void>;
}

export interface Writes extends StreamWrites, BlockWrites, DeliveryWrites {}

export interface Store extends Reads, Writes {
  readonly engine: 'sqlite' | 'postgres';
  close(): Promise<void>;
}
