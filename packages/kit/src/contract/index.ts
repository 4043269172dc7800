/**
 * The wire contract as a whole: what a server, a test kit or a schema generator needs. The only
 * entry of the kit that needs the optional peer `zod`.
 */

// Routes
export { ROUTES, SLUICE_ROUTES } from './routes.generated.ts';
export type { Route, SluiceRoute } from './route.ts';
export { DELIVERY_STATES, JOB_STATES } from './shapes/sluice.ts';
export { hashAuditRecord } from './rules/auditHash.ts';
export { SCOPES } from './shapes/access.ts';

export type { OperatorNotice } from './shapes/notices.ts';
export { REPLAY_STATES, UNDELIVERED } from './shapes/replays.ts';
export type { CreateReplay, DeliveryFilter, OneOrSeveral, ReplayState } from './shapes/replays.ts';
export type * from './shapes.generated.ts';

// Shapes of the compatible API
export { PAGE_LIMIT } from './shapes/streams.ts';
export type {
  AbiItem,
  AbiParameter,
  AddressesBody,
  AdvancedOption,
  ChainFamily,
  CreateEvmStream,
  DeliverMode,
  ErrorBody,
  LabelledAddressesBody,
  NativeBalanceSelection,
  Optional,
  Page,
  RecordKind,
  ListAddresses,
  StreamLimits,
  StreamStatus,
  StreamTrigger,
  UpdateEvmStream,
} from './shapes/streams.ts';

export {
  APTOS_CHAINS,
  APTOS_NETWORKS,
  findAptosNetwork,
  padAptosAddress,
  shortenMovePath,
  toMovePath,
  toAptosChain,
  toAptosNetwork,
} from './shapes/aptos.ts';
export type {
  AptosChain,
  AptosNetwork,
  CreateAptosStream,
  UpdateAptosStream,
} from './shapes/aptos.ts';
export type { DeliveryStatus, HistoryFilter, LogFilter } from './shapes/history.ts';
export { REGIONS } from './shapes/account.ts';
export type { Region, Settings } from './shapes/account.ts';
export type {
  AptosBackfill,
  AptosBlockChoice,
  AptosDryRun,
  EvmDryRun,
  DryRunBlock,
  HistoricalJob,
} from './shapes/blocks.ts';

// Why a webhook was sent, or not
export {
  EXPLAIN_KINDS,
  EXPLAIN_OUTCOMES,
  EXPLAIN_STAGES,
  EXPLAIN_VERDICTS,
} from './shapes/explain.ts';
export type { ExplainOutcome, ExplainStage, ExplainVerdict } from './shapes/explain.ts';

// What charts are made of
export { ACTIVITY_STEPS, MOST_POINTS, STREAM_CHANGE_KINDS } from './shapes/activity.ts';
export type { ActivityStep, ListTapes, StreamChangeKind } from './shapes/activity.ts';

// The built-in receiver
export { DEFAULT_INBOX_ANSWER, isInboxName, readInboxName, toInboxUrl } from './shapes/inbox.ts';

// Shapes of our own API
export type { CreateApiKey, RotateStreamSecret, Scope } from './shapes/access.ts';
export type { LiveEvent } from './shapes/liveEvent.ts';
export type { DeliveryOrder, DeliveryPhase, DeliveryState, JobState } from './shapes/sluice.ts';

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
export { TEST_APTOS_WEBHOOK } from './shapes/aptosWebhook.ts';
export { DEFAULT_MAX_WEBHOOK_BYTES, TEST_WEBHOOK } from './shapes/webhook.ts';

// Signatures and hashes
export { hmacSha256, keccak256 } from './rules/hash.ts';
export {
  readStandardWebhookKey,
  signStandardWebhook,
  signWebhook,
  WEBHOOK_HEADERS,
} from './rules/signature.ts';
export type { StandardWebhook } from './rules/signature.ts';

// Chains, addresses, events
export { parseRetryAfter } from './rules/retryAfter.ts';
export {
  CONTRACT_SCHEDULE_MS,
  isBrief,
  QUICK_RETRY_MS,
  readRetryAfterMs,
} from './rules/schedule.ts';
export {
  confirmationsOf,
  DEFAULT_CONFIRMATIONS,
  EVM_CHAINS,
  findEvmChain,
} from './rules/chains.ts';
export type { EvmChain } from './rules/chains.ts';
export { toChainId } from './rules/chainId.ts';
export { compileParameters } from './rules/abi.ts';
export type { CompiledParameters, DecodedValue } from './rules/abi.ts';
export { cutText } from './rules/text.ts';
export { checksumAddress, toAddress } from './rules/evm.ts';
export {
  canonicalType,
  eventSignature,
  eventTopic,
  findSignatureProblem,
  KNOWN_EVENTS,
  parseEventSignature,
} from './rules/events.ts';
export { selectableOf } from './rules/selectors.ts';
export type { Selectable } from './rules/selectors.ts';
export type { EventSignature, SignatureProblem } from './rules/events.ts';
