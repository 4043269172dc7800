/** The addresses that factories have created, which streams watch on one chain. */
import type { AddressList } from '../addresses/contract.ts';

/** A factory of a stream on one chain; its children are a list. */
export interface ChildListRef {
  streamId: string;
  chain: string;
  /** Key of the factory. */
  factory: string;
}

/** An address that a factory created. */
export interface Child extends Pick<ChildListRef, 'streamId' | 'factory'> {
  /** Lowercase. */
  address: string;
}

export interface KnownChild extends Child {
  /** The first block with a log of the factory that has the address. */
  blockNumber: number;
}

/** A child with its chain and label, as users see it. */
export interface LabeledChild extends KnownChild {
  chain: string;
  label: string | null;
}

/** Selects children of a stream by factory, and optionally by chain and text. */
export interface ChildFilter {
  streamId: string;
  /** Keys of factories. */
  factories: readonly string[];
  chain?: string | undefined;
  /** Part of an address or label, as in {@link AddressQuery.find}. */
  find?: string | undefined;
}

export interface ChildReads {
  /** Returns a page of the children of a factory, in order, after the address `after`. */
  readChildren(
    list: ChildListRef,
    after?: string,
  ): Promise<{ addresses: AddressList; next: string | undefined }>;
  /**
   * Returns which of these lowercase addresses are children on this chain, by factories' logs up to
   * block `upTo`.
   */
  findChildren(
    chain: string,
    sought: { addresses: readonly string[]; upTo: number; streamId?: string | undefined },
  ): Promise<KnownChild[]>;
  /** Returns a page of children by chain, factory and address, starting after one of them. */
  listChildren(
    filter: ChildFilter,
    page: {
      limit: number;
      after?: Pick<LabeledChild, 'chain' | 'factory' | 'address'> | undefined;
    },
  ): Promise<LabeledChild[]>;
  countChildren(filter: ChildFilter): Promise<number>;
  /** Returns the streams, chains and factories of which this address is a child. */
  listParents(address: string): Promise<LabeledChild[]>;
}

export interface ChildWrites {
  /**
   * Labels children by lowercase address; an empty label removes the current one. Labels none and
   * returns the address if one is not a child of the stream.
   */
  labelChildren(
    streamId: string,
    labels: Readonly<Record<string, string>>,
  ): Promise<{ missing: string | undefined }>;
  /**
   * Deletes some children of deleted streams and of factories that were removed from their streams;
   * returns false if there are none.
   */
  cleanUpChildren(): Promise<boolean>;
  /**
   * Deletes some children of factories that the stream does not have; returns false if there are
   * none. Must be called before these factories are added again.
   */
  deleteChildrenOf(streamId: string, factories: readonly string[]): Promise<boolean>;
}
