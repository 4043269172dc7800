/**
 * Our own routes, beyond the compatible API: deliveries, chain health, live events, console
 * sessions. What the console and the command line are built on.
 */
import { createCalls } from './calls.ts';
import type { ListOptions } from './calls.ts';
import type {
  ApiKey,
  AuditPage,
  AuditRecord,
  CreateApiKey,
  CreatedApiKey,
  RotateStreamSecret,
  StreamSecret,
} from './contract/access.ts';
import type { AptosNetwork } from './contract/aptos.ts';
import type { Given } from './client.ts';
import type {
  AptosBackfill,
  AptosBlockChoice,
  AptosDryRun,
  AptosDryRunAnswer,
  EvmDryRun,
  EvmDryRunAnswer,
} from './contract/blocks.ts';
import type { Explanation } from './contract/explain.ts';
import type {
  Activity,
  ActivityBreakdown,
  ActivityStep,
  ChainGap,
  ListTapes,
  Reorg,
  StreamChange,
  StreamTape,
} from './contract/activity.ts';
import type {
  Inbox,
  InboxAnswer,
  InboxPage,
  InboxRequest,
  InboxRequestSummary,
} from './contract/inbox.ts';
import type {
  CreateReplay,
  DeliveryFilter,
  Replay,
  ReplayEstimate,
  ReplayProgress,
} from './contract/replays.ts';
import { SLUICE_ROUTES } from './contract/sluice.ts';
import type { AddressPage, ListAddresses, WatchedAddress } from './contract/streams.ts';
import type {
  About,
  ChainCoverage,
  ChainHealth,
  ChainResumed,
  Contract,
  ContractAbi,
  ResolvedName,
  DeliveryDetail,
  DeliveryFacets,
  DeliveryOrder,
  DeliveryPage,
  DeliverySummary,
  Expiry,
  Job,
  LiveEvent,
  StreamSummary,
} from './contract/sluice.ts';
import { isSluiceError, SluiceError } from './errors.ts';
import { readEventStream } from './eventStream.ts';
import { importAddresses } from './importAddresses.ts';
import type { AddressImport } from './importAddresses.ts';
import type { AnyPage, ListResult } from './pages.ts';
import { connect, sleep } from './request.ts';
import type { CallOptions, CallResult, Connection, ConnectionOptions } from './request.ts';

export type {
  About,
  AttemptParts,
  BlockRange,
  ChainAgreement,
  ChainBlock,
  ChainCoverage,
  ChainHealth,
  ChainProgress,
  ChainResumed,
  Contract,
  ContractAbi,
  ResolvedName,
  ChainState,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryFacets,
  DeliveryPage,
  DeliveryPhase,
  DeliveryState,
  DeliverySummary,
  Expiry,
  FacetCount,
  HoleReason,
  Job,
  JobState,
  LiveEvent,
  ProviderHealth,
  ProviderScore,
  ProviderState,
  ReceiverCertificate,
  Spared,
  SparedReason,
  StreamSummary,
  UnverifiedBlocks,
  UnverifiedRange,
} from './contract/sluice.ts';
export { DELIVERY_STATES, JOB_STATES } from './contract/sluice.ts';
export { cutText } from './contract/text.ts';
export type {
  ExplainedRecord,
  Explanation,
  ExplainOutcome,
  ExplainReason,
  ExplainStage,
  ExplainVerdict,
  StreamVerdict,
} from './contract/explain.ts';
export type {
  Activity,
  ActivityBreakdown,
  ActivityPoint,
  ActivityStep,
  ChainGap,
  GapKind,
  ListTapes,
  Reorg,
  StreamChange,
  StreamChangeKind,
  StreamTape,
  TapeBlock,
} from './contract/activity.ts';
export { DEFAULT_INBOX_ANSWER, isInboxName, readInboxName, toInboxUrl } from './contract/inbox.ts';
export type {
  Inbox,
  InboxAnswer,
  InboxDelivery,
  InboxPage,
  InboxRequest,
  InboxRequestSummary,
} from './contract/inbox.ts';
export type {
  ApiKey,
  AuditPage,
  AuditRecord,
  CreateApiKey,
  CreatedApiKey,
  RotateStreamSecret,
  Scope,
  StreamSecret,
} from './contract/access.ts';
export { hashAuditRecord } from './contract/access.ts';
export type {
  CreateReplay,
  DeliveryFilter,
  OneOrSeveral,
  Replay,
  ReplayEstimate,
  ReplayProgress,
  ReplayState,
} from './contract/replays.ts';
export type {
  AddressPage,
  ListAddresses,
  StreamAddress,
  WatchedAddress,
} from './contract/streams.ts';
export type { AptosNetwork } from './contract/aptos.ts';
export type { AptosWebhook } from './contract/aptosWebhook.ts';
export type {
  AptosBackfill,
  AptosBlockChoice,
  AptosDryRun,
  EvmDryRun,
  EvmDryRunAnswer,
  NearMiss,
  SeenEvent,
  SeenMovePath,
} from './contract/blocks.ts';
export { isSluiceError, SluiceError } from './errors.ts';
export type { SluiceErrorCode } from './errors.ts';
export type { AddressImport } from './importAddresses.ts';
export { mergeNearMisses, ruleOfNearMiss } from './nearMisses.ts';
export { mergeSeen } from './seen.ts';
export { findDeliveryIds, isShortId, matchIds } from './shortIds.ts';
export type { ListOptions } from './calls.ts';
export type { AnyPage, ListedPage, ListResult } from './pages.ts';
export type { CallOptions, CallResult, WithResponse } from './request.ts';

