/** Addresses of streams, and the rules for matching blocks. */
import type { ChainFamily } from '@sluice/kit/contract';
import type { EffectiveFrom } from '../rules/ruleRevision.ts';
import type { StreamOfFamily } from '../streams/contract.ts';

/** Concatenated addresses of `width` bytes each: 20 or 32, by chain family. */
export interface AddressList {
  width: 20 | 32;
  bytes: Uint8Array;
}

export interface RuleChanges<Name extends ChainFamily> {
  revision: number;
  /**
   * If true, some changes after the requested revision are no longer stored. Then `changed`
   * contains all streams that are matched, and their addresses must be read again.
   */
  whole: boolean;
  /**
   * Streams that were created or changed after the requested revision. Excludes streams with
   * changes only to their addresses.
   */
  changed: StreamOfFamily<Name>[];
  /** Ids of changed streams that are not matched, such as paused or deleted ones. */
  gone: string[];
}

/** Addresses that were added to a stream or removed from it. */
export interface AddressDelta {
  streamId: string;
  kind: 'add' | 'remove';
  addresses: AddressList;
}

/** Position after a part of a change. Changes that were committed together share a revision. */
export interface DeltaPosition {
  revision: number;
  change: number;
  part: number;
}

/** An address that a stream watches. */
export interface AddressRecord {
  /** Lowercase. */
  address: string;
  label: string | null;
  /**
   * Time at which the address was added to the stream, in Unix milliseconds. Relabeling does not
   * change it.
   */
  addedAt: number;
  /** Name of the API key that added the address, or the key's id if the name is unknown. */
  addedBy: string;
}

export interface AddressRecordPage {
  addresses: AddressRecord[];
  /** Last address of the page, to pass as `after`; undefined on the last page. */
  next: string | undefined;
}

/** Up to {@link ADDRESSES_PER_PART} addresses of a change. */
export type AddressPart =
  | {
      kind: 'add';
      addresses: AddressList;
      /** Labels by lowercase address; an empty label removes the current one. */
      labels: Record<string, string>;
      /** If true, addresses of this part that are not in `labels` lose their current label. */
      clearLabels: boolean;
      /** Id of the API key that adds the addresses. */
      keyId: string;
    }
  | { kind: 'remove'; addresses: AddressList };

/** A change that fits into one transaction. Each address is in only one part. */
export interface AddressChange {
  streamId: string;
  parts: readonly AddressPart[];
}

/**
 * Maximum number of addresses in a part, which limits how long a transaction blocks other
 * transactions.
 */
export const ADDRESSES_PER_PART = 5_000;

export type AddressOutcome =
  | { outcome: 'changed'; effectiveFrom: EffectiveFrom }
  | { outcome: 'unknown-stream' }
  /** The stream does not have this address, so no address was removed. */
  | { outcome: 'missing'; address: string }
  /** Another change to the stream's addresses is in progress. */
  | { outcome: 'busy' };

export interface AddressReads {
  /** Lists the addresses of a stream in address order, starting after the address `after`. */
  listAddresses(
    streamId: string,
    page: { limit: number; after?: string | undefined },
  ): Promise<AddressRecordPage>;
  /** Returns a page of the addresses that match {@link AddressQuery.find}, in address order. */
  findAddresses(
    streamId: string,
    search: { find: string; limit: number; after?: string | undefined },
  ): Promise<AddressRecordPage>;
  /**
   * Returns the streams of a family that changed after this revision. Pass -1 to read all streams.
   */
  readRules<Name extends ChainFamily>(
    afterRevision: number,
    family: Name,
  ): Promise<RuleChanges<Name>>;
  /** Returns a page of a stream's addresses in order, starting after the address `after`. */
  readAddresses(
    streamId: string,
    after?: string,
  ): Promise<{ addresses: AddressList; next: string | undefined }>;
  /**
   * Returns a page of address changes after this position, up to revision `upTo`, in order;
   * undefined if some of them are no longer stored.
   */
  readAddressChanges(
    after: DeltaPosition,
    upTo: number,
  ): Promise<{ changes: AddressDelta[]; next: DeltaPosition | undefined } | undefined>;
}

/** Steps from which `addressChanges.ts` builds complete changes. */
export interface AddressWrites {
  /**
   * Applies small changes to different streams in one transaction, and returns their outcomes in
   * the same order. Rejected changes have no effect.
   */
  changeAddresses(changes: readonly AddressChange[]): Promise<AddressOutcome[]>;
  /**
   * Starts a change of many parts, which is invisible until it is activated. Streams whose
   * addresses have a different `width` count as unknown; without `width`, any family is accepted.
   */
  beginAddressChange(
    streamId: string,
    width?: AddressList['width'],
  ): Promise<{ outcome: 'begun'; change: number } | { outcome: 'unknown-stream' | 'busy' }>;
  /**
   * Adds a part. Returns `lost` if the change was abandoned, and `missing` if the part removes an
   * address that the stream does not have.
   */
  stageAddresses(
    change: number,
    part: AddressPart,
  ): Promise<{ outcome: 'staged' | 'lost' } | { outcome: 'missing'; address: string }>;
  activateAddressChange(
    change: number,
  ): Promise<
    { outcome: 'changed'; streamId: string; effectiveFrom: EffectiveFrom } | { outcome: 'lost' }
  >;
  /** Abandons a change and undoes one of its parts. Returns true while there is more to undo. */
  undoAddressChange(change: number): Promise<boolean>;
  /**
   * Performs one step of the clean-up: undoes a part of a change without progress for `staleMs`, or
   * deletes some removed rows, rows of deleted streams, or changes older than `keepMs`. Returns
   * false if there was nothing to do.
   */
  cleanUpAddresses(ages: { keepMs: number; staleMs: number }): Promise<boolean>;
}
