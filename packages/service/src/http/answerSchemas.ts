/**
 * What a service answers, as schemas: the same shapes as the interfaces beside them, which the compiler
 * holds equal. Strict, so that a test that reads an answer with them finds what is too much, too.
 */
import {
  type AddressPage,
  abiItemSchema,
  abiParameterSchema,
  type About,
  type Activity,
  type ActivityBreakdown,
  type ActivityPoint,
  type AddressesAnswer,
  advancedOptionSchema,
  type ApiKey,
  APTOS_NETWORKS,
  type AptosCoin,
  type AptosCoinMovement,
  type AptosRaw,
  type AptosStream,
  type AptosStreamStatus,
  type AptosWebhook,
  type AuditPage,
  type ChainCoverage,
  type ChainGap,
  type ChainHealth,
  type Contract,
  type ContractAbi,
  type ResolvedName,
  type ChainProgress,
  type ChainResumed,
  type CreatedApiKey,
  DELIVERY_STATES,
  type DeliveryAttempt,
  type DeliveryDetail,
  type DeliveryFacets,
  type DeliveryFilter,
  type DeliveryLog,
  type DeliveryPage,
  type DeliverySummary,
  type DryRunAnswer,
  type ErrorBody,
  type EvmStream,
  type EvmWebhook,
  type Expiry,
  EXPLAIN_KINDS,
  EXPLAIN_OUTCOMES,
  EXPLAIN_STAGES,
  EXPLAIN_VERDICTS,
  type ExplainedRecord,
  type ExplainReason,
  type Explanation,
  type HistoricalJobAnswer,
  type HistoryRecord,
  type Inbox,
  type InboxAnswer,
  type InboxDelivery,
  type InboxPage,
  type InboxRequest,
  type InboxRequestSummary,
  type Job,
  JOB_STATES,
  nativeBalanceSelectionSchema,
  type NearMiss,
  type SeenEvent,
  type SeenMovePath,
  type ProviderHealth,
  REGIONS,
  type Reorg,
  type Replay,
  REPLAY_STATES,
  type ReplayEstimate,
  type ReplayProgress,
  SCOPES,
  type Settings,
  type Stats,
  type StatsCounters,
  type StreamAddress,
  type WatchedAddress,
  type StreamChange,
  type StreamCoverage,
  type StreamSecret,
  type StreamStats,
  type StreamSummary,
  type StreamTape,
  type StreamVerdict,
  type TapeBlock,
  triggerSchema,
  type WebhookErc20Approval,
  type WebhookErc20Transfer,
  type WebhookInternalTransaction,
  type WebhookLog,
  type WebhookNftTokenApproval,
  type WebhookNftTransfer,
  type WebhookTransaction,
  STREAM_CHANGE_KINDS,
} from '@sluice/kit/contract';
import * as z from 'zod';

const text = z.string();
const flag = z.boolean();
const uuid = z.uuid();
const count = z.int().nonnegative();
const number = z.number();
const dateTime = z.iso.datetime();
const unixMs = z.int().meta({ description: 'Unix milliseconds' });
const texts = z.array(text);
const textOrNull = text.nullable();
const networks = z.array(z.enum(APTOS_NETWORKS));
const status = z.enum(['active', 'paused', 'error', 'terminated']);
const headers = z.record(text, text);
const chainId = text.meta({ description: 'Chain id in hex', examples: ['0x1'] });

const pageOf = <Row>(row: z.ZodType<Row>) =>
  z.strictObject({
    result: z.array(row),
    total: count.meta({
      description: 'Rows of all pages together, as the first page counted them; a million at most',
    }),
    cursor: text.exactOptional().meta({ description: 'Of the next page; absent on the last' }),
    page_size: count.exactOptional().meta({ description: 'Only on the last page' }),
  });

const limits = {
  maxInFlight: z.int().nullable(),
  maxPerSecond: number.nullable(),
  strictOrder: flag,
};

