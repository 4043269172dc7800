/** Addresses of streams, and the rules that blocks are matched with. */
import type { ChainFamily } from '@sluice/kit/contract';
import type { StreamOfFamily } from '../streams/contract.ts';

/** Addresses one after the other, each `width` bytes: 20 on EVM chains, 32 on Aptos. */
export interface AddressList {
  width: 20 | 32;
  bytes: Uint8Array;
}

export interface RuleChanges<Name extends ChainFamily> {
  revision: number;
  /**
   * Nothing was known, or how lists changed since is no longer kept: `changed` is every stream that
   * matches, and their addresses are to be read anew.
   */
  whole: boolean;
  /** Streams created or changed since; not those of which only the addresses changed. */
  changed: StreamOfFamily<Name>[];
  /** Streams that no longer match. */
  gone: string[];
}

/** Some addresses that were added to a stream, or removed from it. */
export interface AddressDelta {
  streamId: string;
  kind: 'add' | 'remove';
  addresses: AddressList;
}

/** After this part of a change; changes that were committed together have one revision. */
export interface DeltaPosition {
  revision: number;
  change: number;
  part: number;
}

/** An address that a stream watches. */
export interface AddressRecord {
  /** Lower case. */
  address: string;
  label: string | null;
  /** When the stream began to have it, Unix milliseconds; another label changes nothing of that. */
  addedAt: number;
  /** Name of the API key it was added with. */
  addedBy: string;
}

export interface AddressRecordPage {
  addresses: AddressRecord[];
  /** The last address, where more come after it. */
  next: string | undefined;
}

/** At most {@link ADDRESSES_PER_PART} addresses of a change. */
export type AddressPart =
  | {
      kind: 'add';
      addresses: AddressList;
      /** By address, lower case; others keep the label they have. */
      labels: Record<string, string>;
      /** Those that `labels` does not name lose theirs. */
      clearLabels: boolean;
      /** Of the API key that adds them. */
      keyId: string;
    }
  | { kind: 'remove'; addresses: AddressList };

/** A change that is small enough for one transaction. No address is in two parts. */
export interface AddressChange {
  streamId: string;
  parts: readonly AddressPart[];
}

/** What one transaction may hold up others with. */
export const ADDRESSES_PER_PART = 5_000;

export type AddressOutcome =
  | { outcome: 'changed'; effectiveFrom: EffectiveFrom }
  | { outcome: 'unknown-stream' }
  /** The stream does not have this one: nothing was removed. */
  | { outcome: 'missing'; address: string }
  /** Another change of the stream is under way. */
  | { outcome: 'busy' };

/** Per chain, the first block a change of rules applies to; of Aptos the first ledger version. */
export type EffectiveFrom = Record<string, number>;

export interface AddressReads {
  /** In the order of the addresses themselves. */
  listAddresses(
    streamId: string,
    page: { limit: number; after?: string | undefined },
  ): Promise<AddressRecordPage>;
  /** Those of them that {@link ListAddresses.find} tells, in the same order. */
  findAddresses(
    streamId: string,
    search: { find: string; limit: number; after?: string | undefined },
  ): Promise<AddressRecordPage>;
  /** Streams of a family, by default `evm`, changed after this revision; revision -1 reads all. */
  readRules<Name extends ChainFamily = 'evm'>(
    afterRevision: number,
    family?: Name,
  ): Promise<RuleChanges<Name>>;
  /** A page of a stream's addresses, in their order, after this one. */
  readAddresses(
    streamId: string,
    after?: string,
  ): Promise<{ addresses: AddressList; next: string | undefined }>;
  /**
   * A page of how lists changed after this position, up to a revision, in order. Undefined when it is
   * no longer kept whole.
   */
  readAddressChanges(
    after: DeltaPosition,
    upTo: number,
  ): Promise<{ changes: AddressDelta[]; next: DeltaPosition | undefined } | undefined>;
}

/** `addressChanges.ts` makes whole changes of these steps. */
export interface AddressWrites {
  /**
   * Small changes in one transaction, each of another stream. Returns an outcome for each: one that is
   * refused changes nothing, and the others take effect.
   */
  changeAddresses(changes: readonly AddressChange[]): Promise<AddressOutcome[]>;
  /**
   * Begins a change of many parts. Nobody sees any of it before it is activated. A stream of another family
   * than addresses of this width is unknown; without one, no family is expected.
   */
  beginAddressChange(
    streamId: string,
    width?: AddressList['width'],
  ): Promise<{ outcome: 'begun'; change: number } | { outcome: 'unknown-stream' | 'busy' }>;
  /** `lost` when the change was given up as stale, or its stream is gone. */
  stageAddresses(
    change: number,
    part: AddressPart,
  ): Promise<{ outcome: 'staged' | 'lost' } | { outcome: 'missing'; address: string }>;
  activateAddressChange(
    change: number,
  ): Promise<
    { outcome: 'changed'; streamId: string; effectiveFrom: EffectiveFrom } | { outcome: 'lost' }
  >;
  /** Gives a change up and undoes one of its parts; true while there is more to undo. */
  undoAddressChange(change: number): Promise<boolean>;
  /**
   * A bounded piece of housekeeping; true while there is more of it. Undoes changes that nobody has
   * touched for `staleMs`, deletes rows that were removed and those of deleted streams, and forgets
   * how lists changed more than `keepMs` ago.
   */
  cleanUpAddresses(ages: { keepMs: number; staleMs: number }): Promise<boolean>;
}