/** `apiKey` is left out where a console session's cookie signs the calls in. */
export type SluiceClientOptions = ConnectionOptions;

/**
 * Name of the file that holds the body of a delivery, `<tag>-<block>-<phase>-<end of the id>.json`: what
 * `sluice fixture save` writes and the console hands out, what `sluice fixture run` signs and sends, and
 * what `signedRequest` of the testing entry takes as `body`.
 */
export const toFixtureName = ({
  id,
  tag,
  blockNumber,
  phase,
}: Pick<DeliverySummary, 'id' | 'tag' | 'blockNumber' | 'phase'>): string =>
  `${tag.replaceAll(/[^\w.-]+/g, '_') || 'stream'}-${blockNumber}-${phase}-${id.slice(-6)}.json`;

/** Which deliveries to list; all of them by default. */
export type ListDeliveriesOptions = ListOptions & Readonly<DeliveryFilter & DeliveryOrder>;

/** Which attempts a chart shows, and how finely. */
export interface ActivityQuery {
  readonly streamId?: string | undefined;
  /** Minutes of a point. */
  readonly step?: ActivityStep | undefined;
  /** At most `MOST_POINTS` of the step: 1,500, 576 or 192. */
  readonly points?: number | undefined;
}

/** Where a live connection stands. */
export type LiveState =
  | { readonly state: 'connecting' }
  /** The service has noted where it begins: what happens from now on is told. */
  | { readonly state: 'live' }
  /** It broke, for this reason, and is tried again after the wait. */
  | { readonly state: 'waiting'; readonly retryInMs: number; readonly error: SluiceError }
  /** It ended: aborted, left, or refused for good. */
  | { readonly state: 'closed' };

/** What `liveEvents` takes. */
export interface LiveEventsOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Id of the last event handled before; what came after it is sent first. */
  readonly lastEventId?: string | undefined;
  /** Called at each change of the connection. */
  readonly onState?: ((state: LiveState) => void) | undefined;
}

/** A live event and its place in the stream of them. */
export interface ReceivedEvent {
  /** Of this event alone; pass the last one as `lastEventId` to go on after it. */
  readonly id: string;
  readonly event: LiveEvent;
}