const evmStream: z.ZodType<EvmStream> = z.strictObject({
  id: uuid,
  webhookUrl: text,
  description: text,
  tag: text,
  chainIds: z.array(chainId),
  topic0: texts.nullable(),
  allAddresses: flag,
  includeNativeTxs: flag,
  includeContractLogs: flag,
  includeInternalTxs: flag,
  includeAllTxLogs: flag,
  getNativeBalances: z.array(nativeBalanceSelectionSchema),
  abi: z.array(abiItemSchema).nullable(),
  advancedOptions: z.array(advancedOptionSchema).nullable(),
  demo: flag,
  triggers: z.array(triggerSchema).nullable(),
  filterPossibleSpamAddresses: flag,
  deliver: z.enum(['both', 'confirmed']),
  notifyRemoved: flag,
  headers,
  ...limits,
  status,
  statusMessage: text,
  isErrorSince: dateTime.nullable(),
  createdAt: dateTime,
  updatedAt: dateTime,
  amountOfAddresses: count,
});

const aptosStream: z.ZodType<AptosStream> = z.strictObject({
  id: uuid,
  webhookUrl: text,
  description: text,
  tag: text,
  network: networks,
  functions: texts,
  events: texts,
  includePayload: flag,
  includeEvents: flag,
  includeChanges: flag,
  demo: flag,
  allAddresses: flag,
  headers,
  ...limits,
  status,
  statusMessage: text,
  isErrorSince: dateTime.nullable(),
  amountOfAddresses: count,
});

const aptosStreamStatus: z.ZodType<AptosStreamStatus> = z.strictObject({
  status,
  statusMessage: text,
});

const streamAddress: z.ZodType<StreamAddress> = z.strictObject({
  address: text,
  label: text.exactOptional(),
});

const watchedAddress: z.ZodType<WatchedAddress> = z.strictObject({
  address: text,
  label: text.exactOptional(),
  addedAt: unixMs,
  addedBy: text,
});

const addressesAnswer: z.ZodType<AddressesAnswer> = z.strictObject({
  streamId: uuid,
  address: z
    .union([text, texts])
    .meta({ description: 'As it was sent: one for one, a list for a list' }),
  effectiveFrom: z
    .record(text, count)
    .exactOptional()
    .meta({ description: 'Per chain, the first block the change applies to' }),
});

const webhookTriggers = z
  .array(z.strictObject({ name: text, value: z.unknown() }))
  .exactOptional()
  .meta({ description: 'What the triggers of the stream answered, in their order' });

const log: z.ZodType<WebhookLog> = z.strictObject({
  logIndex: text,
  transactionHash: text,
  address: text,
  data: text,
  topic0: textOrNull,
  topic1: textOrNull,
  topic2: textOrNull,
  topic3: textOrNull,
  triggers: webhookTriggers,
});

const transaction: z.ZodType<WebhookTransaction> = z.strictObject({
  hash: text,
  gas: textOrNull,
  gasPrice: textOrNull,
  nonce: textOrNull,
  input: textOrNull,
  transactionIndex: text,
  fromAddress: text,
  toAddress: textOrNull,
  value: textOrNull,
  type: textOrNull,
  v: textOrNull,
  r: textOrNull,
  s: textOrNull,
  receiptCumulativeGasUsed: textOrNull,
  receiptGasUsed: textOrNull,
  receiptContractAddress: textOrNull,
  receiptRoot: textOrNull,
  receiptStatus: textOrNull,
  triggers: webhookTriggers,
});

const internalTransaction: z.ZodType<WebhookInternalTransaction> = z.strictObject({
  from: textOrNull,
  to: textOrNull,
  value: textOrNull,
  gas: textOrNull,
  transactionHash: text,
  internalTransactionIndex: text.exactOptional(),
});

/** Where a decoded record comes from. */
const ofLog = { transactionHash: text, logIndex: text, contract: text };
const token = { tokenName: text, tokenSymbol: text };
const spam = { possibleSpam: flag.exactOptional() };

const erc20Transfer: z.ZodType<WebhookErc20Transfer> = z.strictObject({
  ...{ ...ofLog, ...token, ...spam },
  from: text,
  to: text,
  value: text,
  tokenDecimals: text,
  valueWithDecimals: text.exactOptional(),
  triggers: webhookTriggers,
});

const erc20Approval: z.ZodType<WebhookErc20Approval> = z.strictObject({
  ...{ ...ofLog, ...token, ...spam },
  owner: text,
  spender: text,
  value: text,
  tokenDecimals: text,
  valueWithDecimals: text.exactOptional(),
  triggers: webhookTriggers,
});

