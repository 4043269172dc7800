/** How a chain family reads the values on chain of its streams. */
import type { ExplainedValue } from '@sluice/kit/contract';
import type { ReadState } from '../ingest/values/reading.ts';
import type { BlockHeader } from '../store/blocks/contract.ts';

/** The values of a stream in a past block. */
export interface TriedValues<Sent> {
  /** The values whose condition holds. */
  sent: readonly Sent[];
  /** Why each value is sent or not. */
  values: ExplainedValue[];
}

export interface ChainValues<Stream, Sent> {
  /** Returns whether the stream reads values. */
  isRead(stream: Stream): boolean;
  read: ReadState<Stream, Sent>;
  /**
   * Reads the values of a stream in a past block and its parent, and compares them.
   *
   * @param addresses undefined for the addresses of the stored stream with the record's id
   * @param blocks the block and its parent, which block 0 does not have
   */
  try(
    stream: Stream,
    addresses: readonly string[] | undefined,
    blocks: { parent: BlockHeader | undefined; block: BlockHeader },
  ): Promise<TriedValues<Sent>>;
  /**
   * Explains the values that these streams read in the state of a committed block, by stream.
   * Streams without values are omitted.
   *
   * @param address limits the values to those that concern this lowercase address
   */
  explain(
    streams: readonly Stream[],
    block: Pick<BlockHeader, 'number' | 'hash' | 'timestamp'>,
    address?: string,
  ): Promise<Map<string, ExplainedValue[]>>;
}
