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
}

export interface ChildWrites {
  /**
   * Deletes some children of deleted streams and of factories that were removed from their streams;
   * returns false if there are none.
   */
  deleteLeftChildren(): Promise<boolean>;
  /**
   * Deletes some children of factories that the stream does not have; returns false if there are
   * none. Must be called before these factories are added again.
   */
  deleteChildrenOf(streamId: string, factories: readonly string[]): Promise<boolean>;
}
