/** Streams: what they match, where they deliver, and the health of their receivers. */
import {
  type BackOff,
  type BackOffReason,
  type ChainFamily,
  type Confirmations,
  type DeliverMode,
  type OAuth2Credentials,
  type StreamChange,
  type StreamChangeKind,
  type StreamLimits,
  type StreamStatus,
  type UnverifiedMode,
  aptosStreamDefaults,
  evmStreamDefaults,
} from '@sluice/kit/contract';

const LIMITS = [
  'maxInFlight',
  'maxPerSecond',
  'strictOrder',
  'timeoutSeconds',
  'retries',
] as const satisfies (keyof StreamLimits)[];

/** Fields that say what a stream delivers and how, in columns of their own. */
const DELIVERY = [
  'deliver',
  'confirmations',
  'notifyRemoved',
  'unverified',
  'headers',
  'oauth2',
] as const satisfies (keyof AnyStreamDraft)[];

/** Fields that the ledger keeps in columns of their own. All others are options of the stream. */
const COLUMNS = [
  'tag',
  'description',
  ...DELIVERY,
  ...LIMITS,
  'statusMessage',
  'isErrorSince',
] as const;

const toOptions = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).filter(([name]) => !(COLUMNS as readonly string[]).includes(name)),
  ) as Omit<Fields, (typeof COLUMNS)[number]>;

export const DEFAULT_OPTIONS = toOptions(evmStreamDefaults());
/** Options of an EVM stream: what it matches, and what its webhooks contain. */
export type StreamOptions = typeof DEFAULT_OPTIONS;

export const DEFAULT_APTOS_OPTIONS = toOptions(aptosStreamDefaults());
/** Options of an Aptos stream: what it matches, and what its webhooks contain. */
export type AptosStreamOptions = typeof DEFAULT_APTOS_OPTIONS;

const pick = <Fields extends object, Name extends keyof Fields>(
  fields: Fields,
  names: readonly Name[],
): Pick<Fields, Name> =>
  Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<Fields, Name>;

const defaults = evmStreamDefaults();

export const DEFAULT_LIMITS: StreamLimits = pick(defaults, LIMITS);

/** Returns the fields of a stream that say what it delivers and how, without its limits. */
export const deliveryOf = <Fields extends Pick<AnyStreamDraft, (typeof DELIVERY)[number]>>(
  fields: Fields,
): Pick<Fields, (typeof DELIVERY)[number]> => pick(fields, DELIVERY);

export const DEFAULT_DELIVERY: Pick<AnyStreamDraft, (typeof DELIVERY)[number] | 'limits'> = {
  ...pick(defaults, DELIVERY),
  // The default of a response, which has no secret, is the same.
  oauth2: null,
  limits: DEFAULT_LIMITS,
};

interface AnyStreamDraft {
  tag: string;
  description: string;
  webhookUrl: string;
  /** For example `0x1` on EVM chains, or `aptos:mainnet` on Aptos. */
  chainIds: string[];
  headers: Record<string, string>;
  /** Client credentials for the access tokens of the receiver; null if it needs none. */
  oauth2: OAuth2Credentials | null;
  limits: StreamLimits;
  /** The phases of a block to deliver. Has no effect on families whose blocks are final. */
  deliver: DeliverMode;
  /**
   * The confirmations of matches; null for those of the chain. Has no effect on families whose blocks
   * are final.
   */
  confirmations: Confirmations | null;
  /** Whether to send removal webhooks when a block leaves the chain. */
  notifyRemoved: boolean;
  /** Whether webhooks of unverified blocks are sent at once or held. */
  unverified: UnverifiedMode;
}

export interface EvmStreamDraft extends AnyStreamDraft {
  family: 'evm';
  options: StreamOptions;
}

export interface AptosStreamDraft extends AnyStreamDraft {
  family: 'aptos';
  options: AptosStreamOptions;
}

export type StreamDraft = EvmStreamDraft | AptosStreamDraft;

/** Changes to a stream. Its family cannot change. */
export type StreamPatch =
  | Partial<Omit<EvmStreamDraft, 'family'>>
  | Partial<Omit<AptosStreamDraft, 'family'>>;

declare const SEALED: unique symbol;

/** Fields of a stream in which `endpoints.ts` has encrypted the credentials of the receiver. */
export type Sealed<Fields> = Fields & { readonly [SEALED]: true };

