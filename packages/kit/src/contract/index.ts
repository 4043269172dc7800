/**
 * The wire contract as a whole: what a server, a test kit or a schema generator needs. The only
 * entry of the kit that needs the optional peer `zod`.
 */

// Routes
export { ROUTES } from './routes.ts';
export type { Access, Route, RouteName } from './routes.ts';
export { DELIVERY_STATES, JOB_STATES, SLUICE_ROUTES } from './sluice.ts';
export { hashAuditRecord, SCOPES } from './access.ts';

export type { OperatorNotice } from './notices.ts';
export { REPLAY_STATES, UNDELIVERED } from './replays.ts';
export type {
  CreateReplay,
  DeliveryFilter,
  OneOrSeveral,
  Replay,
  ReplayEstimate,
  ReplayProgress,
  ReplayState,
} from './replays.ts';

// Shapes of the compatible API
export { PAGE_LIMIT } from './streams.ts';
export type {
  AbiItem,
  AbiParameter,
  AddressesAnswer,
  AddressesBody,
  AdvancedOption,
  ChainFamily,
  CreateEvmStream,
  DeliverMode,
  ErrorBody,
  EvmStream,
  LabelledAddressesBody,
  NativeBalanceSelection,
  Optional,
  Page,
  RecordKind,
  AddressPage,
  ListAddresses,
  StreamAddress,
  StreamLimits,
  StreamStatus,
  StreamTrigger,
  UpdateEvmStream,
  WatchedAddress,
} from './streams.ts';

export {
  APTOS_CHAINS,
  APTOS_NETWORKS,
  findAptosNetwork,
  padAptosAddress,
  shortenMovePath,
  toMovePath,
  toAptosChain,
  toAptosNetwork,
} from './aptos.ts';
export type {
  AptosChain,
  AptosNetwork,
  AptosStream,
  AptosStreamStatus,
  CreateAptosStream,
  UpdateAptosStream,
} from './aptos.ts';
export type {
  DeliveryLog,
  DeliveryStatus,
  HistoryFilter,
  HistoryRecord,
  LogFilter,
} from './history.ts';
export { REGIONS } from './account.ts';
export type { Region, Settings, Stats, StatsCounters, StreamStats } from './account.ts';
export type {
  AptosBackfill,
  AptosBlockChoice,
  AptosDryRun,
  AptosDryRunAnswer,
  EvmDryRun,
  EvmDryRunAnswer,
  NearMiss,
  SeenEvent,
  SeenMovePath,
  DryRunAnswer,
  DryRunBlock,
  HistoricalJob,
  HistoricalJobAnswer,
} from './blocks.ts';

// Why a webhook was sent, or not
export { EXPLAIN_KINDS, EXPLAIN_OUTCOMES, EXPLAIN_STAGES, EXPLAIN_VERDICTS } from './explain.ts';
export type {
  ExplainedRecord,
  Explanation,
  ExplainOutcome,
  ExplainReason,
  ExplainStage,
  ExplainVerdict,
  StreamVerdict,
} from './explain.ts';

// What charts are made of
export { ACTIVITY_STEPS, MOST_POINTS, STREAM_CHANGE_KINDS } from './activity.ts';
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
} from './activity.ts';

// The built-in receiver
export { DEFAULT_INBOX_ANSWER, isInboxName, readInboxName, toInboxUrl } from './inbox.ts';
export type {
  Inbox,
  InboxAnswer,
  InboxDelivery,
  InboxPage,
  InboxRequest,
  InboxRequestSummary,
} from './inbox.ts';

