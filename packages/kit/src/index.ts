/** `@sluice/kit`: a client for Sluice and the hosted Streams API, and the receiving of webhooks. */

// Client
export { createClient } from './client/client.ts';
export type { Stream } from './client/compatible/answers.ts';
export type {
  AptosStreamChanges,
  AptosStreamFields,
  BlockChoice,
  Client,
  ClientOptions,
  DryRunOptions,
  HistoricalJobOptions,
  HistoryClient,
  LabelOptions,
  ListAddressesOptions,
  ListHistoryOptions,
  ListLogsOptions,
  ListStreamsOptions,
  NetworkChoice,
  Networks,
  NetworkType,
  SettingsClient,
  StatsClient,
  StreamCallOptions,
  StreamChanges,
  StreamFields,
  StreamsClient,
} from './client/client.ts';
export type { ListOptions } from './client/calls.ts';
export type { AnyPage, ListedPage, ListResult } from './client/pages.ts';
export type {
  CallOptions,
  CallResult,
  ConnectionOptions,
  ReceivedResponse,
  Retry,
  SentRequest,
  WithResponse,
} from './client/request.ts';

// Errors
export { isSluiceError, SluiceError } from './errors.ts';
export type { SluiceErrorCode, SluiceErrorContext } from './errors.ts';

// Webhooks
export { verifySignature } from './webhooks/verify.ts';
export type { VerificationKey, VerifySignatureOptions } from './webhooks/verify.ts';
export { isAptosWebhook, unwrap } from './webhooks/unwrap.ts';
export type {
  ReceivedAptosWebhook,
  ReceivedWebhook,
  RefusalReason,
  UnwrapOptions,
  UnwrapRules,
  WebhookFamily,
  WebhookKey,
} from './webhooks/unwrap.ts';
export type { WebhookHeaders } from './webhooks/adapters/headers.ts';
export type { RawBody } from './webhooks/adapters/rawBody.ts';
export { unwrapNotice } from './webhooks/unwrapNotice.ts';
export type { ReceivedNotice } from './webhooks/unwrapNotice.ts';
export { diagnose } from './webhooks/diagnose.ts';
export type { Diagnosis, DiagnoseOptions, SignatureProblem } from './webhooks/diagnose.ts';
export { createHandler } from './webhooks/handler/handler.ts';
export type {
  Handle,
  HandlerOptions,
  Handles,
  IncomingWebhook,
  OnChain,
  WebhookAnswer,
  WebhookHandler,
  WebhookReceiver,
} from './webhooks/handler/types.ts';
export { NeverAgain, RetryLater } from './webhooks/outcomes.ts';
export type { RetryLaterOptions } from './webhooks/outcomes.ts';
export { createMemorySeenStore } from './webhooks/seen.ts';
export type { MemorySeenStore, MemorySeenStoreOptions, SeenStore } from './webhooks/seen.ts';
export { decodeLogs } from './webhooks/decode.ts';
export type {
  AddressSpelling,
  DecodedLog,
  DecodedLogOf,
  DecodedLogs,
  DecodeOptions,
  LogSource,
  UndecodedLog,
  UndecodedReason,
} from './webhooks/decode.ts';
export type { DecodedValue } from './contract/rules/abi.ts';
export { describeWebhook } from './webhooks/describe.ts';
export type { DescribedAptosWebhook, DescribedEvmWebhook } from './webhooks/describe.ts';

// Shapes on the wire
export type { Region, Settings } from './contract/shapes/account.ts';
export type { Stats, StatsCounters, StreamStats } from './contract/shapes.generated.ts';
export type { AptosNetwork } from './contract/shapes/aptos.ts';
export type { AptosStream, AptosStreamStatus } from './contract/shapes.generated.ts';
export type {
  AptosCoin,
  AptosCoinMovement,
  AptosCoinTransfer,
  AptosRaw,
  AptosWebhook,
  AptosWebhookBlock,
  AptosWebhookTransaction,
} from './contract/shapes.generated.ts';
export type { DryRunAnswer, HistoricalJobAnswer } from './contract/shapes.generated.ts';
export type { OperatorNotice } from './contract/shapes/notices.ts';
export type { DeliveryStatus } from './contract/shapes/history.ts';
export type { DeliveryLog, HistoryRecord } from './contract/shapes.generated.ts';
export type {
  AbiItem,
  AbiParameter,
  AdvancedOption,
  NativeBalanceSelection,
  Page,
  RecordKind,
  StreamStatus,
  StreamTrigger,
} from './contract/shapes/streams.ts';
export type { AddressesAnswer, StreamAddress } from './contract/shapes.generated.ts';
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
} from './contract/shapes.generated.ts';
