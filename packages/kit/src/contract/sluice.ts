/**
 * Our own routes under `/sluice/…`: what the console and the command line need beyond the
 * compatible API. Reached by `x-api-key` or by a console session.
 * Times are Unix milliseconds; sizes are bytes.
 */
import type { InboxRequestSummary } from './inbox.ts';
import type { Replay } from './replays.ts';
import { type Route, route } from './routes.ts';
import type { AbiItem, ChainFamily } from './streams.ts';

export const SLUICE_ROUTES = {
  /** Trades an API key for a session cookie. Body `{ apiKey }`; 204, or 401. */
  createSession: route('POST', '/sluice/session', 'open'),
  /** 204 while the request carries a valid key or session, else 401. */
  checkSession: route('GET', '/sluice/session', 'any'),
  deleteSession: route('DELETE', '/sluice/session', 'open'),
  /** {@link About}. */
  getAbout: route('GET', '/sluice/about', 'streams:read'),
  /** What retention is about to forget: {@link Expiry}. */
  getExpiry: route('GET', '/sluice/expiry', 'streams:read'),
  /** `{ result: StreamSummary[] }`, newest stream first. */
  listStreamSummaries: route('GET', '/sluice/streams', 'streams:read'),
  /** {@link DeliveryPage}; query `limit`, `cursor`, `order` and the fields of a {@link DeliveryFilter}. */
  listDeliveries: route('GET', '/sluice/deliveries', 'history:read'),
  /** {@link DeliveryFacets}; query: the fields of a {@link DeliveryFilter}. */
  getDeliveryFacets: route('GET', '/sluice/facets', 'history:read'),
  /** {@link DeliveryDetail}. */
  getDelivery: route('GET', '/sluice/deliveries/{id}', 'history:read'),
  /**
   * The body of a delivery without any envelope: exactly the bytes of the last attempt, or of the first
   * one to come. `application/json`.
   */
  getDeliveryBody: route('GET', '/sluice/deliveries/{id}/body', 'history:read'),
  /**
   * Why a webhook was sent, or not: {@link Explanation}. Query `q`: the hash of a transaction or block, a
   * block number, of Aptos a ledger version, an address, a name that ends in `.eth`, or the id of a delivery;
   * `chain` where several have it, or one must be chosen.
   */
  explain: route('GET', '/sluice/explain', 'history:read'),
  /**
   * `Activity`: attempts over time. Query `step` (1, 5 or 60 minutes, default 5), `points` (`MOST_POINTS` of
   * the step, default 288), `streamId` for one stream alone.
   */
  getActivity: route('GET', '/sluice/activity', 'history:read'),
  /** `ActivityBreakdown`: what those attempts and matches consisted of. Query as of `getActivity`. */
  getActivityBreakdown: route('GET', '/sluice/activity/breakdown', 'history:read'),
  /** `{ result: StreamChange[] }`: what was done to a stream, or became of it, newest first, at most 100. */
  listStreamChanges: route('GET', '/sluice/streams/{id}/changes', 'streams:read'),
  /** `AddressPage`: addresses of a stream, of either family. Query `ListAddresses`. */
  listAddresses: route('GET', '/sluice/streams/{id}/addresses', 'streams:read'),
  /** `{ result: StreamTape[] }`: what became of streams' newest blocks. Body `ListTapes`. */
  listTapes: route('POST', '/sluice/tapes', 'history:read'),
  /** `{ result: Reorg[] }`, newest first. Query `chain`, `limit` (at most 100). */
  listReorgs: route('GET', '/sluice/reorgs', 'history:read'),
  /** `{ result: ChainGap[] }`, newest first. Query `chain`, `limit` (at most 100). */
  listGaps: route('GET', '/sluice/gaps', 'history:read'),
  /** `{ result: Inbox[] }`, by name. */
  listInboxes: route('GET', '/sluice/inboxes', 'history:read'),
  /** Makes an inbox, or changes how it answers. Body `Partial<InboxAnswer>`, answers with the `Inbox`. */
  setInbox: route('PUT', '/sluice/inboxes/{name}', 'streams:write'),
  /** Forgets an inbox and what came into it. 204. */
  deleteInbox: route('DELETE', '/sluice/inboxes/{name}', 'streams:write'),
  /** `InboxPage`; query `limit`, `cursor`. */
  listInboxRequests: route('GET', '/sluice/inboxes/{name}/requests', 'history:read'),
  /** `InboxRequest`. */
  getInboxRequest: route('GET', '/sluice/inboxes/{name}/requests/{id}', 'history:read'),
  /** Forgets what came into an inbox. 204. */
  clearInbox: route('DELETE', '/sluice/inboxes/{name}/requests', 'streams:write'),
  /** Gives up a delivery that waits for its next attempt: it is `failed`. Answers with its {@link DeliverySummary}. */
  stopDelivery: route('POST', '/sluice/deliveries/{id}/stop', 'replay'),
  /** What a replay would send. Body `{ filter }`, a {@link DeliveryFilter}; answers with a {@link ReplayEstimate}. */
  estimateReplay: route('POST', '/sluice/replays/estimate', 'history:read'),
  /** Sends deliveries again. Body {@link CreateReplay}, answers with the {@link Replay}. */
  createReplay: route('POST', '/sluice/replays', 'replay'),
  /** `{ result: Replay[] }`, newest first, at most 100. */
  listReplays: route('GET', '/sluice/replays', 'history:read'),
  /** {@link Replay}. */
  getReplay: route('GET', '/sluice/replays/{id}', 'history:read'),
  /** {@link ReplayProgress}: when what a {@link Replay} sent came to its end. */
  getReplayProgress: route('GET', '/sluice/replays/{id}/progress', 'history:read'),
  /** Ends a {@link Replay}, and answers with it; what it made due already is sent. */
  cancelReplay: route('POST', '/sluice/replays/{id}/cancel', 'replay'),
  /** `Contract`: what is at an address. 400 for a chain that is not read. */
  getContract: route('GET', '/sluice/evm/{chainId}/contracts/{address}', 'streams:read'),
  /**
   * `ContractAbi`: the ABI of a verified contract, of a proxy with that of what it forwards to. From the server
   * that the operator named for the chain; 400 where there is none.
   */
  getContractAbi: route('GET', '/sluice/evm/{chainId}/contracts/{address}/abi', 'streams:read'),
  /** `ResolvedName`: what a name of ENS stands for. 404 where that is no address. */
  resolveName: route('GET', '/sluice/names/{ensName}', 'streams:read'),
  /** `{ result: ChainHealth[] }`. */
  listChains: route('GET', '/sluice/chains', 'streams:read'),
  /**
   * The way out of a halt: goes on from block `from`, and records what was left out as a hole. Body
   * `{ from?: number }`, default the head of the node. Answers with {@link ChainResumed}.
   */
  resumeChain: route('POST', '/sluice/chains/{id}/resume', 'settings:admin'),
  /**
   * What an EVM stream of these options would get of one block, with what its triggers and balances read,
   * what its filters let pass by one comparison less, and which events its addresses had. Body `EvmDryRun`, answers with `EvmDryRunAnswer`.
   */
  dryRunEvm: route('POST', '/sluice/evm/{chainId}/dry-run', 'streams:read'),
  /**
   * What an Aptos stream of these options would get of one block, and what functions and events the
   * transactions of its addresses had. Body `AptosDryRun`, answers with `AptosDryRunAnswer`.
   */
  dryRunAptos: route('POST', '/sluice/aptos/{network}/dry-run', 'streams:read'),
  /** Announces one block to an Aptos stream once more. Body `AptosBlockChoice`, answers with its records. */
  sendAptosBlock: route('POST', '/sluice/aptos/{network}/streams/{id}/send', 'replay'),
  /** A backfill of an Aptos stream. Body `AptosBackfill`, answers with the {@link Job}. */
  createAptosBackfill: route('POST', '/sluice/aptos/{network}/backfills', 'replay'),
  /** {@link StreamCoverage}. */
  getCoverage: route('GET', '/sluice/streams/{id}/coverage', 'streams:read'),
  /** `{ result: Job[] }`, newest first, at most 100; query `streamId`. */
  listJobs: route('GET', '/sluice/jobs', 'history:read'),
  /** {@link Job}. */
  getJob: route('GET', '/sluice/jobs/{id}', 'history:read'),
  /** Body `{ state }`: `paused`, `running` or `cancelled`; answers with the {@link Job}. */
  setJobState: route('POST', '/sluice/jobs/{id}/state', 'replay'),
  /**
   * Server-sent events: `id` and, as JSON in `data`, a {@link LiveEvent}. While nothing happens a
   * comment line is sent at least every 5 seconds: a connection that is silent for 10 is dead.
   */
  liveEvents: route('GET', '/sluice/events', 'history:read'),
  /** `{ result: ApiKey[] }`, newest first; those that were revoked, too. */
  listApiKeys: route('GET', '/sluice/keys', 'settings:admin'),
  /** Body `CreateApiKey`; answers with `CreatedApiKey`: the one time that the key itself is told. */
  createApiKey: route('POST', '/sluice/keys', 'settings:admin'),
  /** No process takes the key any more 5 s later; answers with the `ApiKey`. */
  revokeApiKey: route('DELETE', '/sluice/keys/{keyId}', 'settings:admin'),
  /** `StreamSecret`: what signs the `webhook-signature` of this stream. */
  getStreamSecret: route('GET', '/sluice/streams/{id}/secret', 'settings:admin'),
  /** A new secret. Body `RotateStreamSecret`; answers with the `StreamSecret`. */
  rotateStreamSecret: route('POST', '/sluice/streams/{id}/secret', 'settings:admin'),
  /** `AuditPage`; query `limit`, `cursor`. */
  listAudit: route('GET', '/sluice/audit', 'settings:admin'),
} as const satisfies Record<string, Route>;

