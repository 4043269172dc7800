/**
 * Extracts internal transactions from the traces of geth's `callTracer` or OpenEthereum's
 * `trace_block`: calls, contract creations and self-destructs that moved value inside a
 * transaction. Excludes the transaction's own call, and reverted calls with everything below them.
 */
import type { EvmInternalTransaction } from '../match/block.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { type Json, hex, list, object, showValue, toHex } from '../../../ingest/json.ts';
import { SourceError, isOfKind } from '../../../ingest/source.ts';
import { mapLimited } from './mapLimited.ts';
import type { Provider } from './provider.ts';
import { address, number, optionalAddress, optionalQuantity, quantity } from './values.ts';
import type { Ways } from './ways.ts';

interface Transactions {
  /** Transaction hashes of the block, in order. */
  hashes: readonly string[];
  blockHash: string;
}

const MOVING_CALLS = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/**
 * Parses the result of `debug_traceBlockByHash` with `{ tracer: 'callTracer' }`. The entry of a
 * transaction is undefined if its trace failed.
 */
export function fromCallTracer(
  answer: unknown,
  { hashes }: Transactions,
): (EvmInternalTransaction[] | undefined)[] {
  const results = list(answer, 'traces');
  if (results.length !== hashes.length) {
    throw new SourceError(
      'missing',
      `the block has ${hashes.length} transactions but ${results.length} traces`,
    );
  }
  return results.map((item, transactionIndex) => {
    const entry = object(item, 'trace');
    const transactionHash = hashes[transactionIndex]!;
    if ((entry['txHash'] ?? transactionHash) !== transactionHash) {
      throw new SourceError(
        'inconsistent',
        `trace ${transactionIndex} belongs to transaction ${showValue(entry['txHash'])}`,
      );
    }
    return entry['result'] == null
      ? undefined
      : fromFrame(entry['result'], transactionHash, transactionIndex);
  });
}

/** Parses the call frame of one transaction. */
function fromFrame(
  frame: unknown,
  transactionHash: string,
  transactionIndex: number,
): EvmInternalTransaction[] {
  const found: EvmInternalTransaction[] = [];
  const visit = (parent: Json): void => {
    for (const child of list(parent['calls'] ?? [], 'calls')) {
      const call = object(child, 'call');
      if (call['error'] != null) continue;
      const value = optionalQuantity(call, 'value') ?? '0x0';
      if (MOVING_CALLS.has(String(call['type']).toUpperCase()) && BigInt(value) > 0n) {
        found.push({
          transactionHash,
          transactionIndex,
          index: found.length,
          from: address(call, 'from'),
          to: optionalAddress(call, 'to'),
          value,
          gas: optionalQuantity(call, 'gas'),
        });
      }
      visit(call);
    }
  };
  const top = object(frame, 'trace result');
  if (top['error'] == null) visit(top);
  return found;
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
        `a trace claims to belong to block ${showValue(trace['blockHash'])}`,
      );
    }
    // Miner rewards do not belong to a transaction.
    if (trace['type'] === 'reward') continue;
    const transactionHash = hex(trace, 'transactionHash');
    const transactionIndex = number(trace, 'transactionPosition');
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
        from: address(action, 'from'),
        to: address(action, 'to'),
        value: quantity(action, 'value'),
        gas: optionalQuantity(action, 'gas'),
      };
    case 'create':
      return {
        from: address(action, 'from'),
        to: optionalAddress(object(trace['result'], 'result'), 'address'),
        value: quantity(action, 'value'),
        gas: optionalQuantity(action, 'gas'),
      };
    case 'suicide':
    case 'selfdestruct':
      return {
        from: address(action, 'address'),
        to: address(action, 'refundAddress'),
        value: quantity(action, 'balance'),
        // As in the results of `callTracer`.
        gas: '0x0',
      };
    default:
      return undefined;
  }
}

export interface TraceReader {
  /**
   * Returns the internal transactions of a block; undefined if the node traces neither blocks nor
   * transactions.
   *
   * @param hashes hashes of the block's transactions, in order
   */
  read(node: Provider, header: BlockHeader, hashes: readonly string[]): Promise<Traced | undefined>;
  /** Returns whether this node is known not to trace. */
  isMissingAt(node: Provider): boolean;
}

export interface Traced {
  found: EvmInternalTransaction[];
  /** Whether the trace of a transaction is missing, and with it the transaction's part of `found`. */
  isPartial: boolean;
}

/** Maximum number of concurrent requests for single traces of a block. */
const TRACES_AT_ONCE = 8;
const TRACER = { tracer: 'callTracer' };
/** Time limit for a single trace, which is longer than the usual 5 s of nodes. */
const SINGLE_TRACER = { ...TRACER, timeout: '30s' };
const WAYS = ['callTracer', 'trace_block', 'one by one'] as const;

/** Reads the internal transactions of blocks in the ways that each node supports. */
export function createTraceReader(ways: Ways<Provider>): TraceReader {
  const isMissingAt = (node: Provider): boolean =>
    WAYS.every((way) => ways.isRetired(node, 'traces', way));

  /** Traces one transaction; undefined if its trace fails. */
  const traceSingly = async (
    node: Provider,
    { hashes }: Transactions,
    index: number,
  ): Promise<EvmInternalTransaction[] | undefined> => {
    const hash = hashes[index]!;
    try {
      const how = { isOptional: true };
      const answer = await node.request('debug_traceTransaction', [hash, SINGLE_TRACER], how);
      return fromFrame(answer, hash, index);
    } catch (error) {
      if (isOfKind(error, 'refused', 'too-large', 'inconsistent', 'missing')) return undefined;
      throw error;
    }
  };

  /** Traces the transactions whose trace is missing one by one. */
  const complete = async (
    node: Provider,
    transactions: Transactions,
    traces: readonly (EvmInternalTransaction[] | undefined)[],
  ): Promise<Traced> => {
    const all = [...traces];
    const missing = [...all.keys()].filter((n) => all[n] === undefined);
    await mapLimited(missing, TRACES_AT_ONCE, async (n) => {
      all[n] = await traceSingly(node, transactions, n);
    });
    return { found: all.flatMap((each) => each ?? []), isPartial: all.includes(undefined) };
  };

  return {
    async read(node, { number, hash }, hashes) {
      const transactions = { hashes, blockHash: hash };
      try {
        return await ways.ask<Traced>(node, 'traces', [
          {
            name: 'callTracer',
            async ask() {
              const answer = await node.request('debug_traceBlockByHash', [hash, TRACER]);
              return complete(node, transactions, fromCallTracer(answer, transactions));
            },
          },
          {
            name: 'trace_block',
            async ask() {
              const answer = await node.request('trace_block', [toHex(number)]);
              return { found: fromTraceBlock(answer, transactions), isPartial: false };
            },
          },
          {
            name: 'one by one',
            async ask() {
              // The first one shows whether the node supports this at all.
              await node.request('debug_traceTransaction', [hashes[0], SINGLE_TRACER]);
              return complete(
                node,
                transactions,
                hashes.map(() => undefined),
              );
            },
          },
        ]);
      } catch (error) {
        if (isOfKind(error, 'unsupported') && isMissingAt(node)) return undefined;
        throw error;
      }
    },
    isMissingAt,
  };
}