const nftTransfer: z.ZodType<WebhookNftTransfer> = z.strictObject({
  ...{ ...ofLog, ...token, ...spam },
  operator: textOrNull,
  from: text,
  to: text,
  tokenId: text,
  amount: text,
  tokenContractType: text,
  triggers: webhookTriggers,
});

const nftTokenApproval: z.ZodType<WebhookNftTokenApproval> = z.strictObject({
  ...{ ...ofLog, ...token, ...spam },
  account: text,
  operator: text,
  approvedAll: flag,
  tokenId: textOrNull,
  tokenContractType: text,
});

const webhookFields = {
  confirmed: flag,
  removed: z
    .literal(true)
    .exactOptional()
    .meta({ description: 'Only in the notice that the block left the chain' }),
  chainId,
  abi: z.array(abiItemSchema),
  streamId: text,
  tag: text,
  retries: count,
  block: z.strictObject({ number: text, hash: text, timestamp: text }),
  logs: z.array(log),
  txs: z.array(transaction),
  txsInternal: z.array(internalTransaction),
  erc20Transfers: z.array(erc20Transfer),
  erc20Approvals: z.array(erc20Approval),
  nftTokenApprovals: z.array(nftTokenApproval),
  nftApprovals: z.strictObject({
    ERC721: z.array(
      z.strictObject({
        ...{ ...ofLog, ...token },
        owner: text,
        approved: text,
        tokenId: text,
        tokenContractType: text,
      }),
    ),
    ERC1155: z.array(
      z.strictObject({
        ...{ ...ofLog, ...token },
        account: text,
        operator: text,
        approved: flag,
        tokenContractType: text,
      }),
    ),
  }),
  nftTransfers: z.array(nftTransfer),
  nativeBalances: z.array(z.strictObject({ address: text, balance: text })),
};

const evmWebhook: z.ZodType<EvmWebhook> = z.strictObject(webhookFields);

const aptosCoin: z.ZodType<AptosCoin> = z.strictObject({
  decimals: count.nullable(),
  name: text,
  symbol: text,
  type: text,
});

const aptosCoinMovement: z.ZodType<AptosCoinMovement> = z.strictObject({
  value: text,
  address: text,
  coin: aptosCoin,
  valueWithDecimals: z.number().nullable(),
  sequenceNumber: text,
  txHash: text,
});

const aptosRaw: z.ZodType<AptosRaw> = z.looseObject({ txHash: text });

const aptosWebhook: z.ZodType<AptosWebhook> = z.strictObject({
  streamId: text,
  tag: text,
  network: z.enum([...APTOS_NETWORKS, '']),
  block: z.strictObject({
    number: text,
    timestamp: text,
    hash: text,
    firstVersion: text,
    lastVersion: text,
  }),
  retries: count,
  coinTransfers: z.array(
    z.strictObject({
      coin: aptosCoin,
      to: text,
      value: text,
      from: text,
      valueWithDecimals: z.number().nullable(),
      transaction: text,
      txHash: text,
    }),
  ),
  coinDeposits: z.array(aptosCoinMovement),
  coinWithdrawals: z.array(aptosCoinMovement),
  transactions: z.array(
    z.strictObject({
      gasLimit: text,
      gasUnitPrice: text,
      gasUsed: text,
      hash: text,
      stateChangeHash: text,
      eventChangeHash: text,
      success: flag,
      type: text,
      sender: text,
    }),
  ),
  changes: z.array(aptosRaw),
  payloads: z.array(aptosRaw),
  events: z.array(z.array(aptosRaw)),
});

const dryRunAnswer = z.strictObject(webhookFields).partial().meta({
  description: 'The webhook that would be sent',
}) as unknown as z.ZodType<DryRunAnswer>;

const historyRecord: z.ZodType<HistoryRecord> = z.strictObject({
  id: uuid,
  date: dateTime,
  payload: z
    .record(text, z.unknown())
    .exactOptional()
    .meta({ description: 'The webhook as it was sent last; absent with excludePayload' }),
  tinyPayload: z.strictObject({
    chainId,
    confirmed: flag,
    block: text,
    records: count,
    retries: count,
  }),
  errorMessage: text,
  webhookUrl: text,
  streamId: uuid,
  tag: text,
});