/** The calls of {@link SLUICE_ROUTES}. */
export type SluiceRouteName = keyof typeof SLUICE_ROUTES;

/**
 * In the order a delivery lives: `enriching` awaits what is still read from the chain; `quarantined` is
 * set aside, since the process that sent it died of it time and again.
 */
export const DELIVERY_STATES = [
  'enriching',
  'pending',
  'leased',
  'succeeded',
  'failed',
  'quarantined',
  'cancelled',
] as const;

/** Where a delivery stands. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];
/** `removed`: the notice that the block left the chain. */
export type DeliveryPhase = 'unconfirmed' | 'confirmed' | 'removed';

/** A row of a delivery list: some 400 bytes as JSON for ordinary names, never with the body. */
export interface DeliverySummary {
  /** The `webhook-id` of every attempt. */
  id: string;
  streamId: string;
  /** The same for the deliveries of one block and the notice of its removal. */
  matchId: string;
  tag: string;
  chainId: string;
  blockNumber: number;
  phase: DeliveryPhase;
  state: DeliveryState;
  /** Logs, transactions and internal transactions in the body. */
  records: number;
  /** What its body says, in a line for people, as `describeWebhook` puts it; empty where nothing is known. */
  about: string;
  /** HTTP attempts so far. */
  attempts: number;
  /** HTTP status of the last attempt; null before the first and when no answer came. */
  status: number | null;
  /** Why the last attempt failed, for people; null when it did not. */
  error: string | null;
  /** Of the last attempt, from the first byte sent to the end of the answer. */
  durationMs: number | null;
  createdAt: number;
  updatedAt: number;
  /** When the next attempt is due; null when none is. */
  nextAttemptAt: number | null;
}

