/**
 * The ledger: what is watched, how far each chain is committed, what matched, and every delivery
 * with its attempts. Each method is one transaction. SQLite and PostgreSQL run the same statements
 * (`reads.ts`, `writes.ts`) and pass the same suite (`suite/`). On PostgreSQL matches and
 * deliveries stand in partitions by day (`partitions.ts`): whoever makes one wait opens its day.
 *
 * A delivery moves so, and in no other way:
 *
 *     enriching ──its body is whole──▶ pending
 *     enriching ──its body cannot be completed──▶ quarantined ──replay──▶ enriching
 *     pending ──claim──▶ leased ──complete──▶ succeeded | failed
 *        ▲                 │ retry, or the lease ran out
 *        └─────────────────┘
 *     leased ──a process that sent nothing else died of it──▶ quarantined
 *     succeeded | failed | quarantined ──replay──▶ pending
 *     enriching | pending ──its block left the chain, or its stream was deleted──▶ cancelled
 *     cancelled ──its block came back──▶ enriching | pending
 */
import type {
  AttemptParts,
  ActivityBreakdown,
  ActivityPoint,
  ActivityStep,
  ApiKey,
  AptosStream,
  AuditRecord,
  ChainCoverage,
  ChainFamily,
  ChainHealth,
  DeliverMode,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryFacets,
  DeliveryFilter,
  DeliveryOrder,
  DeliverySummary,
  LiveEvent,
  EvmStream,
  Inbox,
  InboxAnswer,
  InboxDelivery,
  InboxRequest,
  InboxRequestSummary,
  Job,
  JobState,
  Replay,
  ReplayEstimate,
  ReplayProgress,
  Spared,
  SparedReason,
  StreamLimits,
  StreamStatus,
  StreamChange,
  StreamChangeKind,
  StreamTape,
  UnverifiedBlocks,
  ChainGap,
  Reorg,
} from '@sluice/kit/contract';
import type { EventFeed } from './eventFeed.ts';
import type { Notices } from './notices.ts';

/** The part of an EVM stream that says what to match and what to send along. */
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
  getNativeBalances: [],
  abi: null,
  advancedOptions: null,
  demo: false,
  triggers: null,
  filterPossibleSpamAddresses: false,
};

export const DEFAULT_LIMITS: StreamLimits = {
  maxInFlight: null,
  maxPerSecond: null,
  strictOrder: false,
};

/** How a stream delivers where nobody says otherwise. */
export const DEFAULT_DELIVERY: Pick<
  EvmStreamDraft,
  'deliver' | 'notifyRemoved' | 'headers' | 'limits'
> = {
  deliver: 'both',
  notifyRemoved: false,
  headers: {},
  limits: DEFAULT_LIMITS,
};

/** The same of an Aptos stream. */
export type AptosStreamOptions = Pick<
  AptosStream,
  | 'functions'
  | 'events'
  | 'includePayload'
  | 'includeEvents'
  | 'includeChanges'
  | 'demo'
  | 'allAddresses'
>;

export const DEFAULT_APTOS_OPTIONS: AptosStreamOptions = {
  functions: [],
  events: [],
  includePayload: false,
  includeEvents: false,
  includeChanges: false,
  demo: false,
  allAddresses: false,
};

interface AnyStreamDraft {
  tag: string;
  description: string;
  webhookUrl: string;
  /** Hex; those of Aptos `aptos:` and the network. */
  chainIds: string[];
  headers: Record<string, string>;
  limits: StreamLimits;
}

export interface EvmStreamDraft extends AnyStreamDraft {
  family: 'evm';
  options: StreamOptions;
  deliver: DeliverMode;
  /** Whether what was sent is taken back when its block leaves the chain. */
  notifyRemoved: boolean;
}

export interface AptosStreamDraft extends AnyStreamDraft {
  family: 'aptos';
  options: AptosStreamOptions;
}

export type StreamDraft = EvmStreamDraft | AptosStreamDraft;

/** What of a stream may change; its family stays. */
export type StreamPatch =
  | Partial<Omit<EvmStreamDraft, 'family'>>
  | Partial<Omit<AptosStreamDraft, 'family'>>;

export interface StreamLife {
  id: string;
  status: StreamStatus;
  statusMessage: string;
  /** Since when the status is `error`, in Unix milliseconds; null while it is not. */
  errorSince: number | null;
  addressCount: number;
  createdAt: number;
  updatedAt: number;
}

export type EvmStreamRecord = EvmStreamDraft & StreamLife;
export type AptosStreamRecord = AptosStreamDraft & StreamLife;
export type StreamRecord = EvmStreamRecord | AptosStreamRecord;
export type StreamOfFamily<Name extends ChainFamily> = Extract<StreamRecord, { family: Name }>;

/** Addresses one after the other, each `width` bytes: 20 on EVM chains, 32 on Aptos. */
export interface AddressList {
  width: 20 | 32;
  bytes: Uint8Array;
}