const deliveryLog: z.ZodType<DeliveryLog> = z.strictObject({
  id: uuid,
  streamId: uuid,
  chain: chainId,
  webhookUrl: text,
  tag: text,
  retries: count,
  deliveryStatus: z.enum(['failed', 'success']),
  blockNumber: count,
  errorMessage: text,
  type: z.enum(['evm', 'aptos']),
  createdAt: dateTime,
  updatedAt: dateTime.exactOptional(),
});

const settings: z.ZodType<Settings> = z.strictObject({
  region: z.enum(REGIONS).optional(),
  secretKey: text.optional().meta({ description: 'The streams secret, which signs every webhook' }),
});

const counters = {
  totalWebhooksDelivered: count,
  totalWebhooksFailed: count.meta({ description: 'Given up after the last attempt' }),
  totalLogsProcessed: count.meta({ description: 'Of confirmed webhooks, failed ones too' }),
  totalTxsProcessed: count,
  totalTxsInternalProcessed: count,
} satisfies Record<keyof StatsCounters, z.ZodType<number>>;

const period = { createdAt: dateTime.exactOptional(), updatedAt: dateTime.exactOptional() };

const stats: z.ZodType<Stats> = z.strictObject({
  ...counters,
  streams: z
    .array(z.strictObject({ streamId: uuid, ...counters }))
    .exactOptional()
    .meta({ description: 'Those that are not deleted; the totals count deleted ones, too' }),
  ...period,
});

const streamStats: z.ZodType<StreamStats> = z.strictObject({
  streamId: uuid.exactOptional(),
  ...counters,
  ...period,
});

const historicalJobAnswer: z.ZodType<HistoricalJobAnswer> = z.strictObject({
  message: text,
  totalPartitions: count,
  jobId: uuid.exactOptional(),
});

const byField = z.record(text, z.unknown()).exactOptional();
const error: z.ZodType<ErrorBody & { requestId: string }> = z.strictObject({
  message: z.union([text, texts]),
  details: byField.meta({ description: 'By field: what it should be, and the value that came' }),
  fields: byField.meta({ description: 'The same, of any status but 422' }),
  requestId: text.meta({ description: 'Also in x-request-id' }),
});

const aboutBody = text.meta({
  description: 'What its body says, for people: `Transfer 250 USDC 0x28c6…1d60 → 0x5a52…efcb +2`',
});

const deliverySummaryFields = {
  id: uuid,
  streamId: uuid,
  matchId: uuid,
  tag: text,
  chainId,
  blockNumber: count,
  phase: z.enum(['unconfirmed', 'confirmed', 'removed']),
  state: z.enum(DELIVERY_STATES),
  records: count,
  about: aboutBody,
  attempts: count,
  status: count.nullable(),
  error: textOrNull,
  durationMs: number.nullable(),
  createdAt: unixMs,
  updatedAt: unixMs,
  nextAttemptAt: unixMs.nullable(),
};

const deliverySummary: z.ZodType<DeliverySummary> = z.strictObject(deliverySummaryFields);

const deliveryAttempt: z.ZodType<DeliveryAttempt> = z.strictObject({
  number: count,
  webhookUrl: text,
  startedAt: unixMs,
  durationMs: number,
  status: count.nullable(),
  error: textOrNull,
  responseBody: text,
  parts: z
    .strictObject({
      dnsMs: number.nullable(),
      connectMs: number.nullable(),
      tlsMs: number.nullable(),
      waitMs: number.nullable(),
      bodyMs: number.nullable(),
    })
    .nullable()
    .meta({ description: 'Where the time went; on an open connection only waitMs and bodyMs' }),
  address: textOrNull,
  certificate: z
    .strictObject({
      subject: text,
      issuer: text,
      names: z.array(text),
      validFrom: unixMs,
      expiresAt: unixMs,
      expiresSoon: z.boolean(),
    })
    .nullable(),
});

const deliveryDetail: z.ZodType<DeliveryDetail> = z.strictObject({
  ...deliverySummaryFields,
  blockHash: text,
  webhookUrl: text,
  bodyBytes: number.meta({ description: 'Length of its body' }),
  attemptList: z.array(deliveryAttempt),
  labels: z.record(text, text).meta({
    description: 'Of addresses in the body that the stream watches: the label by the address',
  }),
  pair: deliverySummary.nullable().meta({
    description: 'Of the same match in the other phase: confirmed or removed, or unconfirmed',
  }),
  laterWaitsMs: z.array(number).meta({
    description: 'Of one that waits: the waits behind its next attempt, should each fail',
  }),
});