/** One HTTP try of a delivery. */
export interface DeliveryAttempt {
  /** 1 for the first. */
  number: number;
  /** Login and values of the query are `***`. */
  webhookUrl: string;
  startedAt: number;
  durationMs: number;
  status: number | null;
  error: string | null;
  /** The first 4 KiB of the answer, as text. */
  responseBody: string;
  /** Null for an inbox of the service itself, and where nobody lived to tell. */
  parts: AttemptParts | null;
  /** IP address and port that a connection was made to, or tried; null on an open connection. */
  address: string | null;
  /** Told when a connection is made, or fails; on an open one while it `expiresSoon`. */
  certificate: ReceiverCertificate | null;
}

/**
 * Where the time of an attempt went, one after the other, in milliseconds; null where there was no such part.
 * On an open connection there are only the last two, and of an attempt that failed none behind the one
 * it failed in. All are null where nothing was tried.
 */
export interface AttemptParts {
  /** Looking up the name. */
  dnsMs: number | null;
  /** TCP. Through a proxy: all until its tunnel stood, so also what the proxy looked up and connected. */
  connectMs: number | null;
  /** With the receiver, also in a tunnel. */
  tlsMs: number | null;
  /** From the request to the first byte of the answer. */
  waitMs: number | null;
  /** From there to the end of the answer. */
  bodyMs: number | null;
}

