/** Reads the traces of blocks: internal transactions, and all calls if streams need them. */
import type { CallFailure } from '../base/callFailure.ts';
import type { EvmBlock, EvmCall, EvmInternalTransaction } from '../match/block.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { toHex } from '../../../ingest/json.ts';
import { isOfKind } from '../../../ingest/source.ts';
import {
  type Frame,
  type Transactions,
  framesOf,
  framesOfBlock,
  framesOfTraceBlock,
} from './frames.ts';
import { mapLimited } from './mapLimited.ts';
import type { Provider } from './provider.ts';
import type { Ways } from './ways.ts';

export interface TraceReader {
  /**
   * Returns the traces of a block; undefined if the node traces neither blocks nor transactions.
   *
   * @param hashes hashes of the block's transactions, in order
   * @param hasCalls whether to return all calls
   */
  read(
    node: Provider,
    header: BlockHeader,
    hashes: readonly string[],
    hasCalls: boolean,
  ): Promise<Traced | undefined>;
  /** Returns whether this node is known not to trace. */
  isMissingAt(node: Provider): boolean;
}

export interface Traced extends Pick<EvmBlock, 'internalTransactions' | 'calls' | 'failures'> {
  /** Whether the trace of a transaction is missing, and with it the transaction's calls. */
  isPartial: boolean;
}

/** Collects frames in execution order. */
export function collectFrames(
  frames: Iterable<Frame>,
  hasCalls: boolean,
): Omit<Traced, 'isPartial'> {
  const internalTransactions: EvmInternalTransaction[] = [];
  const calls: EvmCall[] = [];
  const failures = new Map<string, CallFailure>();
  let indices = { transactionHash: '', next: 0 };
  for (const frame of frames) {
    const { transactionHash, transactionIndex, traceAddress, isFailed, failure } = frame;
    if (traceAddress.length === 0) {
      if (failure !== undefined) failures.set(transactionHash, failure);
      continue;
    }
    const move = isFailed ? undefined : frame.readMove();
    if (move !== undefined && BigInt(move.value) > 0n) {
      if (indices.transactionHash !== transactionHash) indices = { transactionHash, next: 0 };
      const index = indices.next++;
      internalTransactions.push({ transactionHash, transactionIndex, index, ...move });
    }
    const call = hasCalls ? frame.readCall() : undefined;
    if (call !== undefined) {
      const place = { transactionHash, transactionIndex, traceAddress, isFailed };
      calls.push({ ...place, ...call, ...(failure !== undefined && { failure }) });
    }
  }
  return { internalTransactions, ...(hasCalls && { calls, failures }) };
}

function* joined(traces: readonly (Iterable<Frame> | undefined)[]): Generator<Frame> {
  for (const frames of traces) if (frames !== undefined) yield* frames;
}

/** Maximum number of concurrent requests for single traces of a block. */
const TRACES_AT_ONCE = 8;
const TRACER = { tracer: 'callTracer' };
/** Time limit for a single trace, which is longer than the usual 5 s of nodes. */
const SINGLE_TRACER = { ...TRACER, timeout: '30s' };
const WAYS = ['callTracer', 'trace_block', 'one by one'] as const;

/** Reads the traces of blocks in the ways that each node supports. */
export function createTraceReader(ways: Ways<Provider>): TraceReader {
  const isMissingAt = (node: Provider): boolean =>
    WAYS.every((way) => ways.isRetired(node, 'traces', way));

  /** Traces one transaction; undefined if its trace fails. */
  const traceSingly = async (
    node: Provider,
    { hashes }: Transactions,
    index: number,
  ): Promise<Frame[] | undefined> => {
    const hash = hashes[index]!;
    try {
      const how = { isOptional: true };
      const answer = await node.request('debug_traceTransaction', [hash, SINGLE_TRACER], how);
      return [...framesOf(answer, hash, index)];
    } catch (error) {
      if (isOfKind(error, 'refused', 'too-large', 'inconsistent', 'missing')) return undefined;
      throw error;
    }
  };

  /** Traces the transactions whose trace is missing one by one. */
  const complete = async (
    node: Provider,
    transactions: Transactions,
    traces: Iterable<Iterable<Frame> | undefined>,
    hasCalls: boolean,
  ): Promise<Traced> => {
    const all = [...traces];
    const missing = [...all.keys()].filter((n) => all[n] === undefined);
    await mapLimited(missing, TRACES_AT_ONCE, async (n) => {
      all[n] = await traceSingly(node, transactions, n);
    });
    const isPartial = all.includes(undefined);
    return { ...collectFrames(joined(all), hasCalls), isPartial };
  };

  return {
    async read(node, { number, hash }, hashes, hasCalls) {
      const transactions = { hashes, blockHash: hash };
      try {
        return await ways.ask<Traced>(node, 'traces', [
          {
            name: 'callTracer',
            async ask() {
              const answer = await node.request('debug_traceBlockByHash', [hash, TRACER]);
              return complete(node, transactions, framesOfBlock(answer, transactions), hasCalls);
            },
          },
          {
            name: 'trace_block',
            async ask() {
              const answer = await node.request('trace_block', [toHex(number)]);
              const frames = framesOfTraceBlock(answer, transactions);
              return { ...collectFrames(frames, hasCalls), isPartial: false };
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
                hasCalls,
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