export interface RuleChanges<Name extends ChainFamily> {
  revision: number;
  /**
   * Nothing was known, or how lists changed since is no longer kept: `changed` is every stream that
   * matches, and their addresses are to be read anew.
   */
  whole: boolean;
  /** Streams created or changed since; not those of which only the addresses changed. */
  changed: StreamOfFamily<Name>[];
  /** Streams that no longer match. */
  gone: string[];
}

/** Some addresses that were added to a stream, or removed from it. */
export interface AddressDelta {
  streamId: string;
  kind: 'add' | 'remove';
  addresses: AddressList;
}

/** After this part of a change; changes that were committed together have one revision. */
export interface DeltaPosition {
  revision: number;
  change: number;
  part: number;
}

/** An address that a stream watches. */
export interface AddressRecord {
  /** Lower case. */
  address: string;
  label: string | null;
  /** When the stream began to have it, Unix milliseconds; another label changes nothing of that. */
  addedAt: number;
  /** Name of the API key it was added with. */
  addedBy: string;
}

export interface AddressRecordPage {
  addresses: AddressRecord[];
  /** The last address, where more come after it. */
  next: string | undefined;
}

/** At most {@link ADDRESSES_PER_PART} addresses of a change. */
export type AddressPart =
  | {
      kind: 'add';
      addresses: AddressList;
      /** By address, lower case; others keep the label they have. */
      labels: Record<string, string>;
      /** Those that `labels` does not name lose theirs. */
      clearLabels: boolean;
      /** Of the API key that adds them. */
      keyId: string;
    }
  | { kind: 'remove'; addresses: AddressList };

/** A change that is small enough for one transaction. No address is in two parts. */
export interface AddressChange {
  streamId: string;
  parts: readonly AddressPart[];
}

/** What one transaction may hold up others with. */
export const ADDRESSES_PER_PART = 5_000;

export type AddressOutcome =
  | { outcome: 'changed'; effectiveFrom: EffectiveFrom }
  | { outcome: 'unknown-stream' }
  /** The stream does not have this one: nothing was removed. */
  | { outcome: 'missing'; address: string }
  /** Another change of the stream is under way. */
  | { outcome: 'busy' };

/** Per chain, the first block a change of rules applies to; of Aptos the first ledger version. */
export type EffectiveFrom = Record<string, number>;

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

/** What a token contract says of itself. */
export interface Token {
  /** Lower case. */
  address: string;
  /** Empty where the contract does not say. */
  name: string;
  symbol: string;
  /** 0 to 255; null where the contract does not say. */
  decimals: number | null;
  /** As the contract declares it (ERC-165); empty where it declares neither. */
  standard: 'ERC721' | 'ERC1155' | '';
  /** Block it was read at. */
  blockNumber: number;
}

/** The end of a body as it is sent. */
export interface WholeBody {
  bodyTail: string;
  /** As in {@link NewMatch}; empty where it says what it said before. */
  about: string;
}

/** How the enrichment of a match ended. */
export type CompletedMatch = { matchId: string } & (
  | WholeBody
  /** Why it cannot be completed: its deliveries are quarantined with this reason. */
  | { setAside: string }
);

/** A match that waits for what must be read from the chain. */
export interface EnrichingMatch {
  id: string;
  streamId: string;
  block: BlockRef;
  bodyTail: string;
  /** Of all that is sent before the tail, at most. */
  bodyHeadBytes: number;
  /** As in {@link NewMatch}. */
  enrichment: string;
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

export interface ClaimedDelivery {
  id: string;
  leaseToken: string;
  /** By the ledger's clock, in Unix milliseconds. */
  claimedAt: number;
  streamId: string;
  phase: DeliverySummary['phase'];
  /** Attempts made before this one. */
  attempts: number;
  /** Whether one of them was the quick retry before the schedule. */
  fastRetried: boolean;
  /** What is sent and signed, as UTF-8. */
  body: Uint8Array;
  /** Of what is stored of it. */
  bodyBytes: number;
  webhookUrl: string;
  records: number;
  headers: Record<string, string>;
  /** The newest first. */
  secrets: SealedSecret[];
  /** As in {@link NewMatch}. */
  part: number;
  parts: number;
  /** The stream is in `error`, and this delivery is to show whether its receiver is back. */
  isProbe: boolean;
  /** Milliseconds until its turn, where its stream is sent so many in a second; 0 otherwise. */
  waitMs: number;
}

/** A delivery as the ledger has it; what comes next is the schedule's to say. */
export type KeptDelivery = Omit<DeliveryDetail, 'bodyBytes' | 'laterWaitsMs' | 'labels'> & {
  /** One of its attempts was the quick retry before the schedule. */
  fastRetried: boolean;
};

/** How an attempt reached its receiver, or did not. */
export type AttemptTransport = Pick<DeliveryAttempt, 'address' | 'certificate'> & {
  parts: AttemptParts;
};

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
  /** Null where that is all: it was answered at once on an open connection, or by an inbox of ours. */
  transport: AttemptTransport | null;
  /** `retry` needs `retryInMs`; `quarantined` when the process that sent it alone died of it. */
  result: 'succeeded' | 'retry' | 'failed' | 'quarantined';
  retryInMs: number;
  /** The retry is the quick one before the schedule. */
  isFastRetry: boolean;
}