/** Every method rejects with a SluiceError. */
export interface SluiceClient {
  /** Trades an API key for a session cookie; rejects with `unauthorized` when it is not known. */
  createSession(apiKey: string, options?: CallOptions): CallResult<void>;
  /** Whether the calls of this client are signed in, by key or session. */
  checkSession(options?: CallOptions): CallResult<boolean>;
  deleteSession(options?: CallOptions): CallResult<void>;
  /** Which version runs, on what, and how long deliveries are kept. */
  getAbout(options?: CallOptions): CallResult<About>;
  /** What retention is about to forget, and when. */
  getExpiry(options?: CallOptions): CallResult<Expiry>;
  /** Every stream with its recent numbers. */
  listStreamSummaries(options?: CallOptions): CallResult<StreamSummary[]>;
  /**
   * Adds many addresses to a stream, in their order and in parts of about a tenth of a second; each part
   * takes effect whole. Addresses that are there stay, so that an import which broke off may go on anywhere
   * before the place it came to.
   */
  importAddresses(wanted: AddressImport, options?: CallOptions): Promise<void>;
  /** Newest first, unless `order` says otherwise. */
  listDeliveries(
    query?: ListDeliveriesOptions,
    options?: CallOptions,
  ): ListResult<DeliverySummary, DeliveryPage>;
  /** How many deliveries there are of each state, status, stream and so on. */
  getDeliveryFacets(filter?: DeliveryFilter, options?: CallOptions): CallResult<DeliveryFacets>;
  /** With all its attempts, without its body. */
  getDelivery(id: string, options?: CallOptions): CallResult<DeliveryDetail>;
  /** Its body: exactly the text that its last attempt sent, or that the first one will. */
  getDeliveryBody(id: string, options?: CallOptions): CallResult<string>;
  /**
   * Why a webhook was sent, or not, stream by stream: of the hash of a transaction or block, a block
   * number, a ledger version, an address, a name that ends in `.eth`, or the id of a delivery. `chain` where
   * several have it. What cannot be found is part of the answer, and no error.
   */
  explain(
    query: string,
    options?: CallOptions & { readonly chain?: string | undefined },
  ): CallResult<Explanation>;
  /** Attempts over time, of one stream or of all: by default the last day in steps of 5 minutes. */
  getActivity(query?: ActivityQuery, options?: CallOptions): CallResult<Activity>;
  getActivityBreakdown(query?: ActivityQuery, options?: CallOptions): CallResult<ActivityBreakdown>;
  /** What became of the newest blocks of at most 200 streams, in their order. */
  listTapes(body: ListTapes, options?: CallOptions): CallResult<StreamTape[]>;
  /**
   * Addresses of a stream of either family, in their order, with when and by whom they were added: all, or
   * those found by how they begin, by their ends, or by a part of their labels.
   */
  listAddresses(
    streamId: string,
    query?: ListAddresses,
    options?: CallOptions,
  ): ListResult<WatchedAddress, AddressPage>;
  /** What was done to a stream, or became of it, newest first. */
  listStreamChanges(streamId: string, options?: CallOptions): CallResult<StreamChange[]>;
  /** Where chains went another way, newest first. */
  listReorgs(query?: { chain?: string | undefined }, options?: CallOptions): CallResult<Reorg[]>;
  /** Where chains did not go on block by block, and why, newest first. */
  listGaps(query?: { chain?: string | undefined }, options?: CallOptions): CallResult<ChainGap[]>;
  /** The built-in receivers, by name. */
  listInboxes(options?: CallOptions): CallResult<Inbox[]>;
  /** Makes an inbox, or changes how it answers; what is left out of the answer takes its default. */
  setInbox(name: string, answer?: Partial<InboxAnswer>, options?: CallOptions): CallResult<Inbox>;
  /** Forgets an inbox and what came into it. */
  deleteInbox(name: string, options?: CallOptions): CallResult<void>;
  /** What came into an inbox, newest first. */
  listInboxRequests(
    name: string,
    query?: ListOptions,
    options?: CallOptions,
  ): ListResult<InboxRequestSummary, InboxPage>;
  getInboxRequest(name: string, id: string, options?: CallOptions): CallResult<InboxRequest>;
  /** Forgets what came into an inbox. */
  clearInbox(name: string, options?: CallOptions): CallResult<void>;
  /** Gives up a delivery that waits; rejects with `conflict` when it does not. It can be replayed. */
  stopDelivery(id: string, options?: CallOptions): CallResult<DeliverySummary>;
  /** What a replay of these deliveries would send. */
  estimateReplay(filter: DeliveryFilter, options?: CallOptions): CallResult<ReplayEstimate>;
  /** Sends these deliveries again, each with its id, oldest first. */
  createReplay(body: CreateReplay, options?: CallOptions): CallResult<Replay>;
  /** Newest first, at most 100. */
  listReplays(options?: CallOptions): CallResult<Replay[]>;
  getReplay(id: string, options?: CallOptions): CallResult<Replay>;
  /** When what a replay sent came to its end, step by step. */
  getReplayProgress(id: string, options?: CallOptions): CallResult<ReplayProgress>;
  /** Ends a replay; rejects with `conflict` when it is done. */
  cancelReplay(id: string, options?: CallOptions): CallResult<Replay>;
  listChains(options?: CallOptions): CallResult<ChainHealth[]>;
  /**
   * The way out of a chain's halt: it goes on from block `from`, by default from the node's head, and
   * what lies between is recorded as a hole in the coverage of its streams.
   */
  resumeChain(
    id: string,
    body?: { from?: number },
    options?: CallOptions,
  ): CallResult<ChainResumed>;
  /**
   * What an EVM stream of these options would get of one block, with what its triggers and balances read,
   * how many logs a single comparison of its filters kept out, and which events its addresses had.
   */
  dryRunEvm(
    chainId: string,
    body: Given<EvmDryRun>,
    options?: CallOptions,
  ): CallResult<EvmDryRunAnswer>;
  /**
   * What an Aptos stream of these options would get of one block, and which functions and events the
   * transactions of its addresses had.
   */
  dryRunAptos(
    network: AptosNetwork,
    body: AptosDryRun,
    options?: CallOptions,
  ): CallResult<AptosDryRunAnswer>;
  /** What is at an address: a contract or none, a token perhaps. */
  getContract(chainId: string, address: string, options?: CallOptions): CallResult<Contract>;
  /** The ABI of a verified contract, where the operator named who tells it; of a proxy with what it forwards to. */
  getContractAbi(chainId: string, address: string, options?: CallOptions): CallResult<ContractAbi>;
  /**
   * What a name of ENS stands for, asked of Ethereum at its head; rejects with `not_found` where that is no
   * address, or a server outside of the chain would have to be asked.
   */
  resolveName(name: string, options?: CallOptions): CallResult<ResolvedName>;
  /** Announces a block to an Aptos stream once more; answers with the records in it. */
  sendAptosBlock(
    network: AptosNetwork,
    streamId: string,
    body: AptosBlockChoice,
    options?: CallOptions,
  ): CallResult<number>;
  /** Matches past blocks with an Aptos stream, by height or ledger version, both ends included. */
  createAptosBackfill(
    network: AptosNetwork,
    body: AptosBackfill,
    options?: CallOptions,
  ): CallResult<Job>;
  /** Which blocks the stream was held against, by chain, and which not. */
  getCoverage(streamId: string, options?: CallOptions): CallResult<ChainCoverage[]>;
  /** Backfills, newest first, at most 100; of one stream or of all. */
  listJobs(query?: { streamId?: string }, options?: CallOptions): CallResult<Job[]>;
  getJob(id: string, options?: CallOptions): CallResult<Job>;
  /** Pauses, goes on with or ends a backfill; rejects with `conflict` where it is over already. */
  setJobState(
    id: string,
    state: 'paused' | 'running' | 'cancelled',
    options?: CallOptions,
  ): CallResult<Job>;
  /** Newest first; those that were revoked, too. */
  listApiKeys(options?: CallOptions): CallResult<ApiKey[]>;
  /** Answers with the key, which is told this once. */
  createApiKey(body: CreateApiKey, options?: CallOptions): CallResult<CreatedApiKey>;
  /** No process of the service takes the key any more 5 s later. */
  revokeApiKey(id: string, options?: CallOptions): CallResult<ApiKey>;
  /** What signs the `webhook-signature` of a stream; pass it to `unwrap` or `createHandler`. */
  getStreamSecret(streamId: string, options?: CallOptions): CallResult<StreamSecret>;
  /** A new secret; the old ones sign beside it for a day, or for as long as you say. */
  rotateStreamSecret(
    streamId: string,
    body?: RotateStreamSecret,
    options?: CallOptions,
  ): CallResult<StreamSecret>;
  /** Who did what: newest first. */
  listAudit(query?: ListOptions, options?: CallOptions): ListResult<AuditRecord, AuditPage>;
  /**
   * What happens, as it happens. A broken connection is opened again, after 1 s at first and 10 s at
   * most, where it left off; `{ type: 'reset' }` tells that events were missed: read anew then.
   * Throws when the service refuses for good, e.g. with `unauthorized`.
   */
  liveEvents(options?: LiveEventsOptions): AsyncGenerator<ReceivedEvent, undefined>;
}

