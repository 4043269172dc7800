/**
 * Declares the chain reads of enrichment: calls and balances at the state after a block, and failures
 * of its transactions.
 */
import type { CallFailure } from '../base/callFailure.ts';
import type { BlockRef } from '../../../store/blocks/contract.ts';

/** Default maximum size of a call's result. */
export const MAX_RESULT_BYTES = 65_536;

export interface StateCall {
  /** Lowercase. */
  to: string;
  /** Hex. */
  data: string;
  /**
   * The `msg.sender` of the call. Default: the zero address, or the Multicall3 contract if the call
   * is batched.
   */
  from?: string | undefined;
  /**
   * Maximum size of the result in bytes. A larger result counts as a failure. Default: {@link
   * MAX_RESULT_BYTES}.
   */
  maxBytes?: number | undefined;
}

/** A call, or the account whose native balance is read. */
export type StateRequest = StateCall | { readonly account: string };

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

/** The outcome of reading a failure, as for {@link StateAnswer}. `failed`: no node traces. */
export type FailureAnswer =
  /** `failure` is undefined if the transaction did not fail. */
  { outcome: 'read'; failure: CallFailure | undefined } | Exclude<StateAnswer, { outcome: 'read' }>;

/**
 * Reads the state of an EVM chain. All reads return one answer per item, in order, and throw a
 * `RetryableError` if no node could be queried.
 */
export interface StateReader {
  /** Makes calls. A value is the returned bytes in hex, `0x` if there are none. */
  call(block: BlockRef, calls: readonly StateCall[]): Promise<StateAnswer[]>;
  /** Makes calls and reads native balances together, in as few requests as possible. */
  read(block: BlockRef, requests: readonly StateRequest[]): Promise<StateAnswer[]>;
  /** Reads native balances. A value is wei as a decimal string. */
  balances(block: BlockRef, addresses: readonly string[]): Promise<StateAnswer[]>;
  /** Reads why transactions of the block failed. */
  failures(block: BlockRef, hashes: readonly string[]): Promise<FailureAnswer[]>;
  /**
   * Returns whether the nodes no longer keep states as old as this block's, so that a retry is
   * pointless.
   */
  isGone(block: BlockRef): boolean;
}

/** The reads that complete bodies. */
export type EnrichState = Omit<StateReader, 'read'>;