// Shapes of our own API
export type {
  ApiKey,
  AuditPage,
  AuditRecord,
  CreateApiKey,
  CreatedApiKey,
  RotateStreamSecret,
  Scope,
  StreamSecret,
} from './access.ts';
export type {
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
  AttemptParts,
  DeliveryAttempt,
  DeliveryDetail,
  About,
  DeliveryFacets,
  DeliveryOrder,
  DeliveryPage,
  DeliveryPhase,
  DeliveryState,
  DeliverySummary,
  Expiry,
  HoleReason,
  Job,
  JobState,
  LiveEvent,
  ProviderHealth,
  ProviderScore,
  ProviderState,
  ReceiverCertificate,
  SluiceRouteName,
  StreamCoverage,
  Spared,
  SparedReason,
  StreamSummary,
  UnverifiedBlocks,
  UnverifiedRange,
} from './sluice.ts';

// Run-time checks
export {
  abiItemSchema,
  abiParameterSchema,
  activityQuerySchema,
  advancedOptionSchema,
  aptosAddressesSchema,
  aptosBackfillSchema,
  aptosBlockChoiceSchema,
  aptosDryRunSchema,
  aptosLabelledAddressesSchema,
  chainLogQuerySchema,
  createApiKeySchema,
  createAptosStreamSchema,
  createEvmStreamSchema,
  createReplaySchema,
  deliveryFacetsQuerySchema,
  dryRunBlockSchema,
  estimateReplaySchema,
  evmAddressesSchema,
  evmDryRunSchema,
  evmLabelledAddressesSchema,
  explainQuerySchema,
  historicalJobSchema,
  inboxAnswerSchema,
  isAddressLabel,
  listAddressesQuerySchema,
  listDeliveriesQuerySchema,
  listHistoryQuerySchema,
  listLogsQuerySchema,
  listQuerySchema,
  listStreamsQuerySchema,
  listTapesSchema,
  nativeBalanceSelectionSchema,
  rotateStreamSecretSchema,
  settingsSchema,
  streamStatusSchema,
  triggerSchema,
  updateAptosStreamSchema,
  updateEvmStreamSchema,
} from './schemas.ts';

// Webhooks
export { TEST_APTOS_WEBHOOK } from './aptosWebhook.ts';
export type {
  AptosCoin,
  AptosCoinMovement,
  AptosCoinTransfer,
  AptosRaw,
  AptosWebhook,
  AptosWebhookBlock,
  AptosWebhookTransaction,
} from './aptosWebhook.ts';
export { DEFAULT_MAX_WEBHOOK_BYTES, TEST_WEBHOOK } from './webhook.ts';
export type {
  EvmWebhook,
  WebhookBlock,
  WebhookErc20Approval,
  WebhookErc20Transfer,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookNativeBalance,
  WebhookNftApprovals,
  WebhookNftTokenApproval,
  WebhookNftTransfer,
  WebhookTransaction,
  WebhookTrigger,
} from './webhook.ts';

// Signatures and hashes
export { hmacSha256, keccak256 } from './hash.ts';
export {
  readStandardWebhookKey,
  signStandardWebhook,
  signWebhook,
  WEBHOOK_HEADERS,
} from './signature.ts';
export type { StandardWebhook } from './signature.ts';

// Chains, addresses, events
export { parseRetryAfter } from './retryAfter.ts';
export { CONTRACT_SCHEDULE_MS, isBrief, QUICK_RETRY_MS, readRetryAfterMs } from './schedule.ts';
export { confirmationsOf, DEFAULT_CONFIRMATIONS, EVM_CHAINS, findEvmChain } from './chains.ts';
export type { EvmChain } from './chains.ts';
export { toChainId } from './chainId.ts';
export { compileParameters } from './abi.ts';
export type { CompiledParameters, DecodedValue } from './abi.ts';
export { cutText } from './text.ts';
export { checksumAddress, toAddress } from './evm.ts';
export {
  canonicalType,
  eventSignature,
  eventTopic,
  findSignatureProblem,
  KNOWN_EVENTS,
  parseEventSignature,
} from './events.ts';
export { selectableOf } from './selectors.ts';
export type { Selectable } from './selectors.ts';
export type { EventSignature, SignatureProblem } from './events.ts';