export interface StreamStats {
  streamId: string;
  queue: number;
  delivered24h: number;
  failedAttempts24h: number;
  /** Per 5 minutes, oldest first, the last 2 hours. */
  deliveredSeries: number[];
  /** Of 23 hours of the clock, oldest first, and of the last 60 minutes. */
  hourlyDelivered: number[];
  /** Failed attempts, likewise. */
  hourlyFailed: number[];
  /** Of the attempts of the last 24 hours that got a 2xx, to a fifth; null without any. */
  p95Ms: number | null;
  lastDeliveryAt: number | null;
  /** The first minute with a failed attempt after the last one with a 2xx; null without any. */
  failingSince: number | null;
}

/** How the last attempt of a delivery ended. */
export type AttemptResult = 'delivered' | 'undelivered';

export interface AttemptedFilter {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** One or both; a delivery that was given up without an attempt is undelivered. */
  results: readonly AttemptResult[];
  /** Joins the bodies in; a page then ends early when they become too large together. */
  withBody: boolean;
  streamId?: string | undefined;
  /** Lower case. */
  transactionHash?: string | undefined;
  chains?: readonly string[] | undefined;
  blockNumbers?: readonly number[] | undefined;
  /** Unix milliseconds, both ends included. */
  from?: number | undefined;
  to?: number | undefined;
}

export interface AttemptedDelivery extends DeliverySummary {
  /** Where the last attempt went. */
  webhookUrl: string;
  /** What the last attempt sent; undefined where it was not asked for. */
  body: string | undefined;
}

