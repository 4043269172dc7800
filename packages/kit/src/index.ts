/** `@sluice/kit`: a client for Sluice and the hosted Streams API, and the receiving of webhooks. */

// Client
export { createClient } from './client.ts';
export type {
  Client,
  ClientOptions,
  ListOptions,
  ListStreamsOptions,
  NetworkChoice,
  Stream,
  StreamChanges,
  StreamFields,
  StreamsClient,
} from './client.ts';
export type { AnyPage, ListResult } from './pages.ts';
export type { CallOptions, ConnectionOptions } from './request.ts';

// Errors
export { isSluiceError, SluiceError } from './errors.ts';
export type { SluiceErrorCode, SluiceErrorContext } from './errors.ts';

// Webhooks
export { verifySignature } from './webhooks/verify.ts';
export type { VerificationKey, VerifySignatureOptions } from './webhooks/verify.ts';
export { decodeLogs } from './webhooks/decode.ts';
export type {
  DecodedLog,
  DecodedLogOf,
  DecodedLogs,
  LogSource,
  UndecodedLog,
  UndecodedReason,
} from './webhooks/decode.ts';
export type { DecodedValue } from './webhooks/abi.ts';

// Shapes on the wire
export type {
  AbiItem,
  AbiParameter,
  AddressesAnswer,
  AdvancedOption,
  NativeBalanceSelection,
  Page,
  RecordKind,
  StreamAddress,
  StreamStatus,
  StreamTrigger,
} from './contract/streams.ts';
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
} from './contract/webhook.ts';
