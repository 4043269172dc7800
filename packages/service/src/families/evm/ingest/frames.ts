/**
 * Reads the calls, contract creations and self-destructs of transactions from the traces of geth's
 * `callTracer` or OpenEthereum's `trace_block`.
 */
import { CALL_TYPES } from '@sluice/kit/contract';
import type { CallFailure } from '../base/callFailure.ts';
import type { CallType, EvmCall, EvmInternalTransaction } from '../match/block.ts';
import {
  type Json,
  readHex,
  toList,
  toObject,
  optionalHex,
  showValue,
} from '../../../ingest/json.ts';
import { SourceError } from '../../../ingest/source.ts';
import {
  readAddress,
  readNumber,
  optionalAddress,
  optionalQuantity,
  readQuantity,
} from './values.ts';

export interface Transactions {
  /** Transaction hashes of the block, in order. */
  hashes: readonly string[];
  blockHash: string;
}

type Move = Pick<EvmInternalTransaction, 'from' | 'to' | 'value' | 'gas'>;
type Call = Pick<EvmCall, 'type' | 'from' | 'to' | 'value' | 'input'>;

/** A frame of a transaction's trace. */
export interface Frame {
  transactionHash: string;
  transactionIndex: number;
  /** See `EvmCall.traceAddress`. */
  traceAddress: readonly number[];
  /** Whether it, or a frame around it, failed. */
  isFailed: boolean;
  /** Why it failed itself; undefined if it did not. */
  failure: CallFailure | undefined;
  /** Reads the transfer of value; undefined for frames that cannot move value. */
  readMove(): Move | undefined;
  /** Reads the call; undefined for contract creations and self-destructs. */
  readCall(): Call | undefined;
}

const MOVING_CALLS = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);
const CALLS: ReadonlyMap<string, CallType> = new Map(CALL_TYPES.map((type) => [type, type]));

/**
 * Returns the frames of each transaction from the result of `debug_traceBlockByHash` with `{ tracer:
 * 'callTracer' }`; undefined if its trace failed or is missing. Some nodes list no trace of
 * transactions that the network itself adds.
 */
export function framesOfBlock(
  answer: unknown,
  { hashes }: Transactions,
): (Iterable<Frame> | undefined)[] {
  const entries = toList(answer, 'traces').map((item) => toObject(item, 'trace'));
  if (entries.length !== hashes.length && entries.some((entry) => entry['txHash'] == null)) {
    throw new SourceError(
      'missing',
      `the block has ${hashes.length} transactions but ${entries.length} traces`,
    );
  }
  const places = new Map<unknown, number>(hashes.map((each, n) => [each, n]));
  const traces: (Iterable<Frame> | undefined)[] = hashes.map(() => undefined);
  for (const [n, { txHash, result }] of entries.entries()) {
    const index = txHash == null ? n : places.get(txHash);
    if (index === undefined) {
      throw new SourceError(
        'inconsistent',
        `trace ${n} belongs to transaction ${showValue(txHash)}`,
      );
    }
    if (result != null) traces[index] = framesOf(result, hashes[index]!, index);
  }
  return traces;
}

/** Yields the frames of a result of `callTracer` in execution order. */
export function* framesOf(
  result: unknown,
  transactionHash: string,
  transactionIndex: number,
): Generator<Frame> {
  interface Open {
    frame: Json;
    traceAddress: readonly number[];
    isUndone: boolean;
  }
  // A stack, because calls may be nested too deeply for recursion.
  const open: Open[] = [
    { frame: toObject(result, 'trace result'), traceAddress: [], isUndone: false },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { frame, traceAddress, isUndone } = next;
    const failure = failureOf(frame, frame);
    const isFailed = isUndone || failure !== undefined;
    yield {
      transactionHash,
      transactionIndex,
      traceAddress,
      isFailed,
      failure,
      readMove: () => moveOf(frame),
      readCall: () => callOf(frame, String(frame['type']).toLowerCase()),
    };
    const children = toList(frame['calls'] ?? [], 'calls');
    for (let n = children.length - 1; n >= 0; n--) {
      open.push({
        frame: toObject(children[n], 'call'),
        traceAddress: [...traceAddress, n],
        isUndone: isFailed,
      });
    }
  }
}

function moveOf(frame: Json): Move | undefined {
  if (!MOVING_CALLS.has(String(frame['type']).toUpperCase())) return undefined;
  return {
    from: readAddress(frame, 'from'),
    to: optionalAddress(frame, 'to'),
    value: optionalQuantity(frame, 'value') ?? '0x0',
    gas: optionalQuantity(frame, 'gas'),
  };
}