/** The service sends something every 5 s at least: a connection silent for twice that is dead. */
const SILENCE_MS = 10_000;
const RECONNECT_MIN_MS = 1_000;
const RECONNECT_MAX_MS = 10_000;

/**
 * A client for our own routes.
 * @throws SluiceError `invalid_argument` when an option is unusable.
 */
export function createSluiceClient(options: SluiceClientOptions): SluiceClient {
  // Workers know no credentials mode: they get none where there is no session to send.
  const connection = connect(
    options,
    options.apiKey === undefined ? { credentials: 'same-origin' } : {},
  );
  const calls = createCalls(connection);
  const { one, list } = calls;
  return {
    createSession: (apiKey, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.createSession, body: { apiKey }, secrets: [apiKey] }),
        options,
        nothing,
      ),

    checkSession: (options) =>
      one(
        () => ({ route: SLUICE_ROUTES.checkSession, accepts: [401] }),
        options,
        (_, { ok }) => ok,
      ),

    deleteSession: (options) =>
      one(() => ({ route: SLUICE_ROUTES.deleteSession, repeatable: true }), options, nothing),

    getAbout: (options) => one(() => ({ route: SLUICE_ROUTES.getAbout }), options),
    getExpiry: (options) => one(() => ({ route: SLUICE_ROUTES.getExpiry }), options),

    listStreamSummaries: (options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listStreamSummaries }),
        options,
        (answer) => toPage<StreamSummary>(answer).result,
      ),

    importAddresses: (wanted, options) => importAddresses(calls, wanted, options),

    listDeliveries: ({ limit, cursor, ...query } = {}, options) =>
      list(
        () => ({ route: SLUICE_ROUTES.listDeliveries, query }),
        { limit, cursor },
        options,
        toPage<DeliverySummary>,
      ),

    getDeliveryFacets: (filter = {}, options) =>
      one(() => ({ route: SLUICE_ROUTES.getDeliveryFacets, query: { ...filter } }), options),

    getDelivery: (id, options) =>
      one(() => ({ route: SLUICE_ROUTES.getDelivery, path: { id } }), options),

    getDeliveryBody: (id, options) =>
      one(() => ({ route: SLUICE_ROUTES.getDeliveryBody, path: { id }, asText: true }), options),

    explain: (q, { chain, ...options } = {}) =>
      one(() => ({ route: SLUICE_ROUTES.explain, query: { q, chain } }), options),

    getActivity: (query = {}, options) =>
      one(() => ({ route: SLUICE_ROUTES.getActivity, query: { ...query } }), options),

    getActivityBreakdown: (query = {}, options) =>
      one(() => ({ route: SLUICE_ROUTES.getActivityBreakdown, query: { ...query } }), options),

    listTapes: (body, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listTapes, body, repeatable: true }),
        options,
        (answer) => toPage<StreamTape>(answer).result,
      ),

    listAddresses: (id, { find, limit, cursor } = {}, options) =>
      list(
        () => ({ route: SLUICE_ROUTES.listAddresses, path: { id }, query: { find } }),
        { limit, cursor },
        options,
        toPage<WatchedAddress>,
      ),

    listStreamChanges: (id, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listStreamChanges, path: { id } }),
        options,
        (answer) => toPage<StreamChange>(answer).result,
      ),

    listReorgs: (query = {}, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listReorgs, query }),
        options,
        (answer) => toPage<Reorg>(answer).result,
      ),

    listGaps: (query = {}, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listGaps, query }),
        options,
        (answer) => toPage<ChainGap>(answer).result,
      ),

    listInboxes: (options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listInboxes }),
        options,
        (answer) => toPage<Inbox>(answer).result,
      ),

    setInbox: (name, body = {}, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.setInbox, path: { name }, body, repeatable: true }),
        options,
      ),

    deleteInbox: (name, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.deleteInbox, path: { name }, repeatable: true }),
        options,
        nothing,
      ),

    listInboxRequests: (name, { limit, cursor } = {}, options) =>
      list(
        () => ({ route: SLUICE_ROUTES.listInboxRequests, path: { name } }),
        { limit, cursor },
        options,
        toPage<InboxRequestSummary>,
      ),

    getInboxRequest: (name, id, options) =>
      one(() => ({ route: SLUICE_ROUTES.getInboxRequest, path: { name, id } }), options),

    clearInbox: (name, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.clearInbox, path: { name }, repeatable: true }),
        options,
        nothing,
      ),
    stopDelivery: (id, options) =>
      one(() => ({ route: SLUICE_ROUTES.stopDelivery, path: { id } }), options),

    estimateReplay: (filter, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.estimateReplay, body: { filter }, repeatable: true }),
        options,
      ),

    createReplay: (body, options) =>
      one(() => ({ route: SLUICE_ROUTES.createReplay, body }), options),

    listReplays: (options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listReplays }),
        options,
        (answer) => toPage<Replay>(answer).result,
      ),

    getReplay: (id, options) =>
      one(() => ({ route: SLUICE_ROUTES.getReplay, path: { id } }), options),

    getReplayProgress: (id, options) =>
      one(() => ({ route: SLUICE_ROUTES.getReplayProgress, path: { id } }), options),

    cancelReplay: (id, options) =>
      one(() => ({ route: SLUICE_ROUTES.cancelReplay, path: { id }, repeatable: true }), options),

    listChains: (options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listChains }),
        options,
        (answer) => toPage<ChainHealth>(answer).result,
      ),

    resumeChain: (id, body = {}, options) =>
      one(() => ({ route: SLUICE_ROUTES.resumeChain, path: { id }, body }), options),

    getContract: (chainId, address, options) =>
      one(() => ({ route: SLUICE_ROUTES.getContract, path: { chainId, address } }), options),

    getContractAbi: (chainId, address, options) =>
      one(() => ({ route: SLUICE_ROUTES.getContractAbi, path: { chainId, address } }), options),

    dryRunEvm: (chainId, body, options) =>
      one(() => ({ route: SLUICE_ROUTES.dryRunEvm, path: { chainId }, body }), options),

    dryRunAptos: (network, body, options) =>
      one(() => ({ route: SLUICE_ROUTES.dryRunAptos, path: { network }, body }), options),

    resolveName: (name, options) =>
      one(() => ({ route: SLUICE_ROUTES.resolveName, path: { ensName: name } }), options),

    sendAptosBlock: (network, id, body, options) =>
      one(() => ({ route: SLUICE_ROUTES.sendAptosBlock, path: { network, id }, body }), options),

    createAptosBackfill: (network, body, options) =>
      one(() => ({ route: SLUICE_ROUTES.createAptosBackfill, path: { network }, body }), options),

    getCoverage: (id, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.getCoverage, path: { id } }),
        options,
        (answer) => toPage<ChainCoverage>(answer).result,
      ),

    listJobs: (query = {}, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listJobs, query }),
        options,
        (answer) => toPage<Job>(answer).result,
      ),

    getJob: (id, options) => one(() => ({ route: SLUICE_ROUTES.getJob, path: { id } }), options),

    setJobState: (id, state, options) =>
      one(
        () => ({
          route: SLUICE_ROUTES.setJobState,
          path: { id },
          body: { state },
          repeatable: true,
        }),
        options,
      ),

    listApiKeys: (options) =>
      one(
        () => ({ route: SLUICE_ROUTES.listApiKeys }),
        options,
        (answer) => toPage<ApiKey>(answer).result,
      ),

    createApiKey: (body, options) =>
      one(() => ({ route: SLUICE_ROUTES.createApiKey, body }), options),

    revokeApiKey: (keyId, options) =>
      one(
        () => ({ route: SLUICE_ROUTES.revokeApiKey, path: { keyId }, repeatable: true }),
        options,
      ),

    getStreamSecret: (id, options) =>
      one(() => ({ route: SLUICE_ROUTES.getStreamSecret, path: { id } }), options),

    rotateStreamSecret: (id, body = {}, options) =>
      one(() => ({ route: SLUICE_ROUTES.rotateStreamSecret, path: { id }, body }), options),

    listAudit: ({ limit, cursor } = {}, options) =>
      list(
        () => ({ route: SLUICE_ROUTES.listAudit }),
        { limit, cursor },
        options,
        toPage<AuditRecord>,
      ),

    liveEvents: (options) => readLiveEvents(connection, options),
  };
}