/** A patch that cannot contain credentials, or one in which they are encrypted. */
export type SealedPatch =
  | Sealed<StreamPatch>
  | (StreamPatch & { webhookUrl?: never; headers?: never; oauth2?: never });

export interface StreamLife {
  id: string;
  status: StreamStatus;
  statusMessage: string;
  /**
   * Time at which the status became `error`, in Unix milliseconds. Kept when the service terminates
   * the stream; null for any other status.
   */
  errorSince: number | null;
  addressCount: number;
  /** Number of children of its factories, including those of removed ones until they are deleted. */
  childCount: number;
  createdAt: number;
  updatedAt: number;
}

export type EvmStreamRecord = EvmStreamDraft & StreamLife;

export type AptosStreamRecord = AptosStreamDraft & StreamLife;

export type StreamRecord = EvmStreamRecord | AptosStreamRecord;

export type StreamOfFamily<Name extends ChainFamily> = Extract<StreamRecord, { family: Name }>;

/** Facts about each chain family that the ledger and the matcher need. */
export const STREAM_FAMILIES: {
  readonly [Name in ChainFamily]: {
    readonly defaults: StreamOfFamily<Name>['options'];
    /** Size of an address in bytes. */
    readonly addressBytes: 20 | 32;
    /** Whether new blocks are final, so that their matches are delivered only once, as confirmed. */
    readonly isFinal: boolean;
  };
} = {
  evm: { defaults: DEFAULT_OPTIONS, addressBytes: 20, isFinal: false },
  aptos: { defaults: DEFAULT_APTOS_OPTIONS, addressBytes: 32, isFinal: true },
};

/** Where an additional destination delivers, and its limits. */
export type DestinationDraft = Pick<
  AnyStreamDraft,
  'description' | 'webhookUrl' | 'headers' | 'oauth2' | 'limits'
>;

/** An additional destination of a stream, which gets the same webhooks in deliveries of its own. */
export interface DestinationRecord
  extends
    DestinationDraft,
    Pick<StreamLife, 'status' | 'statusMessage' | 'errorSince' | 'createdAt' | 'updatedAt'> {
  streamId: string;
  /** Number of the destination within its stream, from 1. The `webhookUrl` of the stream is 0. */
  destination: number;
}

export interface BackedOffStream extends BackOff {
  streamId: string;
  /** Milliseconds until the back-off ends, by the ledger's clock; negative once it has ended. */
  leftMs: number;
}

export interface NewStreamOptions {
  /** Id of the stream. Default: a new id. */
  id?: string;
  /**
   * Encrypted secret that signs the stream's webhooks in addition to the account's secret. Default:
   * none.
   */
  sealedSecret?: string;
  /** Status message of the stream if it is created paused. Default: the stream is active. */
  pausedBecause?: string;
}

/** A change to a stream, as recorded in its change log. */
export interface StreamChangeNote {
  kind: StreamChangeKind;
  /** Names of the edited fields, as in the contract. Default: none. */
  fields?: readonly string[];
  keyId: string;
}

export interface ListedPage<T> {
  rows: T[];
  total: number;
  /** Position after which the next page starts; undefined on the last page. */
  next: ListPosition | undefined;
}

/**
 * Position of a row in a list, by its creation time and id. The next page starts after this row.
 */
export interface ListPosition {
  at: number;
  id: string;
}

/** Number of destinations of one kind with one status. */
export interface DestinationCount {
  /** Such as `http` or `feed`; `other` for an unknown scheme. */
  kind: string;
  status: StreamStatus;
  count: number;
}

/** Reads streams with encrypted credentials, which `endpoints.ts` decrypts. */
export interface StreamReads {
  /** Returns a stream; undefined if it is unknown or deleted. */
  readStream(id: string): Promise<StreamRecord | undefined>;
  /** Lists streams, newest first. */
  listStreams(page: {
    limit: number;
    after?: ListPosition | undefined;
    family?: ChainFamily | undefined;
    status?: StreamStatus | undefined;
  }): Promise<ListedPage<StreamRecord>>;
  /** Lists the additional destinations of a stream, or of all streams, oldest first. */
  listDestinations(streamId?: string): Promise<DestinationRecord[]>;
  /** Counts all destinations of all streams, including the `webhookUrl` of each. */
  countDestinations(): Promise<DestinationCount[]>;
  /**
   * Returns the streams whose receiver is backed off, including streams in `error`. Each is listed
   * until 30 s after its next probe is due.
   */
  listBackOffs(): Promise<BackedOffStream[]>;
  /**
   * Returns the streams whose receiver's certificate expires soon, as recorded by
   * `recordCertificate`.
   */
  listCertificates(): Promise<{ streamId: string; endsAt: number }[]>;
}