/** Reads a call from a frame of `callTracer`, or from the action of `trace_block`. */
function callOf(frame: Json, name: string): Call | undefined {
  const type = CALLS.get(name);
  if (type === undefined) return undefined;
  return {
    type,
    from: readAddress(frame, 'from'),
    to: readAddress(frame, 'to'),
    value: optionalQuantity(frame, 'value') ?? '0x0',
    input: optionalHex(frame, 'input') ?? '0x',
  };
}

/** Returns the failure of a frame, whose returned bytes are in `result`. */
function failureOf(frame: Json, result: Json | null): CallFailure | undefined {
  const { error } = frame;
  if (error == null) return undefined;
  const output = (result && optionalHex(result, 'output')) ?? '0x';
  return { error: typeof error === 'string' ? error : 'failed', output: output.toLowerCase() };
}

/** Returns the failure of a transaction from a result of `callTracer`; undefined if it did not fail. */
export function failureOfResult(result: unknown): CallFailure | undefined {
  const frame = toObject(result, 'trace result');
  return failureOf(frame, frame);
}

/** Returns the failure of a frame of `trace_block`; undefined if it did not fail. */
export function failureOfTrace(trace: Json): CallFailure | undefined {
  return failureOf(trace, trace['result'] == null ? null : toObject(trace['result'], 'result'));
}

/**
 * Returns the frames of each transaction from the result of `trace_block`, in its order; undefined
 * if its trace is missing.
 */
export function framesOfTraceBlock(
  answer: unknown,
  { hashes, blockHash }: Transactions,
): (Iterable<Frame> | undefined)[] {
  const traces: Json[][] = hashes.map(() => []);
  for (const item of toList(answer, 'traces')) {
    const trace = toObject(item, 'trace');
    if (trace['blockHash'] !== blockHash) {
      throw new SourceError(
        'inconsistent',
        `a trace claims to belong to block ${showValue(trace['blockHash'])}`,
      );
    }
    // Miner rewards do not belong to a transaction.
    if (trace['type'] === 'reward') continue;
    const transactionHash = readHex(trace, 'transactionHash');
    const transactionIndex = readNumber(trace, 'transactionPosition');
    if (hashes[transactionIndex] !== transactionHash) {
      throw new SourceError('inconsistent', `a trace belongs to transaction ${transactionHash}`);
    }
    traces[transactionIndex]!.push(trace);
  }
  return traces.map((own, index) =>
    own.length === 0 ? undefined : framesOfTraces(own, hashes[index]!, index),
  );
}

function* framesOfTraces(
  traces: readonly Json[],
  transactionHash: string,
  transactionIndex: number,
): Generator<Frame> {
  /**
   * Trace addresses of the failed calls. Each step ends with a comma, so that `1,` is not a prefix
   * of `12,`.
   */
  const failed: string[] = [];
  for (const trace of traces) {
    const traceAddress = toList(trace['traceAddress'], 'traceAddress').map(Number);
    const at = traceAddress.map((step) => `${step},`).join('');
    const isUndone = failed.some((path) => at.startsWith(path));
    const failure = failureOfTrace(trace);
    if (failure !== undefined) failed.push(at);
    yield {
      transactionHash,
      transactionIndex,
      traceAddress,
      isFailed: isUndone || failure !== undefined,
      failure,
      readMove: () => traceMoveOf(trace),
      readCall() {
        if (trace['type'] !== 'call') return undefined;
        const action = toObject(trace['action'], 'action');
        return callOf(action, String(action['callType']).toLowerCase());
      },
    };
  }
}

function traceMoveOf(trace: Json): Move | undefined {
  const action = toObject(trace['action'], 'action');
  switch (trace['type']) {
    case 'call':
      if (action['callType'] !== 'call') return undefined;
      return {
        from: readAddress(action, 'from'),
        to: readAddress(action, 'to'),
        value: readQuantity(action, 'value'),
        gas: optionalQuantity(action, 'gas'),
      };
    case 'create':
      return {
        from: readAddress(action, 'from'),
        to: optionalAddress(toObject(trace['result'], 'result'), 'address'),
        value: readQuantity(action, 'value'),
        gas: optionalQuantity(action, 'gas'),
      };
    case 'suicide':
    case 'selfdestruct':
      return {
        from: readAddress(action, 'address'),
        to: readAddress(action, 'refundAddress'),
        value: readQuantity(action, 'balance'),
        // As in the results of `callTracer`.
        gas: '0x0',
      };
    default:
      return undefined;
  }
}