const nothing = (): void => {};

function toPage<Row>(answer: unknown): AnyPage<Row> {
  const page = answer as AnyPage<Row> | undefined;
  if (Array.isArray(page?.result)) return page;
  throw new SluiceError('invalid_answer', 'The answer is no list');
}

async function* readLiveEvents(
  connection: Connection,
  { signal, lastEventId, onState }: LiveEventsOptions = {},
): AsyncGenerator<ReceivedEvent, undefined> {
  let lastId = lastEventId;
  let failures = 0;
  try {
    for (;;) {
      if (signal?.aborted) return;
      onState?.({ state: 'connecting' });
      let problem: SluiceError;
      try {
        const onId = (id: string): void => void (lastId = id);
        for await (const received of readOnce(connection, { lastId, onId, signal, onState })) {
          failures = 0;
          lastId = received.id || lastId;
          yield received;
        }
        problem = new SluiceError('network_error', 'The live connection ended');
      } catch (error) {
        if (signal?.aborted) return;
        if (!isSluiceError(error) || !mayReconnect(error)) throw error;
        problem = error;
      }
      const limitMs = Math.min(RECONNECT_MAX_MS, RECONNECT_MIN_MS * 2 ** failures++);
      const retryInMs = RECONNECT_MIN_MS + Math.random() * (limitMs - RECONNECT_MIN_MS);
      onState?.({ state: 'waiting', retryInMs, error: problem });
      try {
        await sleep(retryInMs, signal);
      } catch {
        return;
      }
    }
  } finally {
    onState?.({ state: 'closed' });
  }
}

