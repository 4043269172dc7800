/** What enrichment asks of a chain: calls and balances at the state a block left behind. */
import type { BlockRef } from '../store/blocks/contract.ts';

/** Bytes that a call returns at most, where it sets no bound of its own. */
export const MAX_RESULT_BYTES = 65_536;

/** A read-only call. */
export interface StateCall {
  /** Lower case. */
  to: string;
  /** Hex. */
  data: string;
  /**
   * Who the contract sees as `msg.sender`. Without it that is the zero address, or Multicall3 where
   * calls are made together.
   */
  from?: string | undefined;
  /** A longer answer has failed. Default {@link MAX_RESULT_BYTES}. */
  maxBytes?: number | undefined;
}

/**
 * How one question ended:
 * - `read`: the value is what the chain says
 * - `failed`: the contract reverted, ran out of gas or returned too much; asking again gives the same
 * - `refused`: the nodes answered, but do not have that state or will not tell; asking again may help
 */
export type StateAnswer =
  | { outcome: 'read'; value: string }
  | { outcome: 'failed'; message: string }
  | { outcome: 'refused'; message: string };

/** Both methods answer one for one, and throw a `RetryableError` when no node could be asked. */
export interface StateReader {
  /** Values are the returned bytes as hex, `0x` when there are none. */
  call(block: BlockRef, calls: readonly StateCall[]): Promise<StateAnswer[]>;
  /** Values are wei as decimal text. */
  balances(block: BlockRef, addresses: readonly string[]): Promise<StateAnswer[]>;
}

/** What a chain of Aptos is asked. Throws a `RetryableError` when no node could be asked. */
export interface AptosReader {
  /**
   * What is published of a coin, by its type, or of a fungible asset, by the address of its metadata,
   * by a node that has this block; undefined where nothing is.
   */
  readCoin(
    type: string,
    block: BlockRef,
  ): Promise<
    | { outcome: 'read'; value: Readonly<Record<string, unknown>> | undefined }
    | { outcome: 'refused'; message: string }
  >;
}