/** Counted since the stream was created; what retention deleted stays in. */
export interface StreamTotals {
  streamId: string;
  /** Deliveries in state `succeeded`. */
  webhooksDelivered: number;
  /** Deliveries in state `failed`. */
  webhooksFailed: number;
  /** Records of confirmed deliveries in either state. */
  logs: number;
  transactions: number;
  internalTransactions: number;
  streamCreatedAt: number;
  isDeleted: boolean;
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

export interface DeliveryListing extends DeliveryFilter, DeliveryOrder {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
}

/** A replay that is not done, and where it stands. */
export interface RunningReplay {
  id: string;
  filter: DeliveryFilter;
  perSecond: number;
  /** The last delivery that had its turn; empty before the first. */
  position: string;
  /** The last that it is about. */
  lastId: string;
  /** Milliseconds until it may go on. */
  dueInMs: number;
}

/** What of one thing is told to the operator, and was. */
export interface OperatorNoticeRow {
  /** `stream <id>`, `quarantine <streamId>` or `chain <id>`. */
  subject: string;
  /** How it is, as the next notice says or the last one said; empty while all is well. */
  state: string;
  /** The state that was told last; empty where none was, or that all is well. */
  told: string;
  id: string;
  /** What is to be sent; null once it was, or nothing is. */
  body: string | null;
  attempts: number;
  runAt: number;
  /** When a notice was sent last; null before the first. */
  sentAt: number | null;
}

export interface OperatorNoticeReads {
  /** What is in trouble by the ledger, and its time. */
  readTroubles(): Promise<{
    now: number;
    streams: { id: string; tag: string; status: StreamStatus; reason: string }[];
    /** By stream: how many deliveries are set aside, and the newest of them. */
    quarantined: {
      streamId: string;
      tag: string;
      count: number;
      deliveryId: string;
      reason: string;
    }[];
  }>;
  /** All there are, those due first. */
  listOperatorNotices(): Promise<OperatorNoticeRow[]>;
}

export interface OperatorNoticeWrites {
  saveOperatorNotice(notice: OperatorNoticeRow): Promise<void>;
  deleteOperatorNotice(subject: string): Promise<void>;
}

export interface FacetReads {
  /** At most 100,000 rows are read for each of at most three questions. */
  countFacets(filter: DeliveryFilter): Promise<DeliveryFacets>;
}

export interface ReplayReads {
  estimateReplay(filter: DeliveryFilter): Promise<ReplayEstimate>;
  readReplay(id: string): Promise<Replay | undefined>;
  /** Newest first. */
  listReplays(limit: number): Promise<Replay[]>;
  readReplayProgress(
    replay: Pick<Replay, 'id' | 'state' | 'createdAt' | 'updatedAt'>,
  ): Promise<ReplayProgress>;
  /** Oldest first. */
  listRunningReplays(): Promise<RunningReplay[]>;
  /** Ids of deliveries that can be sent again, oldest first. */
  listReplayable(page: {
    filter: DeliveryFilter;
    after: string;
    lastId: string;
    limit: number;
  }): Promise<string[]>;
}

/** What one process at a time does; goes by the ledger's clock. */
export interface Lease {
  /** A chain's id: to read it. */
  name: string;
  /** The process that took it last, for people. */
  holder: string;
  /** Milliseconds since it is nobody's; 0 while somebody holds it. */
  freeForMs: number;
  /** What the holder last said; null before it did, and of what is no chain. */
  report: ChainReport | null;
}

/** How a chain is, as the process that reads it says. */
export type ChainReport = Omit<ChainHealth, 'blocks' | 'unverified'> & {
  /** It is known that no node of this chain traces blocks. */
  lacksTraces: boolean;
};
/** A key as it is kept. */
export interface ApiKeyRecord extends ApiKey {
  /** SHA-256 of the whole key, in hex. */
  hash: string;
}

export type NewApiKey = Omit<ApiKeyRecord, 'createdAt' | 'lastUsedAt' | 'revokedAt'>;

/** A secret that is encrypted (`vault.ts`). Times are Unix milliseconds of the ledger's clock. */
export interface SealedSecret {
  sealed: string;
  createdAt: number;
  /** When it signs no more; null for the one in use. */
  endsAt: number | null;
}

export interface AccessReads {
  /** Newest first; those that were revoked, too. */
  listApiKeys(): Promise<ApiKeyRecord[]>;
  /** Ids of console sessions that were ended before their time, and would still be good. */
  listEndedSessions(): Promise<string[]>;
  /** Newest first; those before this one. */
  listAudit(page: {
    limit: number;
    before?: number | undefined;
  }): Promise<{ rows: AuditRecord[]; next: number | undefined }>;
  /** The newest first; undefined when the stream is unknown. */
  readStreamSecrets(streamId: string): Promise<SealedSecret[] | undefined>;
  /** Of all streams that are not deleted; a page of them after this stream. */
  listStreamSecrets(
    after?: string,
  ): Promise<{ rows: { streamId: string; secrets: SealedSecret[] }[]; next: string | undefined }>;
  readLedgerTime(): Promise<number>;
}

export interface JobReads {
  /** By chain; empty for an unknown stream. */
  readCoverage(streamId: string): Promise<ChainCoverage[]>;
  /** Blocks of this chain that were accepted unverified; null without any. */
  readUnverified(chain: string): Promise<UnverifiedBlocks | null>;
  readJob(id: string): Promise<Job | undefined>;
  /** Newest first. */
  listJobs(filter: { streamId?: string | undefined; limit: number }): Promise<Job[]>;
  /** Oldest first. */
  listRunningJobs(chain: string): Promise<Job[]>;
}

/** What is looked at, each for itself. */
export const INVARIANTS = ['chains', 'leases', 'matches', 'deliveries', 'totals'] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** How the ledger can contradict itself. */
export const VIOLATIONS = [
  'checkpoint_off_window',
  'block_without_matches',
  'match_without_delivery',
  'illegal_delivery',
  'attempts_miscounted',
  'totals_miscounted',
  'lease_out_of_bounds',
] as const;
export type ViolationKind = (typeof VIOLATIONS)[number];

export interface Violation {
  kind: ViolationKind;
  /** The chain, block, match, delivery or stream it is found in. */
  subject: string;
  /** For people. */
  what: string;
}

export interface InvariantLook {
  /** Nothing younger is ever forgotten by retention. */
  keptMs: number;
  /** Where the look before ended; undefined at the beginning of a walk. */
  after: string | undefined;
  /** Ids to look at once more. */
  again: readonly string[];
}

export interface InvariantReads {
  /** A bounded look; `next` is undefined when the walk has come to its end. */
  findViolations(
    invariant: Invariant,
    look: InvariantLook,
  ): Promise<{ violations: Violation[]; next: string | undefined }>;
}

/** What of a block was matched for one stream. */
export interface LedgerMatch {
  streamId: string;
  state: 'frozen' | 'confirmed' | 'orphaned';
  isEnriching: boolean;
  /** In the order they were made. */
  deliveries: DeliverySummary[];
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

export interface ActivityAsked {
  /** Undefined for all streams together. */
  streamId?: string | undefined;
  stepMinutes: ActivityStep;
  points: number;
}

/** Of an {@link ActivityBreakdown}, without what the ledger does not know: the names of events. */
export type ActivityCounts = Omit<ActivityBreakdown, 'records'> & {
  /** By what they are (`NewMatch.records`), most first. */
  records: { what: string; matched: number }[];
};

export interface ActivityReads {
  /** The last steps, oldest first, without gaps. As of the last roll-up. */
  readActivity(asked: ActivityAsked): Promise<ActivityPoint[]>;
  /** What the attempts and matches of the same steps consisted of. As of the last roll-up. */
  readBreakdown(asked: ActivityAsked): Promise<ActivityCounts>;
  /** For every stream that is not deleted. */
  readStreamStats(): Promise<StreamStats[]>;
  /** What became of the newest blocks of these streams, and of those that left; in their order. */
  listTapes(asked: { streamIds: readonly string[]; limit: number }): Promise<StreamTape[]>;
  /** Of each paused stream when it was paused, and by whom, as in a {@link StreamChange}. */
  listPauses(): Promise<{ streamId: string; at: number; by: string }[]>;
  /** Newest first; of each stream at most 100 are kept. */
  listStreamChanges(streamId: string): Promise<StreamChange[]>;
  /** Newest first; of each chain at most 100 are kept. */
  listReorgs(asked: { chain?: string | undefined; limit: number }): Promise<Reorg[]>;
  /** Newest first; of each chain at most 100 are kept. */
  listGaps(asked: { chain?: string | undefined; limit: number }): Promise<ChainGap[]>;
}

export interface InboxReads {
  /** By name. */
  listInboxes(): Promise<Inbox[]>;
  /** Newest first. */
  listInboxRequests(page: {
    inbox: string;
    limit: number;
    /** The last id of the page before. */
    after?: string | undefined;
  }): Promise<{ rows: InboxRequestSummary[]; next: string | undefined }>;
  readInboxRequest(inbox: string, id: string): Promise<InboxRequest | undefined>;
}

export interface InboxWrites {
  /** Makes it, or changes how it answers, and counts from 0 again. */
  setInbox(name: string, answer: InboxAnswer): Promise<Inbox>;
  /** With what came into it; false where there is none. */
  deleteInbox(name: string): Promise<boolean>;
  clearInbox(name: string): Promise<void>;
  /** Keeps a webhook, and the newest before it; makes the inbox where there is none. */
  receiveInInbox(received: {
    inbox: string;
    webhookId: string;
    delivery: InboxDelivery | null;
    headers: Record<string, string>;
    body: string;
    verified: boolean;
  }): Promise<{ request: InboxRequestSummary; answer: InboxAnswer }>;
}

export interface SparedStream extends Spared {
  streamId: string;
  /** Milliseconds until the end of it, by the ledger's clock. */
  leftMs: number;
}

export interface Reads
  extends
    JobReads,
    OperatorNoticeReads,
    FacetReads,
    ReplayReads,
    InvariantReads,
    ExplainReads,
    InboxReads,
    AccessReads,
    ActivityReads,
    RetentionReads {
  readSetting(key: string): Promise<string | undefined>;
  /** Undefined when unknown or deleted. */
  readStream(id: string): Promise<StreamRecord | undefined>;
  /** Newest first. */
  listStreams(page: {
    limit: number;
    after?: ListPosition | undefined;
    family?: ChainFamily | undefined;
    status?: StreamStatus | undefined;
  }): Promise<Listed<StreamRecord>>;
  /** In the order of the addresses themselves. */
  listAddresses(
    streamId: string,
    page: { limit: number; after?: string | undefined },
  ): Promise<AddressRecordPage>;
  /** Those of them that {@link ListAddresses.find} tells, in the same order. */
  findAddresses(
    streamId: string,
    search: { find: string; limit: number; after?: string | undefined },
  ): Promise<AddressRecordPage>;
  /** Streams of a family, by default `evm`, changed after this revision; revision -1 reads all. */
  readRules<Name extends ChainFamily = 'evm'>(
    afterRevision: number,
    family?: Name,
  ): Promise<RuleChanges<Name>>;
  /** A page of a stream's addresses, in their order, after this one. */
  readAddresses(
    streamId: string,
    after?: string,
  ): Promise<{ addresses: AddressList; next: string | undefined }>;
  /**
   * A page of how lists changed after this position, up to a revision, in order. Undefined when it is
   * no longer kept whole.
   */
  readAddressChanges(
    after: DeltaPosition,
    upTo: number,
  ): Promise<{ changes: AddressDelta[]; next: DeltaPosition | undefined } | undefined>;
  readCheckpoint(chain: string): Promise<Checkpoint | undefined>;
  /** Streams whose receivers are sent nothing for a while, or were until less than 30 s ago. */
  listSpared(): Promise<SparedStream[]>;
  /** Of receivers whose certificates end soon, as `noteCertificate` was told. */
  listCertificates(): Promise<{ streamId: string; endsAt: number }[]>;
  /** Every lease there ever was, by name. */
  listLeases(): Promise<Lease[]>;
  /** The newest stored headers of the chain, newest first, with the matches each block gave. */
  readWindow(chain: string, limit: number): Promise<(BlockHeader & { matches: number })[]>;
  /** Newest first by default. */
  listDeliveries(filter: DeliveryListing): Promise<{
    rows: DeliverySummary[];
    next: string | undefined;
  }>;
  readDelivery(id: string): Promise<KeptDelivery | undefined>;
  /** Exactly what its last attempt sent, or what the first one will. */
  readDeliveryBody(id: string): Promise<string | undefined>;
  /** When the oldest delivery was made, in Unix milliseconds; null without any. */
  readOldestDelivery(): Promise<number | null>;
  /** Newest first; bounds on time go by when the delivery was made. */
  listAttempted(
    filter: AttemptedFilter,
  ): Promise<{ rows: AttemptedDelivery[]; next: string | undefined }>;
  /** How many rows all pages of this filter have together; counts a million at most. */
  countAttempted(filter: Omit<AttemptedFilter, 'limit' | 'after' | 'withBody'>): Promise<number>;
  /** Whether there is one for `claimSuspect`. */
  hasDueSuspect(): Promise<boolean>;
  /**
   * When the oldest delivery of an active stream became due, or began to wait for enrichment; null while
   * none is waiting.
   */
  readOldestDue(): Promise<number | null>;
  /** By chain, since when the oldest delivery of an active stream has waited for enrichment. */
  listEnrichingSince(): Promise<{ chain: string; since: number }[]>;
  /** Commits that have waited for a standby of PostgreSQL for 2 s and more. */
  countWaitingCommits(): Promise<number>;
  /**
   * Milliseconds since the oldest transaction began that keeps the database from cleaning up; null where
   * the engine has no such thing.
   */
  readOldestTransactionAge(): Promise<number | null>;
  /** For every stream there was, or for one. */
  readTotals(streamId?: string): Promise<StreamTotals[]>;
  /**
   * Matches of a chain that wait to be enriched, oldest first: at most `limit`, at most `perStream`
   * of each stream, none of the streams and matches named.
   */
  listEnriching(page: {
    chain: string;
    limit: number;
    perStream: number;
    notStreams: readonly string[];
    notMatches: readonly string[];
  }): Promise<EnrichingMatch[]>;
  /** What is known of these contracts, and when it was read, in Unix milliseconds. */
  readTokens(
    chain: string,
    addresses: readonly string[],
  ): Promise<{ token: Token; readAt: number }[]>;
}

export interface NewStreamOptions {
  /** Default: a new one. */
  id?: string;
  /** What signs its webhooks, beside the account's secret. Default: nothing. */
  sealedSecret?: string;
  /** Paused from the beginning, for this reason. Default: active. */
  pausedBecause?: string;
}

export interface AccessWrites {
  createApiKey(key: NewApiKey): Promise<ApiKeyRecord>;
  /** Undefined where there is a key already, or was one. */
  createFirstApiKey(key: NewApiKey): Promise<ApiKeyRecord | undefined>;
  /** Undefined when it is unknown; one that was revoked before stays as it is. */
  revokeApiKey(id: string): Promise<ApiKeyRecord | undefined>;
  noteApiKeysUsed(ids: readonly string[]): Promise<void>;
  /** Of one that would have ended by itself at `expiresAt`; it is remembered until a day after that. */
  endSession(session: { id: string; expiresAt: number }): Promise<void>;
  appendAudit(entry: Pick<AuditRecord, 'action' | 'keyId' | 'address' | 'target'>): Promise<void>;
  /** Replaces the secrets of a stream where they are still these; false where they are not. */
  replaceStreamSecrets(
    streamId: string,
    before: readonly SealedSecret[],
    after: readonly SealedSecret[],
    note?: StreamChangeNote,
  ): Promise<boolean>;
}

/** What people are told of a change of a stream. */
export interface StreamChangeNote {
  kind: StreamChangeKind;
  /** What was edited, in the names of the contract. */
  fields?: readonly string[];
  /** Of the API key that did it. */
  keyId: string;
}

export interface StreamWrites {
  saveSetting(key: string, value: string): Promise<void>;
  /** Where there is none yet; answers with the one there is. */
  keepSetting(key: string, value: string): Promise<string>;
  /** Writes what nobody reads: rejects when the ledger cannot be written. */
  checkWritable(): Promise<void>;
  createStream<Draft extends StreamDraft>(
    draft: Draft,
    options?: NewStreamOptions,
  ): Promise<Extract<StreamRecord, Pick<Draft, 'family'>>>;
  /** Undefined when the stream is unknown. Without a note it is no change that people are told of. */
  updateStream(
    id: string,
    patch: StreamPatch,
    note?: StreamChangeNote,
  ): Promise<StreamRecord | undefined>;
  setStreamStatus(
    id: string,
    status: StreamStatus,
    statusMessage: string,
    note?: StreamChangeNote,
  ): Promise<StreamRecord | undefined>;
  /**
   * Nothing is sent from here on; history stays. Of a long queue that waits only the first deliveries are
   * cancelled at once.
   */
  deleteStream(id: string): Promise<StreamRecord | undefined>;
  /**
   * Goes on to cancel what waits of deleted streams, a little at a time until `forMs` are over. True when
   * there may be more.
   */
  cancelDeleted(step: { forMs: number }): Promise<boolean>;
}

/** `addressChanges.ts` makes whole changes of these steps. */
export interface AddressWrites {
  /**
   * Small changes in one transaction, each of another stream. Returns an outcome for each: one that is
   * refused changes nothing, and the others take effect.
   */
  changeAddresses(changes: readonly AddressChange[]): Promise<AddressOutcome[]>;
  /**
   * Begins a change of many parts. Nobody sees any of it before it is activated. A stream of another family
   * than addresses of this width is unknown; without one, no family is expected.
   */
  beginAddressChange(
    streamId: string,
    width?: AddressList['width'],
  ): Promise<{ outcome: 'begun'; change: number } | { outcome: 'unknown-stream' | 'busy' }>;
  /** `lost` when the change was given up as stale, or its stream is gone. */
  stageAddresses(
    change: number,
    part: AddressPart,
  ): Promise<{ outcome: 'staged' | 'lost' } | { outcome: 'missing'; address: string }>;
  activateAddressChange(
    change: number,
  ): Promise<
    { outcome: 'changed'; streamId: string; effectiveFrom: EffectiveFrom } | { outcome: 'lost' }
  >;
  /** Gives a change up and undoes one of its parts; true while there is more to undo. */
  undoAddressChange(change: number): Promise<boolean>;
  /**
   * A bounded piece of housekeeping; true while there is more of it. Undoes changes that nobody has
   * touched for `staleMs`, deletes rows that were removed and those of deleted streams, and forgets
   * how lists changed more than `keepMs` ago.
   */
  cleanUpAddresses(ages: { keepMs: number; staleMs: number }): Promise<boolean>;
}

export interface HealthWrites {
  /** From `active` to `error`; undefined when the stream is not active. */
  failStream(id: string, message: string): Promise<StreamRecord | undefined>;
  /** From `error` to `active`; undefined when the stream is not in error. */
  recoverStream(id: string): Promise<StreamRecord | undefined>;
  /**
   * An active stream's receiver is sent nothing for so long, since so long ago. Answers with the end of it
   * in Unix milliseconds; undefined when the stream is not active.
   */
  spareStream(
    id: string,
    spell: { reason: SparedReason; agoMs: number; forMs: number },
  ): Promise<number | undefined>;
  /** When the certificate of a stream's receiver ends, where that is soon. False where that was known. */
  noteCertificate(id: string, endsAt: number | null): Promise<boolean>;
  /** Of these streams those whose receivers were spared. */
  endSparing(ids: readonly string[]): Promise<{ id: string }[]>;
  /** From `error` to `terminated` those that have been in error for so long: they match no more. */
  terminateStreams(afterMs: number): Promise<StreamRecord[]>;
}

export interface LeaseWrites {
  /**
   * Takes a lease that nobody holds, or with `force` one that somebody does, for so long. Answers with
   * its epoch, higher than all before; undefined while another holds it.
   */
  takeLease(lease: {
    name: string;
    holder: string;
    forMs: number;
    force?: boolean | undefined;
  }): Promise<number | undefined>;
  /** From now on for so long; false when another has taken it. */
  renewLease(lease: {
    name: string;
    epoch: number;
    forMs: number;
    report: ChainReport | null;
  }): Promise<boolean>;
  /** Ends it at once, where it is still held with this epoch. */
  giveUpLease(lease: { name: string; epoch: number }): Promise<void>;
  /** Ends all of them at once: of a ledger that one process owns, whose holders before are gone. */
  endLeases(): Promise<void>;
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

export interface DeliveryWrites {
  /**
   * Leases due deliveries for `leaseMs`, at most `limit` together, and per stream at most
   * `perStream` less what of that is `taken`. Of a stream in `error` one in ten minutes, as a probe.
   * A stream's own limits and order hold whichever process claims.
   */
  claimDeliveries(claim: {
    limit: number;
    /** Of all bodies together; one delivery is claimed however large. */
    maxBytes: number;
    perStream: number;
    taken: Record<string, number>;
    leaseMs: number;
  }): Promise<ClaimedDelivery[]>;
  /**
   * Leases one delivery that two leases in a row were lost with, to be sent from a process alone;
   * undefined where none is due of another than these streams.
   */
  claimSuspect(claim: {
    leaseMs: number;
    notStreams: readonly string[];
  }): Promise<ClaimedDelivery | undefined>;
  /** A suspect is in its process: losing its lease from now on says nothing of it. */
  noteIsolated(suspect: Pick<ClaimedDelivery, 'id' | 'leaseToken'>): Promise<void>;
  /** Leases last so long from now on, those that still hold; answers with their deliveries. */
  extendLeases(
    leases: readonly Pick<ClaimedDelivery, 'id' | 'leaseToken'>[],
    leaseMs: number,
  ): Promise<string[]>;
  /** Records attempts whose lease still holds; answers with the deliveries it changed. */
  completeDeliveries(outcomes: readonly AttemptOutcome[]): Promise<DeliverySummary[]>;
  /**
   * Returns deliveries to the queue whose lease ran out, or every lease with `all`; one that ten
   * leases on end were lost with, although it is isolated since the second, is quarantined. Answers
   * with how many of each, and how many are suspect from now on.
   */
  releaseLeases(
    scope: 'expired' | 'all',
  ): Promise<{ released: number; suspects: number; quarantined: DeliverySummary[] }>;
}

export interface HistoryWrites {
  /**
   * Makes a delivery due at once, whatever came of it before, and where its receiver fails and is spared,
   * the delivery that asks whether it is back. One that is on its way already, or was cancelled, stays as
   * it is. Answers with what it was and is; undefined when this stream has no
   * such delivery or is deleted.
   */
  replayDelivery(
    streamId: string,
    id: string,
  ): Promise<{ before: DeliverySummary; after: DeliverySummary } | undefined>;
  /** Gives up a delivery that waits: it has failed. Undefined when it does not wait. */
  stopDelivery(id: string): Promise<DeliverySummary | undefined>;
}

export interface ReplayWrites {
  /** `total` is how many deliveries fit. */
  createReplay(replay: {
    name: string;
    filter: DeliveryFilter;
    perSecond: number;
    total: number;
    /** Of the API key that asks for it. */
    keyId: string;
  }): Promise<Replay>;
  /**
   * Makes these deliveries due, those that are on their way or cancelled by now excepted, and sets the
   * earliest time of the next step. Answers with those that did not wait before; undefined when the
   * replay is no longer running or stands elsewhere.
   */
  advanceReplay(step: {
    id: string;
    after: string;
    ids: readonly string[];
    isLast: boolean;
  }): Promise<DeliverySummary[] | undefined>;
  /** False when it is unknown or has ended. */
  cancelReplay(id: string): Promise<boolean>;
}

export interface StatWrites {
  /**
   * Adds up some of what was counted since the last time, and forgets some of the activity older than two
   * days. True when there may be more of either.
   */
  rollUpStats(): Promise<boolean>;
}

export interface EnrichWrites {
  /** At most 500 at once. */
  saveTokens(chain: string, tokens: readonly Token[]): Promise<void>;
  /**
   * Completes the bodies of a chain's matches and makes their deliveries due, or sets matches aside. One
   * that is complete already, or whose block left the chain, stays as it is. Returns the deliveries it
   * changed; undefined, and nothing is written, when another process holds the chain's lease.
   */
  completeEnrichments(completed: {
    chain: string;
    epoch: number;
    completed: readonly CompletedMatch[];
  }): Promise<DeliverySummary[] | undefined>;
}

export interface JobWrites {
  /** Undefined when the stream is unknown. */
  createJob(job: {
    streamId: string;
    chain: string;
    blockFrom: number;
    blockTo: number;
  }): Promise<Job | undefined>;
  /** Undefined when the job is unknown, or cannot go there from where it is. */
  setJobState(id: string, state: JobState, message: string): Promise<Job | undefined>;
  /** Why a running job waits, for people. */
  sayOfJob(id: string, message: string): Promise<void>;
  /**
   * Moves a job past these blocks, which follow on each other and on what it did before, together with
   * what the stream matched in them. Undefined when it is no longer running or stands elsewhere, or the
   * lease of its chain is another's by now.
   */
  commitJob(commit: {
    id: string;
    chain: string;
    /** Of the chain's lease. */
    epoch: number;
    blocks: readonly {
      block: BlockHeader;
      matches: readonly NewMatch[];
      /** As of a {@link BlockCommit}. */
      unverified?: string | undefined;
    }[];
  }): Promise<{ job: Job; deliveries: DeliverySummary[] } | undefined>;
  /** Announces one block to one stream once more; each request has deliveries of its own. */
  commitManual(commit: {
    chain: string;
    block: BlockHeader;
    requestId: string;
    isConfirmed: boolean;
    matches: readonly NewMatch[];
  }): Promise<DeliverySummary[]>;
}

export interface FeedWrites {
  /** Tells those who watch what no other write does. */
  announce(event: Extract<LiveEvent, { type: 'chain' | 'replay' }>): Promise<void>;
  /** Forgets the oldest events where there are more than are held. */
  trimEvents(): Promise<void>;
}

/** How long deliveries are kept that succeeded or were cancelled, and how long all others. */
export interface RetentionAges {
  deliveredMs: number;
  undeliveredMs: number;
}

/** The setting that says when old deliveries are forgotten next; Unix milliseconds of the ledger's clock. */
export const NEXT_SWEEP = 'nextSweepAt';

export interface RetentionReads {
  /**
   * Deliveries that are old enough to be forgotten at this time of the ledger's clock, and the bytes of
   * their bodies as they were sent; of the 100,000 oldest alone where it says so.
   */
  countExpiring(
    asked: RetentionAges & { atMs: number },
  ): Promise<{ deliveries: number; bodyBytes: number; isCapped: boolean }>;
}

export interface RetentionWrites {
  /**
   * Looks at the oldest deliveries and matches after this id, `''` for the first, a few at a time until
   * `forMs` are over, and forgets those deliveries that are older than they may be, with their attempts,
   * and matches that have none left. `undelivered` of them had not ended; `next` is undefined when no
   * more are old enough.
   */
  deleteExpired(
    rule: RetentionAges & { forMs: number; after: string },
  ): Promise<{ deliveries: number; undelivered: number; next: string | undefined }>;
  /**
   * Makes partitions for the days to come, drops those in which nothing must be kept, and empties
   * others but for the little that must. Answers with their names. Does nothing on SQLite.
   */
  tendPartitions(ages: RetentionAges): Promise<{ dropped: string[]; shrunk: string[] }>;
}

export interface Writes
  extends
    AccessWrites,
    StreamWrites,
    AddressWrites,
    HealthWrites,
    LeaseWrites,
    BlockWrites,
    DeliveryWrites,
    HistoryWrites,
    ReplayWrites,
    OperatorNoticeWrites,
    StatWrites,
    EnrichWrites,
    JobWrites,
    InboxWrites,
    FeedWrites,
    RetentionWrites {}

export interface Store extends Reads, Writes {
  readonly engine: 'sqlite' | 'postgres';
  /** Told by each write that others may wait for, whichever process made it. */
  readonly notices: Notices;
  /** What the writes that others may watch for changed, whichever process made them. */
  readonly events: EventFeed;
  close(): Promise<void>;
}