const mayReconnect = ({ code }: SluiceError): boolean =>
  code === 'network_error' ||
  code === 'timeout' ||
  code === 'rate_limited' ||
  code === 'server_error';

/** One connection, until it ends or breaks. */
async function* readOnce(
  connection: Connection,
  {
    lastId,
    onId,
    signal,
    onState,
  }: Pick<LiveEventsOptions, 'signal' | 'onState'> & {
    lastId: string | undefined;
    onId(id: string): void;
  },
): AsyncGenerator<ReceivedEvent, undefined> {
  const own = new AbortController();
  const onAbort = () => own.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (lastId) headers['last-event-id'] = lastId;
    const options = { signal: own.signal, headers };
    const response = await connection.open({ route: SLUICE_ROUTES.liveEvents }, options);
    if (!response.headers.get('content-type')?.includes('text/event-stream') || !response.body) {
      throw new SluiceError('invalid_answer', 'The answer is no event stream');
    }
    // The headers come before the service has looked where its events stand; its greeting comes after.
    const chunks = readChunks(response.body, () => onState?.({ state: 'live' }));
    for await (const { id, data } of readEventStream(chunks, onId)) {
      yield { id, event: parseEvent(data) };
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    own.abort();
  }
}

/** The bytes of a body; a failure, or silence, is a network error. */
async function* readChunks(
  body: ReadableStream<Uint8Array>,
  onFirst: () => void,
): AsyncGenerator<Uint8Array, undefined> {
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isFirst = true;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          reject(new SluiceError('network_error', `Nothing came for ${SILENCE_MS / 1000} s`));
        }, SILENCE_MS);
      });
      const { done, value } = await Promise.race([reader.read(), silence]);
      clearTimeout(timer);
      if (done) return;
      if (isFirst) onFirst();
      isFirst = false;
      yield value;
    }
  } catch (cause) {
    if (isSluiceError(cause)) throw cause;
    throw new SluiceError('network_error', 'The live connection broke', { cause });
  } finally {
    clearTimeout(timer);
    // Not awaited: cancelling may wait for a connection that has gone silent.
    reader.cancel().catch(() => {});
  }
}

function parseEvent(data: string): LiveEvent {
  try {
    return JSON.parse(data) as LiveEvent;
  } catch (cause) {
    throw new SluiceError('invalid_answer', 'A live event is not JSON', { cause });
  }
}