/** What a receiver showed of itself as a TLS connection was made. */
export interface ReceiverCertificate {
  /** Such as `CN=api.acme.io`. */
  subject: string;
  issuer: string;
  /** Names and IP addresses it is good for, the first 20. */
  names: string[];
  validFrom: number;
  expiresAt: number;
  /** When the attempt was made, it had less than 14 days left, or was over. */
  expiresSoon: boolean;
}

/** A delivery with every attempt. Its body is an answer of its own: {@link SLUICE_ROUTES.getDeliveryBody}. */
export interface DeliveryDetail extends DeliverySummary {
  blockHash: string;
  /** Login and values of the query are `***`. */
  webhookUrl: string;
  /** Length of its body. */
  bodyBytes: number;
  attemptList: DeliveryAttempt[];
  /** Of the addresses in the body, in lower case, those that the stream watches under a label now. */
  labels: Record<string, string>;
  /**
   * The delivery of the same match in the other phase: of an unconfirmed one the confirmed, or the notice of its
   * removal; of these the unconfirmed. Null while there is none.
   */
  pair: DeliverySummary | null;
  /**
   * Of one that waits: milliseconds between the attempts that follow the next one, by the schedule, should
   * each of them fail; a tenth may be added at random. Empty where the next one is the last, and of
   * one that does not wait.
   */
  laterWaitsMs: number[];
}

export const DELIVERY_ORDERS = ['newest', 'oldest'] as const;

/** How deliveries are listed. */
export interface DeliveryOrder {
  /** Which come first. Default `newest`. */
  order?: (typeof DELIVERY_ORDERS)[number] | undefined;
}

/** A page of the list of deliveries. */
export interface DeliveryPage {
  /** In the order that was asked for. */
  result: DeliverySummary[];
  /** Absent on the last page. */
  cursor?: string;
}

/** What runs here, and for how long it keeps what happened. */
export interface About {
  version: string;
  /** `dev`: it is one's own, of `sluice dev`; `prod`: others may rely on it. */
  environment: 'dev' | 'prod';
  /** What the ledger is kept in. */
  store: 'sqlite' | 'postgres';
  /** Milliseconds that a delivery is kept which reached its receiver or was cancelled. */
  deliveredMs: number;
  /** Milliseconds that every other is kept. */
  undeliveredMs: number;
  /**
   * Milliseconds that a delivery waits at least after each attempt that failed, and by chance up to a tenth
   * more; behind the last of them it has failed.
   */
  retryWaitsMs: number[];
  /** Before those: after a first attempt that met no receiver, or a 5xx; null where there is none. */
  quickRetryMs: number | null;
  /** When the oldest delivery was made that is still kept; null without any. */
  oldestDeliveryAt: number | null;
  /** Chains that a source of ABIs is named for: {@link ContractAbi} can be asked of these. */
  abiChains: string[];
}

/** What is at an address of an EVM chain, at its head. */
export interface Contract {
  /** Whether there is code; an account has none. */
  isContract: boolean;
  /** What the contract says of itself, which nobody checks; null where it says nothing of a token. */
  token: {
    /** Empty where it does not say, as are the others. */
    name: string;
    symbol: string;
    decimals: number | null;
    standard: 'ERC721' | 'ERC1155' | '';
  } | null;
}

