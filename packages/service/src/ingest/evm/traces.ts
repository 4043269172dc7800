/**
 * Extracts internal transactions from the traces of geth's `callTracer` or OpenEthereum's
 * `trace_block`: calls, contract creations and self-destructs that moved value inside a
 * transaction. Excludes the transaction's own call, and reverted calls with everything below them.
 */
import type { EvmInternalTransaction } from '../../match/evm/block.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type Json, hex, list, object, optionalHex, toNumber } from '../json.ts';
import { SourceError, isOfKind } from '../source.ts';
import type { Provider } from './provider.ts';

interface Transactions {
  /** Transaction hashes of the block, in order. */
  hashes: readonly string[];
  blockHash: string;
}

const MOVING_CALLS = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/** Parses the result of `debug_traceBlockByHash` with `{ tracer: 'callTracer' }`. */
export function fromCallTracer(
  answer: unknown,
  { hashes }: Transactions,
): EvmInternalTransaction[] {
  const results = list(answer, 'traces');
  if (results.length !== hashes.length) {
    throw new SourceError(
      'missing',
      `the block has ${hashes.length} transactions but ${results.length} traces`,
    );
  }
  return results.flatMap((item, transactionIndex) => {
    const entry = object(item, 'trace');
    const transactionHash = hashes[transactionIndex]!;
    if (entry['txHash'] !== undefined && entry['txHash'] !== transactionHash) {
      throw new SourceError(
        'inconsistent',
        `trace ${transactionIndex} belongs to transaction ${JSON.stringify(entry['txHash'])}`,
      );
    }
    const found: EvmInternalTransaction[] = [];
    const visit = (frame: Json): void => {
      for (const child of list(frame['calls'] ?? [], 'calls')) {
        const call = object(child, 'call');
        if (call['error'] !== undefined) continue;
        const value = optionalHex(call, 'value') ?? '0x0';
        if (MOVING_CALLS.has(String(call['type']).toUpperCase()) && BigInt(value) > 0n) {
          found.push({
            transactionHash,
            transactionIndex,
            index: found.length,
            from: hex(call, 'from').toLowerCase(),
            to: optionalHex(call, 'to')?.toLowerCase() ?? null,
            value,
            gas: optionalHex(call, 'gas'),
          });
        }
        visit(call);
      }
    };
    const top = object(entry['result'], 'trace result');
    if (top['error'] === undefined) visit(top);
    return found;
  });
}

/** Parses the result of `trace_block`. */
export function fromTraceBlock(
  answer: unknown,
  { hashes, blockHash }: Transactions,
): EvmInternalTransaction[] {
  const found: EvmInternalTransaction[] = [];
  /**
   * Trace addresses of the reverted calls, by transaction hash. Each step ends with a comma, so
   * that `1,` is not a prefix of `12,`.
   */
  const reverted = new Map<string, string[]>();
  const counts = new Map<string, number>();
  for (const item of list(answer, 'traces')) {
    const trace = object(item, 'trace');
    if (trace['blockHash'] !== blockHash) {
      throw new SourceError(
        'inconsistent',
        `a trace claims to belong to block ${JSON.stringify(trace['blockHash'])}`,
      );
    }
    // Miner rewards do not belong to a transaction.
    if (trace['type'] === 'reward') continue;
    const transactionHash = hex(trace, 'transactionHash');
    const transactionIndex = toNumber(`0x${Number(trace['transactionPosition']).toString(16)}`);
    if (hashes[transactionIndex] !== transactionHash) {
      throw new SourceError('inconsistent', `a trace belongs to transaction ${transactionHash}`);
    }
    const at = list(trace['traceAddress'], 'traceAddress')
      .map((step) => `${Number(step)},`)
      .join('');
    const above = reverted.get(transactionHash) ?? [];
    if (above.some((path) => at.startsWith(path))) continue;
    if (trace['error'] !== undefined && trace['error'] !== null) {
      reverted.set(transactionHash, [...above, at]);
      continue;
    }
    if (at === '') continue;
    const move = toMove(trace);
    if (move === undefined || BigInt(move.value) === 0n) continue;
    const index = counts.get(transactionHash) ?? 0;
    counts.set(transactionHash, index + 1);
    found.push({ transactionHash, transactionIndex, index, ...move });
  }
  return found;
}

function toMove(
  trace: Json,
): Pick<EvmInternalTransaction, 'from' | 'to' | 'value' | 'gas'> | undefined {
  const action = object(trace['action'], 'action');
  switch (trace['type']) {
    case 'call':
      if (action['callType'] !== 'call') return undefined;
      return {
        from: hex(action, 'from').toLowerCase(),
        to: hex(action, 'to').toLowerCase(),
        value: hex(action, 'value'),
        gas: optionalHex(action, 'gas'),
      };
    case 'create':
      return {
        from: hex(action, 'from').toLowerCase(),
        to: optionalHex(object(trace['result'], 'result'), 'address')?.toLowerCase() ?? null,
        value: hex(action, 'value'),
        gas: optionalHex(action, 'gas'),
      };
    case 'suicide':
    case 'selfdestruct':
      return {
        from: hex(action, 'address').toLowerCase(),
        to: hex(action, 'refundAddress').toLowerCase(),
        value: hex(action, 'balance'),
        // As in the results of `callTracer`.
        gas: '0x0',
      };
    default:
      return undefined;
  }
}

export interface TraceReader {
  /**
   * Returns the internal transactions of a block; undefined if the node does not trace blocks.
   *
   * @param hashes hashes of the block's transactions, in order
   */
  read(
    node: Provider,
    header: BlockHeader,
    hashes: readonly string[],
  ): Promise<EvmInternalTransaction[] | undefined>;
  /** Returns whether this node is known not to trace blocks. */
  isMissingAt(node: Provider): boolean;
}

/** Reads the internal transactions of blocks with the trace method that each node supports. */
export function createTraceReader(): TraceReader {
  /** The supported trace method of each provider, once known. */
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
    isMissingAt: (node) => dialects.get(node) === 'none',
  };
}