const deliveryPage: z.ZodType<DeliveryPage> = z.strictObject({
  result: z.array(deliverySummary),
  cursor: text.exactOptional(),
});

const about: z.ZodType<About> = z.strictObject({
  version: text,
  environment: z.enum(['dev', 'prod']),
  store: z.enum(['sqlite', 'postgres']),
  deliveredMs: number,
  undeliveredMs: number,
  retryWaitsMs: z.array(number),
  quickRetryMs: number.nullable(),
  oldestDeliveryAt: unixMs.nullable(),
  abiChains: z.array(chainId),
});

const facet = z.array(z.strictObject({ value: text, count }));
const deliveryFacets: z.ZodType<DeliveryFacets> = z.strictObject({
  total: count,
  isCapped: flag,
  state: facet,
  status: facet,
  streamId: facet,
  chainId: facet,
  phase: facet,
  reorged: facet,
  attempts: facet,
  age: facet,
});

const explainReason: z.ZodType<ExplainReason> = z.strictObject({
  stage: z.enum(EXPLAIN_STAGES),
  outcome: z.enum(EXPLAIN_OUTCOMES),
  what: text,
});

const explainedRecord: z.ZodType<ExplainedRecord> = z.strictObject({
  kind: z.enum(['log', 'transaction', 'internalTransaction']),
  index: count,
  transactionHash: text,
  taken: flag,
  reasons: z.array(explainReason),
});

const streamVerdict: z.ZodType<StreamVerdict> = z.strictObject({
  streamId: uuid,
  tag: text,
  changedAt: unixMs,
  verdict: z.enum(EXPLAIN_VERDICTS),
  because: explainReason,
  stages: z.array(explainReason),
  recordCount: count,
  records: z.array(explainedRecord),
  deliveries: z.array(deliverySummary),
});

const explanation: z.ZodType<Explanation> = z.strictObject({
  query: text,
  kind: z.enum(EXPLAIN_KINDS),
  chainId: chainId.nullable(),
  block: z.strictObject({ number: count, hash: text, timestamp: count.nullable() }).nullable(),
  transactionHash: textOrNull,
  message: text,
  stages: z.array(explainReason),
  streams: z.array(streamVerdict),
});

const activityPoint: z.ZodType<ActivityPoint> = z.strictObject({
  at: unixMs,
  delivered: count,
  failed: count,
  failedAttempts: count,
  retries: count,
  failures: z.strictObject({ none: count, '3xx': count, '4xx': count, '5xx': count }),
  p50Ms: count.nullable(),
  p95Ms: count.nullable(),
});

const activity: z.ZodType<Activity> = z.strictObject({
  stepMinutes: z.union([z.literal(1), z.literal(5), z.literal(60)]),
  result: z.array(activityPoint),
});

const activityBreakdown: z.ZodType<ActivityBreakdown> = z.strictObject({
  from: unixMs,
  statuses: z.array(z.strictObject({ status: count.nullable(), attempts: count })),
  chains: z.array(
    z.strictObject({
      ...{ chainId, delivered: count, failedAttempts: count, matched: count },
      p95Ms: count.nullable(),
    }),
  ),
  records: z.array(z.strictObject({ what: text, signature: text.nullable(), matched: count })),
});

const streamChange: z.ZodType<StreamChange> = z.strictObject({
  at: unixMs,
  kind: z.enum(STREAM_CHANGE_KINDS),
  fields: z.array(text),
  by: text.nullable(),
});

const tapeBlock: z.ZodType<TapeBlock> = z.strictObject({
  number: count,
  hash: text,
  matches: count,
  delivered: count,
  waiting: count,
  failed: count,
  cancelled: count,
  confirmed: flag,
  removed: flag,
});

const streamTape: z.ZodType<StreamTape> = z.strictObject({
  streamId: text,
  chains: z.array(z.strictObject({ chainId, from: count, blocks: z.array(tapeBlock) })),
});

const reorg: z.ZodType<Reorg> = z.strictObject({
  chainId,
  blockNumber: count,
  depth: count,
  at: unixMs,
});