/** What a name of ENS stands for, at the head of its chain: whoever has the name may change that. */
export interface ResolvedName {
  /** As names are compared (ENSIP-15). */
  name: string;
  /** Lower case. */
  address: string;
  /** Where it was asked: `0x1`, or `0xaa36a7` (Sepolia) where that alone is read. */
  chainId: string;
}

/** The ABI of a contract whose source somebody has verified. */
export interface ContractAbi {
  /** Of a proxy its own items and those of what it forwards to, each once. */
  abi: AbiItem[];
  /** What the contract forwards to at the moment (EIP-1967), lower case; null where it is no such proxy. */
  implementation: string | null;
  /** Host of who told it. */
  source: string;
}

/**
 * What is about to be forgotten: deliveries that are older than they are kept when that is done next.
 * PostgreSQL forgets a day of blocks at once, up to a day later.
 */
export interface Expiry {
  /** When that is; null before it was done once. */
  at: number | null;
  deliveries: number;
  /** Of their bodies, as they were sent. */
  bodyBytes: number;
  /** Only the 100,000 oldest deliveries were looked at, and more are old. */
  isCapped: boolean;
}

/** How many deliveries have this value. */
export interface FacetCount {
  value: string;
  count: number;
}

/**
 * What the deliveries that a filter finds have in their fields, most frequent first. Each field counts as
 * if the filter did not name it, so that it tells what else could be chosen.
 */
export interface DeliveryFacets {
  /** Deliveries that the whole filter finds. */
  total: number;
  /** Only the newest 25,000 of the streams, time, replay and ids were looked at, and there are more. */
  isCapped: boolean;
  state: FacetCount[];
  /** The status of the last attempt, or `none` where no answer came; untried ones are left out. */
  status: FacetCount[];
  streamId: FacetCount[];
  chainId: FacetCount[];
  phase: FacetCount[];
  /** `true` where the block left the chain. */
  reorged: FacetCount[];
  /** How many attempts there were. */
  attempts: FacetCount[];
  /** Made in the last `15m`, `1h`, `24h`, `7d`, or `older`; each without those of the shorter one. */
  age: FacetCount[];
}

/**
 * `failures`: the receiver fails, or the stream is in `error`; then one delivery tries · `throttled`: it
 * asked for patience with a 429; then all goes on.
 */
export type SparedReason = 'failures' | 'throttled';

/**
 * A receiver that is sent nothing for a while. What is due waits, and uses up no attempt. A delivery that
 * is sent again by hand ends it where the reason is `failures`: one tries at once.
 */
export interface Spared {
  reason: SparedReason;
  since: number;
  /** A moment ago while the delivery that tries is under way. */
  until: number;
}

/** A stream with its recent numbers. */
export interface StreamSummary {
  id: string;
  family: ChainFamily;
  tag: string;
  description: string;
  /** Login and values of the query are `***`; the stream itself has them. */
  webhookUrl: string;
  status: 'active' | 'paused' | 'error' | 'terminated';
  /** For people: what is wrong, or why it is not active; empty while all is well. */
  statusMessage: string;
  chainIds: string[];
  allAddresses: boolean;
  amountOfAddresses: number;
  topic0: string[];
  createdAt: number;
  /** Deliveries waiting to be sent or retried. */
  queue: number;
  /** Deliveries that got a 2xx in the last 24 hours. */
  delivered24h: number;
  /** Failed attempts in the last 24 hours. */
  failedAttempts24h: number;
  /** Deliveries that got a 2xx, per 5 minutes, oldest first, 24 numbers for the last 2 hours. */
  deliveredSeries: number[];
  /** Deliveries that got a 2xx in each of 23 hours of the clock, oldest first, and in the last 60 minutes. */
  hourlyDelivered: number[];
  /** Failed attempts, likewise. */
  hourlyFailed: number[];
  /** Of the last 24 hours' attempts that got a 2xx, to a fifth; null without any. */
  p95Ms: number | null;
  /** Time of the newest delivery, null before the first. */
  lastDeliveryAt: number | null;
  /**
   * The first minute with a failed attempt after the last one with a 2xx, two days back at most; null while
   * none failed since.
   */
  failingSince: number | null;
  /**
   * Since when it is paused, and by whom, as in a `StreamChange`; null while it is not, and of one that was made
   * paused.
   */
  paused: { at: number; by: string } | null;
  /** Null while its receiver is sent what is due. */
  spared: Spared | null;
  /**
   * When the certificate of its receiver ends, where that was less than 14 days ahead when it was shown
   * last; null otherwise.
   */
  certificateEndsAt: number | null;
}