export interface StreamChangeReads {
  /** Returns when, and with which API key (name or id), each paused stream was paused. */
  listPauses(): Promise<{ streamId: string; at: number; by: string }[]>;
  /** Lists the changes to a stream, newest first. At most 100 are kept per stream. */
  listStreamChanges(streamId: string): Promise<StreamChange[]>;
}

export interface StreamWrites {
  createStream<Draft extends StreamDraft>(
    draft: Sealed<Draft>,
    options?: NewStreamOptions,
  ): Promise<Extract<StreamRecord, Pick<Draft, 'family'>>>;
  /**
   * Changes a stream. Returns undefined if the stream is unknown, or was changed since the
   * `updatedAt` that `unchangedSince` gives. Without `note`, the change is not added to the change
   * log. `leftFactories` are the keys of factories that the change removes. `childSearches`
   * are the chains whose past blocks are searched for children, and the first of these blocks.
   */
  updateStream(
    id: string,
    patch: SealedPatch,
    options?: {
      note?: StreamChangeNote | undefined;
      unchangedSince?: number;
      leftFactories?: readonly string[] | undefined;
      childSearches?: readonly { chain: string; from: number }[] | undefined;
    },
  ): Promise<StreamRecord | undefined>;
  setStreamStatus(
    id: string,
    status: StreamStatus,
    statusMessage: string,
    note?: StreamChangeNote,
  ): Promise<StreamRecord | undefined>;
  /**
   * Deletes a stream but keeps its history. The stream stops sending at once; `cancelDeleted`
   * cancels the remaining deliveries of a long queue.
   */
  deleteStream(id: string): Promise<StreamRecord | undefined>;
  /**
   * Removes an additional destination but keeps its history, like `deleteStream`. Returns false if it
   * is unknown.
   */
  removeDestination(streamId: string, destination: number, by: { keyId: string }): Promise<boolean>;
  /**
   * Cancels queued deliveries of deleted streams, for about `forMs`. Returns true if there may be
   * more.
   */
  cancelDeleted(step: { forMs: number }): Promise<boolean>;
}

export interface DestinationWrites {
  /** Adds a destination to a stream, for the matches of later blocks. */
  addDestination(
    streamId: string,
    draft: Sealed<DestinationDraft>,
    by: { keyId: string },
  ): Promise<
    | { outcome: 'added'; destination: DestinationRecord }
    | { outcome: 'unknown-stream' | 'too-many' }
  >;
}

export interface HealthWrites {
  /** Changes the status from `active` to `error`; returns undefined if the stream is not active. */
  failStream(id: string, message: string): Promise<StreamRecord | undefined>;
  /**
   * Changes the status from `error` to `active`; returns undefined if the stream is not in error.
   */
  recoverStream(id: string): Promise<StreamRecord | undefined>;
  /**
   * Records that the receiver of an active stream has been backed off for `agoMs` and remains so
   * for another `forMs`. Returns the end of the back-off in Unix milliseconds; undefined if the
   * stream is not active.
   */
  backOffStream(
    id: string,
    backOff: { reason: BackOffReason; agoMs: number; forMs: number },
  ): Promise<number | undefined>;
  /**
   * Records when the certificate of a stream's receiver expires; `endsAt` is null if it does not
   * expire soon. Returns false if nothing changed.
   */
  recordCertificate(id: string, endsAt: number | null): Promise<boolean>;
  /** Ends the back-off of these streams' receivers. Returns the streams that were backed off. */
  endBackOff(ids: readonly string[]): Promise<{ id: string }[]>;
  /**
   * Terminates streams and additional destinations that have been in `error` for at least `afterMs`.
   * They get no new deliveries. A stream is not terminated while one of its additional destinations
   * gets deliveries. Returns what was terminated, as streams.
   */
  terminateStreams(afterMs: number): Promise<StreamRecord[]>;
}
