/**
 * Extracts internal transactions from the traces of geth's `callTracer` or OpenEthereum's
 * `trace_block`: calls, contract creations and self-destructs that moved value inside a
 * transaction. Excludes the transaction's own call, and reverted calls with everything below them.
 */
import type { EvmInternalTransaction } from '../match/block.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { type Json, hex, list, object, showValue, toHex } from '../../../ingest/json.ts';
import { SourceError, isOfKind } from '../../../ingest/source.ts';
import { isPassing } from '../../../ingest/nodes/rpcError.ts';
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

/** The internal transactions of each transaction of a block; undefined if its trace is missing. */
type TracesOf = (EvmInternalTransaction[] | undefined)[];

/**
 * Parses the result of `debug_traceBlockByHash` with `{ tracer: 'callTracer' }`. Some nodes list no
 * trace of transactions that the network itself adds.
 */
export function fromCallTracer(answer: unknown, { hashes }: Transactions): TracesOf {
  const entries = list(answer, 'traces').map((item) => object(item, 'trace'));
  if (entries.length !== hashes.length && entries.some((entry) => entry['txHash'] == null)) {
    throw new SourceError(
      'missing',
      `the block has ${hashes.length} transactions but ${entries.length} traces`,
    );
  }
  const places = new Map<unknown, number>(hashes.map((each, n) => [each, n]));
  const traces: TracesOf = hashes.map(() => undefined);
  for (const [n, { txHash, result }] of entries.entries()) {
    const index = txHash == null ? n : places.get(txHash);
    if (index === undefined) {
      throw new SourceError(
        'inconsistent',
        `trace ${n} belongs to transaction ${showValue(txHash)}`,
      );
    }
    if (result != null) traces[index] = ifReadable(() => fromFrame(result, hashes[index]!, index));
  }
  return traces;
}

/** Returns undefined if a value has an unknown form. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
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
export function fromTraceBlock(answer: unknown, { hashes, blockHash }: Transactions): TracesOf {
  const traces: TracesOf = hashes.map(() => []);
  /** Paths of the reverted calls, by transaction hash. */
  const reverted = new Map<string, string[]>();
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
    const at = ifReadable(() => pathOf(trace));
    if (at === undefined) traces[transactionIndex] = undefined;
    const found = traces[transactionIndex];
    if (at === undefined || found === undefined) continue;
    const above = reverted.get(transactionHash) ?? [];
    if (above.some((path) => at.startsWith(path))) continue;
    if (trace['error'] !== undefined && trace['error'] !== null) {
      reverted.set(transactionHash, [...above, at]);
      continue;
    }
    if (at === '') continue;
    const move = ifReadable(() => toMove(trace));
    if (move === undefined) traces[transactionIndex] = undefined;
    else if (move !== null && BigInt(move.value) > 0n) {
      found.push({ transactionHash, transactionIndex, index: found.length, ...move });
    }
  }
  return traces;
}

/** Returns the trace address. Each step ends with a comma, so that `1,` is not a prefix of `12,`. */
const pathOf = (trace: Json): string =>
  list(trace['traceAddress'], 'traceAddress')
    .map((step) => `${Number(step)},`)
    .join('');

/** Returns what a trace moved; null if it is of a kind that moves nothing. */
function toMove(trace: Json): Pick<EvmInternalTransaction, 'from' | 'to' | 'value' | 'gas'> | null {
  const action = object(trace['action'], 'action');
  switch (trace['type']) {
    case 'call':
      if (action['callType'] !== 'call') return null;
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
      return null;
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

/** Returns whether only this transaction cannot be traced, now and later. */
const isOfTransaction = (error: unknown): boolean =>
  isOfKind(error, 'refused', 'too-large', 'inconsistent') && !isPassing(error);

/** Reads the internal transactions of blocks in the ways that each node supports. */
export function createTraceReader(ways: Ways<Provider>): TraceReader {
  const isMissingAt = (node: Provider): boolean =>
    WAYS.every((way) => ways.isRetired(node, 'traces', way));

  const traceSingly = async (
    node: Provider,
    { hashes }: Transactions,
    index: number,
  ): Promise<EvmInternalTransaction[]> => {
    const hash = hashes[index]!;
    const how = { isOptional: true };
    const answer = await node.request('debug_traceTransaction', [hash, SINGLE_TRACER], how);
    return fromFrame(answer, hash, index);
  };

  /** Traces the transactions whose trace is missing one by one, if the node can. */
  const complete = async (
    node: Provider,
    transactions: Transactions,
    traces: Readonly<TracesOf>,
  ): Promise<Traced> => {
    const all = [...traces];
    const missing = [...all.keys()].filter((n) => all[n] === undefined);
    await mapLimited(missing, TRACES_AT_ONCE, async (n) => {
      try {
        all[n] = await traceSingly(node, transactions, n);
      } catch (error) {
        if (!(error instanceof SourceError) || isOfKind(error, 'rate-limited', 'unreachable')) {
          throw error;
        }
      }
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
              return complete(node, transactions, fromTraceBlock(answer, transactions));
            },
          },
          {
            name: 'one by one',
            async ask() {
              // The first one shows whether the node supports this at all.
              const first = await traceSingly(node, transactions, 0).catch((error: unknown) => {
                if (isOfTransaction(error)) return undefined;
                throw error;
              });
              const others = hashes.slice(1).map(() => undefined);
              return complete(node, transactions, [first, ...others]);
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
