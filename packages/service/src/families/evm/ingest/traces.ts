/** Reads the traces of blocks: internal transactions, and all calls if streams need them. */
import type { CallFailure } from '../base/callFailure.ts';
import type { EvmBlock, EvmCall, EvmInternalTransaction } from '../match/block.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { toHex } from '../../../ingest/json.ts';
import { isTransient } from '../../../ingest/nodes/rpcError.ts';
import { SourceError, isOfKind } from '../../../ingest/source.ts';
import { type Frame, framesOf, framesOfBlock, framesOfTraceBlock } from './frames.ts';
import { mapLimited } from './mapLimited.ts';
import type { Provider } from './provider.ts';
import type { Way, Ways } from './ways.ts';

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
  ): Promise<TracedRecords | undefined>;
  /** Returns whether this node is known not to trace. */
  isMissingAt(node: Provider): boolean;
}

export interface TracedRecords extends Pick<
  EvmBlock,
  'internalTransactions' | 'calls' | 'failures'
> {
  /** Hashes of the transactions whose trace was read. */
  traced: readonly string[];
  /** Whether the trace of a transaction is missing, and with it the transaction's calls. */
  isPartial: boolean;
  /** Whether a missing trace may be read later: the node lags, or failed for a passing reason. */
  mayAppear: boolean;
}

/** The trace of a transaction. */
interface Trace {
  internalTransactions: EvmInternalTransaction[];
  /** Empty unless calls are needed. */
  calls: EvmCall[];
  /** Why the transaction failed; undefined if it did not. */
  failure: CallFailure | undefined;
}

/** Reads the frames of a transaction in execution order; undefined if a value has an unknown form. */
export function readTrace(frames: Iterable<Frame>, hasCalls: boolean): Trace | undefined {
  try {
    return collectFrames(frames, hasCalls);
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

function collectFrames(frames: Iterable<Frame>, hasCalls: boolean): Trace {
  const trace: Trace = { internalTransactions: [], calls: [], failure: undefined };
  const { internalTransactions, calls } = trace;
  for (const frame of frames) {
    const { transactionHash, transactionIndex, traceAddress, isFailed, failure } = frame;
    if (traceAddress.length === 0) {
      trace.failure = failure;
      continue;
    }
    const move = isFailed ? undefined : frame.readMove();
    if (move !== undefined && BigInt(move.value) > 0n) {
      const index = internalTransactions.length;
      internalTransactions.push({ transactionHash, transactionIndex, index, ...move });
    }
    const call = hasCalls ? frame.readCall() : undefined;
    if (call !== undefined) {
      const place = { transactionHash, transactionIndex, traceAddress, isFailed };
      calls.push({ ...place, ...call, ...(failure !== undefined && { failure }) });
    }
  }
  return trace;
}

/** Joins the traces of the transactions of a block. */
export function joinTraces(
  traces: readonly (Trace | undefined)[],
  hashes: readonly string[],
  hasCalls: boolean,
): Omit<TracedRecords, 'mayAppear'> {
  const failures = new Map<string, CallFailure>();
  for (const [n, trace] of traces.entries()) {
    if (trace?.failure !== undefined) failures.set(hashes[n]!, trace.failure);
  }
  return {
    internalTransactions: traces.flatMap((each) => each?.internalTransactions ?? []),
    ...(hasCalls && { calls: traces.flatMap((each) => each?.calls ?? []), failures }),
    traced: hashes.filter((_, n) => traces[n] !== undefined),
    isPartial: traces.includes(undefined),
  };
}

/** Maximum number of concurrent requests for single traces of a block. */
const TRACES_AT_ONCE = 8;
const TRACER = { tracer: 'callTracer' };
/** Time limit for a single trace, which is longer than the usual 5 s of nodes. */
const SINGLE_TRACER = { ...TRACER, timeout: '30s' };
const WAYS = ['callTracer', 'trace_block', 'one by one'] as const;

/** Returns whether only this transaction cannot be traced, now and later. */
const isOfTransaction = (error: unknown): boolean =>
  isOfKind(error, 'refused', 'too-large', 'inconsistent') && !isTransient(error);

/** Reads the traces of blocks in the ways that each node supports. */
export function createTraceReader(ways: Ways<Provider>): TraceReader {
  const isMissingAt = (node: Provider): boolean =>
    WAYS.every((way) => ways.isRetired(node, 'traces', way));

  return {
    async read(node, { number, hash }, hashes, hasCalls) {
      const transactions = { hashes, blockHash: hash };
      /** The traces so far. Each way adds those that are missing. */
      const traces: (Trace | undefined)[] = hashes.map(() => undefined);
      /** The transactions that were not traced alone yet. */
      const untried = new Set(hashes.keys());
      let mayAppear = false;
      const listMissing = () => [...untried].filter((n) => traces[n] === undefined);
      const traceSingly = async (index: number): Promise<void> => {
        untried.delete(index);
        const own = hashes[index]!;
        const how = { isOptional: true };
        const answer = await node.request('debug_traceTransaction', [own, SINGLE_TRACER], how);
        traces[index] = readTrace(framesOf(answer, own, index), hasCalls);
      };
      /** Traces the transactions whose trace is missing one by one, if the node can. */
      const complete = async (): Promise<TracedRecords> => {
        await mapLimited(listMissing(), TRACES_AT_ONCE, async (n) => {
          try {
            await traceSingly(n);
          } catch (error) {
            if (!(error instanceof SourceError) || isOfKind(error, 'rate-limited', 'unreachable')) {
              throw error;
            }
            mayAppear ||= !isOfKind(error, 'unsupported') && !isOfTransaction(error);
          }
        });
        return { ...joinTraces(traces, hashes, hasCalls), mayAppear };
      };
      const add = (read: readonly (Iterable<Frame> | undefined)[]): Promise<TracedRecords> => {
        for (const [n, frames] of read.entries()) {
          if (frames !== undefined) traces[n] ??= readTrace(frames, hasCalls);
        }
        return complete();
      };
      try {
        const questions: Way<TracedRecords>[] = [
          {
            name: 'callTracer',
            async ask() {
              const answer = await node.request('debug_traceBlockByHash', [hash, TRACER]);
              return add(framesOfBlock(answer, transactions));
            },
          },
          {
            name: 'trace_block',
            async ask() {
              const answer = await node.request('trace_block', [toHex(number)]);
              return add(framesOfTraceBlock(answer, transactions));
            },
          },
          {
            name: 'one by one',
            async ask() {
              // The first one shows whether the node supports this at all.
              const [first] = listMissing();
              if (first !== undefined) {
                await traceSingly(first).catch((error: unknown) => {
                  if (!isOfTransaction(error)) throw error;
                });
              }
              return complete();
            },
          },
        ];
        return await ways.ask(node, 'traces', questions, ({ isPartial }) => !isPartial);
      } catch (error) {
        if (isOfKind(error, 'unsupported') && isMissingAt(node)) return undefined;
        throw error;
      }
    },
    isMissingAt,
  };
}
