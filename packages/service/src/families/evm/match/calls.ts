/** Lists the calls of a block that streams may select. */
import { selectorOf } from '@sluice/kit/contract';
import type { EvmBlock, EvmCall, EvmTransaction } from './block.ts';
import { takesCalls } from './callSelection.ts';
import type { Rules } from './rules.ts';
import type { IndexedStream } from '../../../match/ruleIndex.ts';

/** The functions that the streams of a chain select together. */
interface Callers {
  readonly selectors: ReadonlySet<string>;
  /** Whether a stream selects every call. */
  readonly takesAll: boolean;
  /** Whether a stream selects calls inside transactions. */
  readonly takesInternal: boolean;
}

/** Cache by list of streams, which the index replaces when one of them changes. */
const cache = new WeakMap<
  readonly IndexedStream<'evm', Rules>[],
  { callers: Callers | undefined }
>();

/** Returns undefined if no stream selects functions, so that calls need not be listed. */
export function callersOf(streams: readonly IndexedStream<'evm', Rules>[]): Callers | undefined {
  let found = cache.get(streams);
  if (found === undefined) {
    found = { callers: findCallers(streams) };
    cache.set(streams, found);
  }
  return found.callers;
}

function findCallers(streams: readonly IndexedStream<'evm', Rules>[]): Callers | undefined {
  const calling = streams.filter(({ record }) => takesCalls(record.options));
  if (calling.length === 0) return undefined;
  const rules = calling.flatMap(({ selection }) => selection.calls ?? []);
  return {
    selectors: new Set(rules.flatMap(({ selectors }) => selectors)),
    takesAll: rules.some(({ takesAll }) => takesAll),
    takesInternal: calling.some(({ record }) => record.options.includeInternalCalls),
  };
}

/**
 * Yields the calls by transaction, in execution order. Contract creations are not calls.
 *
 * @param isExplained whether to yield calls that no stream selects, too
 */
export function* eachCall(
  { transactions, calls = [], failures }: EvmBlock,
  { selectors, takesAll, takesInternal }: Callers,
  isExplained: boolean,
): Generator<EvmCall> {
  const isCandidate = (input: string): boolean =>
    takesAll || isExplained || selectors.has(selectorOf(input) ?? '');
  const internal = takesInternal || isExplained ? calls : [];
  let next = 0;
  // A block that is read again may have calls without their transaction.
  for (let n = 0; n <= transactions.length; n++) {
    const transaction = transactions[n];
    const before = transaction?.transactionIndex ?? Infinity;
    for (; next < internal.length && internal[next]!.transactionIndex < before; next++) {
      const call = internal[next]!;
      if (isCandidate(call.input)) yield call;
    }
    if (transaction !== undefined && transaction.to !== null && isCandidate(transaction.input)) {
      yield toCall(transaction, transaction.to, failures);
    }
  }
}

/** Returns the call that a transaction itself makes. */
function toCall(
  { hash, transactionIndex, from, value, input, receipt: { status } }: EvmTransaction,
  to: string,
  failures: EvmBlock['failures'],
): EvmCall {
  const failure = failures?.get(hash);
  return {
    transactionHash: hash,
    transactionIndex,
    traceAddress: [],
    type: 'call',
    from,
    to,
    value: value ?? '0x0',
    input,
    isFailed: status === null ? (failure === undefined ? null : true) : BigInt(status) === 0n,
    failure,
  };
}
