/** Streams: what they watch, and where they deliver. */
import type {
  AptosStream,
  ChainFamily,
  DeliverMode,
  EvmStream,
  BackOff,
  BackOffReason,
  StreamLimits,
  StreamStatus,
  StreamChangeKind,
} from '@sluice/kit/contract';

/** The part of an EVM stream that defines what to match and what to include. */
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
  | 'includeProofs'
>;

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
  includeProofs: false,
};

export const DEFAULT_LIMITS: StreamLimits = {
  maxInFlight: null,
  maxPerSecond: null,
  strictOrder: false,
};

export const DEFAULT_DELIVERY: Pick<
  EvmStreamDraft,
  'deliver' | 'notifyRemoved' | 'headers' | 'limits'
> = {
  deliver: 'both',
  notifyRemoved: false,
  headers: {},
  limits: DEFAULT_LIMITS,
};

/** The part of an Aptos stream that defines what to match and what to include. */
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
  /** Hex on EVM chains; `aptos:` and the network on Aptos. */
  chainIds: string[];
  headers: Record<string, string>;
  limits: StreamLimits;
}

export interface EvmStreamDraft extends AnyStreamDraft {
  family: 'evm';
  options: StreamOptions;
  deliver: DeliverMode;
  /** Whether to send removal webhooks when a block leaves the chain. */
  notifyRemoved: boolean;
}

export interface AptosStreamDraft extends AnyStreamDraft {
  family: 'aptos';
  options: AptosStreamOptions;
}

export type StreamDraft = EvmStreamDraft | AptosStreamDraft;

/** The changes that can be made to a stream; its family is fixed. */
export type StreamPatch =
  | Partial<Omit<EvmStreamDraft, 'family'>>
  | Partial<Omit<AptosStreamDraft, 'family'>>;

export interface StreamLife {
  id: string;
  status: StreamStatus;
  statusMessage: string;
  /** Time since which the status is `error`, in Unix milliseconds; null otherwise. */
  errorSince: number | null;
  addressCount: number;
  createdAt: number;
  updatedAt: number;
}

export type EvmStreamRecord = EvmStreamDraft & StreamLife;

export type AptosStreamRecord = AptosStreamDraft & StreamLife;

export type StreamRecord = EvmStreamRecord | AptosStreamRecord;

export type StreamOfFamily<Name extends ChainFamily> = Extract<StreamRecord, { family: Name }>;

export interface BackedOffStream extends BackOff {
  streamId: string;
  /** Milliseconds until the back-off ends, by the ledger's clock. */
  leftMs: number;
}

export interface NewStreamOptions {
  /** Id of the stream. Default: a new id. */
  id?: string;
  /** Secret that signs its webhooks in addition to the account's secret. Default: none. */
  sealedSecret?: string;
  /** Creates the stream paused, for this reason. Default: active. */
  pausedBecause?: string;
}

/** Describes a change of a stream in its change log. */
export interface StreamChangeNote {
  kind: StreamChangeKind;
  /** Edited fields, by their names in the contract. */
  fields?: readonly string[];
  /** Id of the API key that made the change. */
  keyId: string;
}

export interface Listed<T> {
  rows: T[];
  total: number;
  /** Start of the next page; undefined on the last page. */
  next: ListPosition | undefined;
}

/** Start of a page: after this row in list order. */
export interface ListPosition {
  at: number;
  id: string;
}

export interface StreamReads {
  /** Reads a stream; undefined if it is unknown or deleted. */
  readStream(id: string): Promise<StreamRecord | undefined>;
  /** Newest first. */
  listStreams(page: {
    limit: number;
    after?: ListPosition | undefined;
    family?: ChainFamily | undefined;
    status?: StreamStatus | undefined;
  }): Promise<Listed<StreamRecord>>;
  /** Returns streams with a receiver that is backed off, or was until less than 30 s ago. */
  listBackOffs(): Promise<BackedOffStream[]>;
  /**
   * Returns streams with a receiver certificate that expires soon, as recorded by
   * `recordCertificate`.
   */
  listCertificates(): Promise<{ streamId: string; endsAt: number }[]>;
}

export interface StreamWrites {
  createStream<Draft extends StreamDraft>(
    draft: Draft,
    options?: NewStreamOptions,
  ): Promise<Extract<StreamRecord, Pick<Draft, 'family'>>>;
  /** Changes a stream; undefined if it is unknown. Without a note, the change is not logged. */
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
   * Deletes the stream, which stops sending at once; its history stays. For a long queue, only the
   * first deliveries are canceled at once.
   */
  deleteStream(id: string): Promise<StreamRecord | undefined>;
  /**
   * Continues to cancel deliveries of deleted streams, for about `forMs`. Returns true if there may
   * be more.
   */
  cancelDeleted(step: { forMs: number }): Promise<boolean>;
}

export interface HealthWrites {
  /** Changes the status from `active` to `error`; undefined if the stream is not active. */
  failStream(id: string, message: string): Promise<StreamRecord | undefined>;
  /** Changes the status from `error` to `active`; undefined if the stream is not in error. */
  recoverStream(id: string): Promise<StreamRecord | undefined>;
  /**
   * Records that the receiver of an active stream has been backed off since `agoMs` ago, for
   * another `forMs`. Returns the end in Unix milliseconds; undefined if the stream is not active.
   */
  backOffStream(
    id: string,
    spell: { reason: BackOffReason; agoMs: number; forMs: number },
  ): Promise<number | undefined>;
  /**
   * Records when the certificate of a stream's receiver expires; null if it does not expire soon.
   * Returns false if nothing changed.
   */
  recordCertificate(id: string, endsAt: number | null): Promise<boolean>;
  /** Ends the back-off of these streams' receivers; returns the streams that were backed off. */
  endBackOff(ids: readonly string[]): Promise<{ id: string }[]>;
  /**
   * Changes the status from `error` to `terminated` for streams that have been in error for
   * `afterMs`; these streams no longer match.
   */
  terminateStreams(afterMs: number): Promise<StreamRecord[]>;
}