/** How a chain is followed at the moment. */
export type ChainState = 'starting' | 'live' | 'catching-up' | 'down';

/** How a chain is followed: what is read, what is committed, and what stands in the way. */
export interface ChainHealth {
  id: string;
  name: string;
  code: string;
  state: ChainState;
  /** For people: why it is down, or empty. */
  message: string;
  /** Newest block the source knows, null before it answered. */
  head: number | null;
  /** Milliseconds since that block was first seen; null before the first. */
  headAgeMs: number | null;
  /** Last block whose deliveries are committed, null before the first. */
  checkpoint: number | null;
  /** Blocks that must follow before a match is confirmed; `finalized`: as the chain itself says. */
  confirmations: number | 'finalized';
  /** Last block whose matches are confirmed, null before the first. */
  confirmedUpTo: number | null;
  /** Newest block that a node calls safe; null where none does, of Aptos the head. For people. */
  safe: number | null;
  /** Newest block that a node calls finalized, likewise. */
  finalized: number | null;
  /** How its newest block was held against the other nodes; null before the first. */
  agreement: ChainAgreement | null;
  /** The nodes it is read from, in the order they were given. */
  providers: ProviderHealth[];
  /** Null but while catching up. */
  progress: ChainProgress | null;
  /** Blocks that were accepted although not everything about them could be verified; null without any. */
  unverified: UnverifiedBlocks | null;
  /** Newest blocks first, at most 60. */
  blocks: ChainBlock[];
}

/**
 * What a chain has accepted unverified, as far as it is kept: the newest 1,000 ranges of blocks.
 * `docs/nodes.md` names the reasons.
 */
export interface UnverifiedBlocks {
  /** The number of blocks. */
  blocks: number;
  /** The newest of them. */
  latest: number;
  /** Why the newest one could not be verified, and why it was accepted. */
  reason: string;
}

/**
 * `good` · `lagging` behind the best of the others · `limited` asked us to wait · `down` does not
 * answer, and is tried again from time to time · `wrong-chain` serves another chain and is left out
 */
export type ProviderState = 'good' | 'lagging' | 'limited' | 'down' | 'wrong-chain';

/**
 * How a chain's newest block was held against other nodes. `agreed`: a second node has the same one ·
 * `alone`: there is no other, or none that answers and is believed · `outvoted`: most have it, others another ·
 * `disagreed`: no side has most, and nothing is taken
 */
export interface ChainAgreement {
  blockNumber: number;
  state: 'agreed' | 'alone' | 'outvoted' | 'disagreed';
}

/**
 * How a node is judged now, each part in what that many milliseconds of latency would count; the lowest
 * total is followed, and left only for half of it. All but latency and lag are forgotten with time.
 */
export interface ProviderScore {
  total: number;
  /** At least 25; 100 before the first answer. */
  latency: number;
  /** 600 for as much as counts as lagging. */
  lag: number;
  /** 1,000 for each request that failed, halved every 30 s. */
  failures: number;
  /** 60,000 for each contradiction, a fifth of it for being outvoted; halved every five minutes. */
  doubt: number;
}

