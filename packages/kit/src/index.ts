/** `@sluice/kit`: a client for Sluice and the hosted Streams API, and webhook receivers. */

// Client
export * from './client/client.ts';
export type { LabelOptions } from './client/compatible/arguments.ts';
export type {
  AptosStreamChanges,
  AptosStreamFields,
  BlockIdentifier,
  DryRunOptions,
  HistoricalJobOptions,
  Networks,
  NetworkType,
  Stream,
  StreamChanges,
  StreamFields,
} from './families/client.ts';
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
export type { FieldProblem, SluiceErrorCode, SluiceErrorContext } from './errors.ts';

// Webhooks
export { verifySignature } from './webhooks/verify.ts';
export type { VerificationKey, VerifySignatureOptions } from './webhooks/verify.ts';
export { isAptosWebhook } from './families/webhooks.ts';
export type { ReceivedAptosWebhook, ReceivedWebhook, WebhookFamily } from './families/webhooks.ts';
export { unwrap } from './webhooks/unwrap.ts';
export type { RejectionReason, UnwrapOptions, UnwrapRules, WebhookKey } from './webhooks/unwrap.ts';
export type { WebhookHeaders } from './webhooks/adapters/headers.ts';
export type { RawBody } from './webhooks/adapters/rawBody.ts';
export * from './webhooks/unwrapAlert.ts';
export { diagnose } from './webhooks/diagnose.ts';
export type { Diagnosis, DiagnoseOptions, SignatureProblem } from './webhooks/diagnose.ts';
export { diagnoseWithPublicKey, unwrapWithPublicKey } from './webhooks/publicKey.ts';
export type {
  DiagnosePublicKeyOptions,
  PublicKeyOptions,
  PublicKeys,
} from './webhooks/publicKey.ts';
export { createHandler } from './webhooks/handler/handler.ts';
export { createHandlerWithPublicKey } from './webhooks/handler/publicKeyHandler.ts';
export type { HandlerFunction, HandlerFunctions, WithChainId } from './families/handlerMethods.ts';
export type {
  HandlerOptions,
  IncomingWebhook,
  PublicKeyHandlerOptions,
  WebhookResponse,
  WebhookHandler,
  WebhookReceiver,
} from './webhooks/handler/types.ts';
export { DoNotRetry, RetryLater } from './webhooks/outcomes.ts';
export type { RetryLaterOptions } from './webhooks/outcomes.ts';
export * from './webhooks/seen.ts';
export { decodeCalls } from './webhooks/decodeCalls.ts';
export type {
  CallSource,
  DecodedCall,
  DecodedCallOf,
  DecodedCalls,
  UndecodedCall,
  UndecodedCallReason,
} from './webhooks/decodeCalls.ts';
export { decodeReads } from './webhooks/decodeReads.ts';
export type {
  DecodedRead,
  DecodedReadOf,
  DecodedReadValue,
  ReadEntry,
  ReadSource,
} from './webhooks/decodeReads.ts';
export { decodeLogs } from './webhooks/decode.ts';
export type {
  AddressFormat,
  DecodedLog,
  DecodedLogOf,
  DecodedLogs,
  DecodeOptions,
  LogSource,
  UndecodedLog,
  UndecodedReason,
} from './webhooks/decode.ts';
export type { DecodedValue, TextFormat } from './contract/rules/abi/values.ts';
export * from './families/describe.ts';
export * from './webhooks/logProof.ts';

// Wire format
export type { WebhookOrigin } from './contract/rules/signature.ts';
export * from './contract/unverified.ts';
export type { Page } from './contract/generic.ts';
export type * from './contract/alerts.ts';
export type {
  AbiItem,
  AbiParameter,
  AddressesResponse,
  AdvancedOption,
  AptosCoin,
  AptosCoinMovement,
  AptosCoinTransfer,
  AptosNetwork,
  AptosRawObject,
  AptosStream,
  AptosStreamStatus,
  AptosWebhook,
  AptosWebhookBlock,
  AptosWebhookTransaction,
  DeliveryLog,
  DeliveryStatus,
  DryRunResult,
  EvmWebhook,
  HistoricalJobResponse,
  HistoryRecord,
  ListOptions,
  NativeBalanceSelection,
  RecordKind,
  ReadCondition,
  Region,
  Settings,
  Stats,
  StatsCounters,
  StreamAddress,
  StreamRead,
  StreamStats,
  StreamStatus,
  StreamTrigger,
  WebhookBlock,
  WebhookErc20Approval,
  WebhookErc20Transfer,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookNativeBalance,
  WebhookNftApprovals,
  WebhookNftTokenApproval,
  WebhookNftTransfer,
  WebhookRead,
  WebhookReadValue,
  WebhookTransaction,
  WebhookTrigger,
} from './contract/shapes.generated.ts';