const nearMiss: z.ZodType<NearMiss> = z.strictObject({
  event: text,
  name: text,
  operator: z.enum(['lt', 'lte', 'gt', 'gte']),
  wanted: text,
  count,
  min: text,
  max: text,
});

const seenEvent: z.ZodType<SeenEvent> = z.strictObject({
  topic0: text,
  signature: text.nullable(),
  indexed: count,
  count,
});

const seenMovePath: z.ZodType<SeenMovePath> = z.strictObject({
  kind: z.enum(['function', 'event']),
  path: text,
  count,
});

const expiry: z.ZodType<Expiry> = z.strictObject({
  at: unixMs.nullable(),
  deliveries: count,
  bodyBytes: count,
  isCapped: flag,
});

const chainGap: z.ZodType<ChainGap> = z.strictObject({
  chainId,
  kind: z.enum(['skipped', 'restarted', 'passed-over', 'halted']),
  from: count,
  to: count.nullable(),
  reason: text,
  at: unixMs,
  endedAt: unixMs.nullable(),
});

const inboxAnswer: z.ZodType<InboxAnswer> = z.strictObject({
  status: count,
  delayMs: count,
  body: text,
  failFirst: count,
  failEvery: count,
  failStatus: count,
});

const inbox: z.ZodType<Inbox> = z.strictObject({
  name: text,
  url: text,
  answer: inboxAnswer,
  received: count,
  kept: count,
  lastAt: unixMs.nullable(),
});

const inboxDelivery: z.ZodType<InboxDelivery> = z.strictObject({
  streamId: uuid,
  tag: text,
  chainId,
  blockNumber: count,
  phase: z.enum(['unconfirmed', 'confirmed', 'removed']),
  about: aboutBody,
});

const inboxRequestFields = {
  id: uuid,
  inbox: text,
  receivedAt: unixMs,
  webhookId: text,
  delivery: inboxDelivery.nullable(),
  verified: flag,
  status: count,
  sizeBytes: count,
};
const inboxRequestSummary: z.ZodType<InboxRequestSummary> = z.strictObject(inboxRequestFields);

const inboxRequest: z.ZodType<InboxRequest> = z.strictObject({
  ...inboxRequestFields,
  answer: z.strictObject({ body: text, delayMs: count }),
  headers,
  body: text,
});

const addressPage: z.ZodType<AddressPage> = z.strictObject({
  result: z.array(watchedAddress),
  cursor: text.exactOptional(),
});

const inboxPage: z.ZodType<InboxPage> = z.strictObject({
  result: z.array(inboxRequestSummary),
  cursor: text.exactOptional(),
});

const streamSummary: z.ZodType<StreamSummary> = z.strictObject({
  id: uuid,
  family: z.enum(['evm', 'aptos']),
  tag: text,
  description: text,
  webhookUrl: text,
  status,
  statusMessage: text,
  chainIds: z.array(chainId),
  allAddresses: flag,
  amountOfAddresses: count,
  topic0: texts,
  createdAt: unixMs,
  queue: count,
  delivered24h: count,
  failedAttempts24h: count,
  deliveredSeries: z
    .array(count)
    .meta({ description: 'Per 5 minutes, oldest first, the last 2 hours' }),
  hourlyDelivered: z
    .array(count)
    .meta({ description: 'Of 23 hours of the clock, oldest first, and of the last 60 minutes' }),
  hourlyFailed: z.array(count).meta({ description: 'Failed attempts, likewise' }),
  p95Ms: count.nullable(),
  lastDeliveryAt: unixMs.nullable(),
  failingSince: unixMs.nullable(),
  paused: z
    .strictObject({ at: unixMs, by: text })
    .nullable()
    .meta({ description: 'Since when it is paused, and by which key' }),
  spared: z
    .strictObject({ reason: z.enum(['failures', 'throttled']), since: unixMs, until: unixMs })
    .nullable()
    .meta({
      description: 'Its receiver is sent nothing for a while; null while it is sent what is due',
    }),
  certificateEndsAt: unixMs.nullable(),
});

const providerHealth: z.ZodType<ProviderHealth> = z.strictObject({
  name: text,
  state: z.enum(['good', 'lagging', 'limited', 'down', 'wrong-chain']),
  message: text,
  head: count.nullable(),
  latencyMs: number.nullable(),
  failures: count,
  disagreements: count,
  score: z.strictObject({
    total: count,
    latency: count,
    lag: count,
    failures: count,
    doubt: count,
  }),
  isFollowed: flag,
  hasVoice: flag,
});

