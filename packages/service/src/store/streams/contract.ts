/** Streams: what is watched, and where it is delivered. */
import type {
  AptosStream,
  ChainFamily,
  DeliverMode,
  EvmStream,
  Spared,
  SparedReason,
  StreamLimits,
  StreamStatus,
  StreamChangeKind,
} from '@sluice/kit/contract';

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

export interface SparedStream extends Spared {
  streamId: string;
  /** Milliseconds until the end of it, by the ledger's clock. */
  leftMs: number;
}

export interface NewStreamOptions {
  /** Default: a new one. */
  id?: string;
  /** What signs its webhooks, beside the account's secret. Default: nothing. */
  sealedSecret?: string;
  /** Paused from the beginning, for this reason. Default: active. */
  pausedBecause?: string;
}

/** What people are told of a change of a stream. */
export interface StreamChangeNote {
  kind: StreamChangeKind;
  /** What was edited, in the names of the contract. */
  fields?: readonly string[];
  /** Of the API key that did it. */
  keyId: string;
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

export interface StreamReads {
  /** Undefined when unknown or deleted. */
  readStream(id: string): Promise<StreamRecord | undefined>;
  /** Newest first. */
  listStreams(page: {
    limit: number;
    after?: ListPosition | undefined;
    family?: ChainFamily | undefined;
    status?: StreamStatus | undefined;
  }): Promise<Listed<StreamRecord>>;
  /** Streams whose receivers are sent nothing for a while, or were until less than 30 s ago. */
  listSpared(): Promise<SparedStream[]>;
  /** Of receivers whose certificates end soon, as `noteCertificate` was told. */
  listCertificates(): Promise<{ streamId: string; endsAt: number }[]>;
}

export interface StreamWrites {
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
