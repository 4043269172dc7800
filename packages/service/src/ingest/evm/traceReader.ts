/** Internal transactions of a block from whichever dialect of traces a node offers. */
import type { EvmInternalTransaction } from '../../match/evm/block.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import type { Provider } from './provider.ts';
import { isOfKind } from '../source.ts';
import { fromCallTracer, fromTraceBlock } from './traces.ts';

export interface TraceReader {
  /**
   * Undefined where this node does not trace blocks.
   *
   * @param hashes of the block's transactions, in order
   */
  read(
    node: Provider,
    header: BlockHeader,
    hashes: readonly string[],
  ): Promise<EvmInternalTransaction[] | undefined>;
  /** Whether it is known that this node does not trace blocks. */
  isLackedBy(node: Provider): boolean;
}

export function createTraceReader(): TraceReader {
  /** Of each provider, as far as it was tried. */
  const dialects = new Map<Provider, 'callTracer' | 'trace_block' | 'none'>();

  return {
    async read(node, { number, hash }, hashes) {
      const known = dialects.get(node);
      const transactions = { hashes, blockHash: hash };
      if (known === undefined || known === 'callTracer') {
        try {
          const tracer = { tracer: 'callTracer' };
          const answer = await node.request('debug_traceBlockByHash', [hash, tracer]);
          dialects.set(node, 'callTracer');
          return fromCallTracer(answer, transactions);
        } catch (error) {
          if (known !== undefined || !isOfKind(error, 'unsupported')) throw error;
        }
      }
      if (known === 'none') return undefined;
      try {
        const answer = await node.request('trace_block', [`0x${number.toString(16)}`]);
        dialects.set(node, 'trace_block');
        return fromTraceBlock(answer, transactions);
      } catch (error) {
        if (known !== undefined || !isOfKind(error, 'unsupported')) throw error;
        dialects.set(node, 'none');
        return undefined;
      }
    },
    isLackedBy: (node) => dialects.get(node) === 'none',
  };
}
