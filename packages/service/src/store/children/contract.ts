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

/** The number of children of a factory on one chain. */
export interface ChildCount extends ChildListRef {
  children: number;
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
  /** Returns the children of each factory of a stream that has some, by chain and factory. */
  listChildCounts(streamId: string): Promise<ChildCount[]>;
  /**
   * Returns a page of the children of a factory by address, starting after the address `after`.
   *
   * @param page.find part of an address or label, as in {@link AddressQuery.find}
   */
  listChildren(
    list: ChildListRef,
    page: { limit: number; after?: string | undefined; find?: string | undefined },
  ): Promise<LabeledChild[]>;
  /** Returns the number of children of a factory that `find` selects. */
  countChildren(list: ChildListRef, find: string): Promise<number>;
  /** Returns the number of children of all streams by chain. */
  countChildrenByChain(): Promise<Readonly<Record<string, number>>>;
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