const chainProgress: z.ZodType<ChainProgress> = z.strictObject({
  from: count,
  to: count,
  perSecond: number,
  secondsLeft: number.nullable(),
});

const chainHealth: z.ZodType<ChainHealth> = z.strictObject({
  id: text,
  name: text,
  code: text,
  state: z.enum(['starting', 'live', 'catching-up', 'down']),
  message: text,
  head: count.nullable(),
  headAgeMs: count.nullable(),
  checkpoint: count.nullable(),
  confirmations: z.union([count, z.literal('finalized')]),
  confirmedUpTo: count.nullable(),
  safe: count.nullable(),
  finalized: count.nullable(),
  agreement: z
    .strictObject({
      blockNumber: count,
      state: z.enum(['agreed', 'alone', 'outvoted', 'disagreed']),
    })
    .nullable(),
  providers: z.array(providerHealth),
  progress: chainProgress.nullable(),
  unverified: z.strictObject({ blocks: count, latest: count, reason: text }).nullable(),
  blocks: z.array(z.strictObject({ number: count, hash: text, timestamp: count, matches: count })),
});

const chainResumed: z.ZodType<ChainResumed> = z.strictObject({ chainId, from: count });

const chainCoverage: z.ZodType<ChainCoverage> = z.strictObject({
  chainId,
  from: count.nullable(),
  to: count.nullable(),
  holes: z.array(
    z.strictObject({
      from: count,
      to: count,
      reason: z.enum(['paused', 'terminated', 'resumed', 'before']),
    }),
  ),
  unverified: z.array(z.strictObject({ from: count, to: count, reason: text })),
});

const streamCoverage: z.ZodType<StreamCoverage> = z.strictObject({
  result: z.array(chainCoverage),
});

const replayEstimate: z.ZodType<ReplayEstimate> = z.strictObject({
  deliveries: count,
  bytes: count,
  isCapped: flag,
});

const oneOrSeveral = z.union([text, texts]).exactOptional();

const deliveryFilter: z.ZodType<DeliveryFilter> = z.strictObject({
  id: oneOrSeveral,
  streamId: oneOrSeveral,
  chainId: oneOrSeveral,
  state: z.array(z.enum(DELIVERY_STATES)).exactOptional(),
  phase: z.array(z.enum(['unconfirmed', 'confirmed', 'removed'])).exactOptional(),
  status: oneOrSeveral,
  error: text.exactOptional(),
  blockFrom: count.exactOptional(),
  blockTo: count.exactOptional(),
  createdFrom: unixMs.exactOptional(),
  createdTo: unixMs.exactOptional(),
  attemptsFrom: count.exactOptional(),
  attemptsTo: count.exactOptional(),
  reorged: z.boolean().exactOptional(),
  replayId: uuid.exactOptional(),
});

const replay: z.ZodType<Replay> = z.strictObject({
  id: uuid,
  name: text,
  filter: deliveryFilter,
  perSecond: number,
  state: z.enum(REPLAY_STATES),
  total: count,
  replayed: count,
  succeeded: count,
  failed: count,
  waiting: count,
  createdBy: text,
  createdAt: unixMs,
  updatedAt: unixMs,
});

const replayProgress: z.ZodType<ReplayProgress> = z.strictObject({
  stepMs: count,
  succeeded: z.array(count),
  failed: z.array(count),
});

const job: z.ZodType<Job> = z.strictObject({
  id: uuid,
  streamId: uuid,
  chainId,
  blockFrom: count,
  blockTo: count,
  nextBlock: count,
  state: z.enum(JOB_STATES),
  message: text,
  matches: count,
  createdAt: unixMs,
  updatedAt: unixMs,
});

const scopes = z.array(z.enum(SCOPES));

const apiKeyFields = {
  id: text,
  name: text,
  scopes,
  cidrs: texts,
  createdAt: unixMs,
  expiresAt: unixMs.nullable(),
  lastUsedAt: unixMs.nullable(),
  revokedAt: unixMs.nullable(),
};

const apiKey: z.ZodType<ApiKey> = z.strictObject(apiKeyFields);

const createdApiKey: z.ZodType<CreatedApiKey> = z.strictObject({ ...apiKeyFields, key: text });

