/** The chain reads of enrichment: calls and balances at the state after a block. */
import type { BlockRef } from '../store/blocks/contract.ts';

/** Default maximum size of a call's result. */
export const MAX_RESULT_BYTES = 65_536;

/** A read-only call. */
export interface StateCall {
  /** Lowercase. */
  to: string;
  /** Hex. */
  data: string;
  /** The `msg.sender` of the call. Default: the zero address; Multicall3 for batched calls. */
  from?: string | undefined;
  /** Larger results count as failures. Default: {@link MAX_RESULT_BYTES}. */
  maxBytes?: number | undefined;
}

/**
 * The outcome of one read:
 * - `read`: the value is the chain's result
 * - `failed`: the contract reverted, ran out of gas or returned too much; a retry has the same
 *   result
 * - `refused`: the nodes responded, but lack the state or refuse the request; a retry may help
 */
export type StateAnswer =
  | { outcome: 'read'; value: string }
  | { outcome: 'failed'; message: string }
  | { outcome: 'refused'; message: string };

/**
 * Both reads return one result per item, and throw a `RetryableError` when no node could be
 * queried.
 */
export interface StateReader {
  /** Makes calls. Values are the returned bytes in hex, `0x` if there are none. */
  call(block: BlockRef, calls: readonly StateCall[]): Promise<StateAnswer[]>;
  /** Reads balances. Values are wei as decimal strings. */
  balances(block: BlockRef, addresses: readonly string[]): Promise<StateAnswer[]>;
  /** Whether the nodes keep no states as old as this block's, so that a retry is pointless. */
  isGone(block: BlockRef): boolean;
}

/** Reads of an Aptos chain. Throws a `RetryableError` when no node could be queried. */
export interface AptosReader {
  /**
   * Reads the metadata of a coin by its type, or of a fungible asset by its metadata address, from
   * a node that has this block; undefined if there is none.
   */
  readCoin(
    type: string,
    block: BlockRef,
  ): Promise<
    | { outcome: 'read'; value: Readonly<Record<string, unknown>> | undefined }
    | { outcome: 'refused'; message: string }
  >;
}
