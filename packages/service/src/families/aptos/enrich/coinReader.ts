import type { BlockRef } from '../../../store/blocks/contract.ts';

/** Reads data of an Aptos chain. Throws a `RetryableError` when no node could be queried. */
export interface AptosReader {
  /**
   * Reads the metadata of a coin by its type, or of a fungible asset by its metadata address. The
   * value is undefined if a node that has reached this block has no such metadata.
   */
  readCoin(
    type: string,
    block: BlockRef,
  ): Promise<
    | { outcome: 'read'; value: Readonly<Record<string, unknown>> | undefined }
    | { outcome: 'refused'; message: string }
  >;
}