const streamSecret: z.ZodType<StreamSecret> = z.strictObject({
  streamId: uuid,
  secret: text,
  createdAt: unixMs,
  previous: z.array(z.strictObject({ secret: text, endsAt: unixMs })),
});

const auditPage: z.ZodType<AuditPage> = z.strictObject({
  result: z.array(
    z.strictObject({
      seq: count,
      at: unixMs,
      action: text,
      keyId: text,
      address: text,
      target: text,
      previousHash: text,
      hash: text,
    }),
  ),
  cursor: text.exactOptional(),
});

/** By the name each has in the OpenAPI document. */
export const ANSWER_SCHEMAS = {
  AbiItem: abiItemSchema,
  AbiParameter: abiParameterSchema,
  AdvancedOption: advancedOptionSchema,
  NativeBalanceSelection: nativeBalanceSelectionSchema,
  Trigger: triggerSchema,
  EvmStream: evmStream,
  EvmStreamPage: pageOf(evmStream),
  AptosStream: aptosStream,
  AptosStreamPage: pageOf(aptosStream),
  AptosStreamStatus: aptosStreamStatus,
  StreamAddress: streamAddress,
  StreamAddressPage: pageOf(streamAddress),
  AddressesAnswer: addressesAnswer,
  EvmWebhook: evmWebhook,
  DryRunAnswer: dryRunAnswer,
  HistoryRecord: historyRecord,
  HistoryPage: pageOf(historyRecord),
  DeliveryLog: deliveryLog,
  DeliveryLogPage: pageOf(deliveryLog),
  Settings: settings,
  Stats: stats,
  StreamStats: streamStats,
  HistoricalJobAnswer: historicalJobAnswer,
  Error: error,
  DeliverySummary: deliverySummary,
  DeliveryPage: deliveryPage,
  DeliveryFacets: deliveryFacets,
  About: about,
  DeliveryDetail: deliveryDetail,
  StreamSummaryList: z.strictObject({ result: z.array(streamSummary) }),
  Explanation: explanation,
  Contract: z.strictObject({
    isContract: flag,
    token: z
      .strictObject({
        ...{ name: text, symbol: text, decimals: count.nullable() },
        standard: z.enum(['ERC721', 'ERC1155', '']),
      })
      .nullable(),
  } satisfies Record<keyof Contract, z.ZodType>),
  ResolvedName: z.strictObject({
    name: text,
    address: text,
    chainId: text,
  } satisfies Record<keyof ResolvedName, z.ZodType>),
  ContractAbi: z.strictObject({
    abi: z.array(abiItemSchema),
    implementation: text.nullable(),
    source: text,
  } satisfies Record<keyof ContractAbi, z.ZodType>),
  Activity: activity,
  ActivityBreakdown: activityBreakdown,
  StreamChangeList: z.strictObject({ result: z.array(streamChange) }),
  StreamTapeList: z.strictObject({ result: z.array(streamTape) }),
  ReorgList: z.strictObject({ result: z.array(reorg) }),
  Expiry: expiry,
  GapList: z.strictObject({ result: z.array(chainGap) }),
  Inbox: inbox,
  InboxList: z.strictObject({ result: z.array(inbox) }),
  AddressPage: addressPage,
  InboxPage: inboxPage,
  InboxRequest: inboxRequest,
  EvmDryRunAnswer: z.strictObject({
    webhook: evmWebhook.nullable(),
    near: z.array(nearMiss),
    seen: z.array(seenEvent),
  }),
  AptosDryRunAnswer: z.strictObject({
    webhook: aptosWebhook.nullable(),
    seen: z.array(seenMovePath),
  }),
  ChainHealthList: z.strictObject({ result: z.array(chainHealth) }),
  ChainResumed: chainResumed,
  StreamCoverage: streamCoverage,
  Job: job,
  ReplayEstimate: replayEstimate,
  Replay: replay,
  ReplayProgress: replayProgress,
  ReplayList: z.strictObject({ result: z.array(replay) }),
  JobList: z.strictObject({ result: z.array(job) }),
  ApiKeyList: z.strictObject({ result: z.array(apiKey) }),
  ApiKey: apiKey,
  CreatedApiKey: createdApiKey,
  StreamSecret: streamSecret,
  AuditPage: auditPage,
};
