/** Addresses of streams, and the rules for matching blocks. */
import type { ChainFamily } from '@sluice/kit/contract';
import type { StreamOfFamily } from '../streams/contract.ts';

/** Concatenated addresses of `width` bytes each: 20 on EVM chains, 32 on Aptos. */
export interface AddressList {
  width: 20 | 32;
  bytes: Uint8Array;
}

export interface RuleChanges<Name extends ChainFamily> {
  revision: number;
  /**
   * If true, the changes since then are no longer stored. `changed` then contains every stream that
   * matches, and their addresses must be read again.
   */
  whole: boolean;
  /** Streams that were created or changed since then, except for changes of only the addresses. */
  changed: StreamOfFamily<Name>[];
  /** Streams that no longer match. */
  gone: string[];
}

/** Addresses that were added to a stream or removed from it. */
export interface AddressDelta {
  streamId: string;
  kind: 'add' | 'remove';
  addresses: AddressList;
}

/** Position after this part of a change. Changes that were committed together share a revision. */
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
  /** Name of the API key that added it. */
  addedBy: string;
}

export interface AddressRecordPage {
  addresses: AddressRecord[];
  /** The last address, if more follow. */
  next: string | undefined;
}

/** At most {@link ADDRESSES_PER_PART} addresses of a change. */
export type AddressPart =
  | {
      kind: 'add';
      addresses: AddressList;
      /** Labels by lowercase address. Other addresses keep their labels. */
      labels: Record<string, string>;
      /** Removes the labels of addresses that `labels` does not contain. */
      clearLabels: boolean;
      /** Id of the API key that adds them. */
      keyId: string;
    }
  | { kind: 'remove'; addresses: AddressList };

/** A change that fits into one transaction. No address is in two parts. */
export interface AddressChange {
  streamId: string;
  parts: readonly AddressPart[];
}

/** Limits the time for which a transaction blocks others. */
export const ADDRESSES_PER_PART = 5_000;

export type AddressOutcome =
  | { outcome: 'changed'; effectiveFrom: EffectiveFrom }
  | { outcome: 'unknown-stream' }
  /** The stream does not have this address, so nothing was removed. */
  | { outcome: 'missing'; address: string }
  /** Another change of the stream is in progress. */
  | { outcome: 'busy' };

/**
 * First block of each chain that a change of rules applies to; on Aptos, the first ledger version.
 */
export type EffectiveFrom = Record<string, number>;

export interface AddressReads {
  /** Addresses in order. */
  listAddresses(
    streamId: string,
    page: { limit: number; after?: string | undefined },
  ): Promise<AddressRecordPage>;
  /** Returns the addresses that match {@link ListAddresses.find}, in address order. */
  findAddresses(
    streamId: string,
    search: { find: string; limit: number; after?: string | undefined },
  ): Promise<AddressRecordPage>;
  /**
   * Returns streams of a family, by default `evm`, that changed after this revision; -1 reads all.
   */
  readRules<Name extends ChainFamily = 'evm'>(
    afterRevision: number,
    family?: Name,
  ): Promise<RuleChanges<Name>>;
  /** Returns a page of a stream's addresses after this one, in address order. */
  readAddresses(
    streamId: string,
    after?: string,
  ): Promise<{ addresses: AddressList; next: string | undefined }>;
  /**
   * Returns a page of the changes of lists after this position, up to a revision, in order.
   * Undefined if they are no longer stored completely.
   */
  readAddressChanges(
    after: DeltaPosition,
    upTo: number,
  ): Promise<{ changes: AddressDelta[]; next: DeltaPosition | undefined } | undefined>;
}

/** Steps from which `addressChanges.ts` builds complete changes. */
export interface AddressWrites {
  /**
   * Applies small changes to different streams in one transaction, and returns their outcomes.
   * Rejected changes have no effect.
   */
  changeAddresses(changes: readonly AddressChange[]): Promise<AddressOutcome[]>;
  /**
   * Starts a change of many parts, which is invisible until it is activated. Streams of a family
   * with a different `width` count as unknown; without `width`, any family is accepted.
   */
  beginAddressChange(
    streamId: string,
    width?: AddressList['width'],
  ): Promise<{ outcome: 'begun'; change: number } | { outcome: 'unknown-stream' | 'busy' }>;
  /** Adds a part; `lost` if the change was abandoned, or its stream was deleted. */
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
   * Performs a limited amount of housekeeping; returns true while there is more. Undoes changes
   * without progress for `staleMs`, and deletes removed rows, rows of deleted streams, and changes
   * older than `keepMs`.
   */
  cleanUpAddresses(ages: { keepMs: number; staleMs: number }): Promise<boolean>;
}