/** One node of a chain, as it was last seen. */
export interface ProviderHealth {
  /** Its host; never the path or query of its URL, where keys stand. */
  name: string;
  state: ProviderState;
  /** For people: what is wrong, or empty. */
  message: string;
  /** Newest block it said it has, null before it answered. */
  head: number | null;
  /** Of short requests, a moving average; null before the first. */
  latencyMs: number | null;
  /** Requests that failed and answers that were refused, since the start. */
  failures: number;
  /** Heights at which its block was another than that of another provider, since the start. */
  disagreements: number;
  score: ProviderScore;
  /** It is the one whose head is taken. */
  isFollowed: boolean;
  /** Whether it is heard where nodes differ: not while it is away, was caught in a lie, or stands still. */
  hasVoice: boolean;
}

/** How far a chain that fell behind has come; `checkpoint` is where it stands. */
export interface ChainProgress {
  /** Where it began to catch up. */
  from: number;
  /** The head it is after; it moves. */
  to: number;
  /** Blocks committed per second, lately. */
  perSecond: number;
  /** Until it stands at the head, the head's own growth counted in; null while it does not get nearer. */
  secondsLeft: number | null;
}

/** What the service answers when a halted chain goes on. */
export interface ChainResumed {
  chainId: string;
  /** The first block that is read. */
  from: number;
}

/**
 * Why blocks were not evaluated: the stream was paused or terminated, the chain was resumed later, or
 * they came before the stream.
 */
export type HoleReason = 'paused' | 'terminated' | 'resumed' | 'before';

/** Blocks from one to another, both included. */
export interface BlockRange {
  from: number;
  to: number;
}

/** Which blocks a stream was held against, chain by chain. */
export interface StreamCoverage {
  result: ChainCoverage[];
}

/** Which blocks of a chain a stream was held against. */
export interface ChainCoverage {
  chainId: string;
  /** First and last block evaluated; null where none is. */
  from: number | null;
  to: number | null;
  /** Blocks between that were not, in order; a backfill of such a range removes it. */
  holes: (BlockRange & { reason: HoleReason })[];
  /** Blocks that were evaluated, but not verified in all they say; the newest 1,000 ranges, in order. */
  unverified: UnverifiedRange[];
}

/** Blocks that were accepted unverified, and why. */
export interface UnverifiedRange extends BlockRange {
  reason: string;
}

/** Where a backfill can stand. */
export const JOB_STATES = ['running', 'paused', 'done', 'cancelled', 'failed'] as const;

/** Where a backfill stands. */
export type JobState = (typeof JOB_STATES)[number];

/** A backfill: past blocks matched for one stream, delivered as confirmed. */
export interface Job {
  id: string;
  streamId: string;
  chainId: string;
  blockFrom: number;
  blockTo: number;
  /** The next block to be matched; `blockTo + 1` once all are. */
  nextBlock: number;
  state: JobState;
  /** For people: why it waits or failed, or empty. */
  message: string;
  /** Blocks in which the stream matched so far. */
  matches: number;
  createdAt: number;
  updatedAt: number;
}

/** One tick of the block tape. */
export interface ChainBlock {
  number: number;
  hash: string;
  timestamp: number;
  /** Streams that matched the block. */
  matches: number;
}

/**
 * What `/sluice/events` sends, whichever process of the service it came from. Each event has an `id`; a
 * client that reconnects with `Last-Event-ID`, to any process, gets what it missed, or `reset` where that
 * is no longer held: refetch then.
 */
export type LiveEvent =
  | { type: 'delivery'; delivery: DeliverySummary }
  | { type: 'block'; chainId: string; block: ChainBlock; head: number }
  /** Blocks above `blockNumber` left the chain. */
  | { type: 'reorg'; chainId: string; blockNumber: number }
  | { type: 'chain'; chain: Omit<ChainHealth, 'blocks' | 'unverified'> }
  /** A stream was created, changed or deleted. */
  | { type: 'stream'; streamId: string }
  /** A backfill moved on, or changed its state. */
  | { type: 'job'; job: Job }
  /** A webhook came into an inbox. */
  | { type: 'inbox'; request: InboxRequestSummary }
  /** A replay was made, moved on or ended. */
  | { type: 'replay'; replay: Replay }
  | { type: 'reset' };
