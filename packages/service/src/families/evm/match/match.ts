/** Matches an EVM block against streams. */
import type { BlockNeeds } from '../../../store/blocks/contract.ts';
import type { EvmBlock, EvmCall, EvmInternalTransaction, EvmLog, EvmTransaction } from './block.ts';
import { type ExplainReason, NATIVE_EMITTER, type WebhookRead } from '@sluice/kit/contract';
import { type AddReason, passed, stopped, watched } from '../../../match/reasons.ts';
import type { StreamOptions } from '../../../store/streams/contract.ts';
import { callersOf, eachCall } from './calls.ts';
import { takesCalls } from './callSelection.ts';
import type { LogSearch } from '../../../match/logSearch.ts';
import { type SearchedStream, planLogs } from './logSearch.ts';
import {
  type ChildOrigin,
  type IndexedStream,
  type RuleIndex,
  type WatchingStreams,
  createRuleIndex,
} from '../../../match/ruleIndex.ts';
import { takesReads } from './reads.ts';
import { describeOrigin, takesChildren } from './factories.ts';
import { type Rules, compileRules } from './rules.ts';
import { topicsOf } from './transfers.ts';
import {
  TOPIC_ADDRESS_AT,
  type WatchedAddresses,
  addIncludingLog,
  addPlace,
  addressIn,
  createWatched,
  hasAddress,
} from './triggeredBy.ts';

export type CompiledStream = IndexedStream<'evm', Rules>;

export type EvmStreams = WatchingStreams<'evm', Rules>;

export const createStreamIndex = (): RuleIndex<'evm', Rules> =>
  createRuleIndex<'evm', Rules>({
    family: 'evm',
    compile: ({ options }) => compileRules(options),
    factoriesOf: factoryKeysOf,
  });

export const factoryKeysOf = ({ factories }: Rules): readonly string[] =>
  factories.map(({ key }) => key);

/** Returns which parts of a chain's blocks the streams need. */
export function needsOf(streams: EvmStreams, chain: string): BlockNeeds {
  const needs: BlockNeeds = { logs: false, transactions: false, traces: false };
  if (streams.streams(chain).some(({ record }) => takesReads(record.options))) needs.state = true;
  for (const { record } of streams.matching(chain)) {
    const { options } = record;
    if (options.includeContractLogs || options.includeAllTxLogs || takesChildren(options)) {
      needs.logs = true;
    }
    if (takesTransactions(options)) needs.transactions = true;
    if (options.includeInternalTxs) needs.traces = true;
    if (options.includeInternalCalls && takesCalls(options)) {
      needs.traces = true;
      needs.calls = true;
    }
    if (options.includeProofs) needs.proofs = true;
    if (record.unverified === 'hold') needs.holds = true;
  }
  return needs;
}

/** A block of which only the logs are read. */
interface LoggedBlock extends Pick<EvmBlock, 'number' | 'hash'> {
  readonly logs: readonly EvmLog[];
}

/**
 * Returns a search by logs for the blocks that a chain's streams match; undefined if a block can
 * match without a matching log, or if every log would have to be read.
 *
 * @param addressesOf returns the addresses of a stream in lowercase, or `many` if there are too
 * many
 */
export function searchOf(
  index: EvmStreams,
  chain: string,
  addressesOf: (streamId: string) => readonly string[] | 'many',
  spam?: ReadonlySet<string>,
): LogSearch | undefined {
  // Values are read in every block.
  if (index.streams(chain).some(({ record }) => takesReads(record.options))) return undefined;
  const searched: SearchedStream[] = [];
  for (const stream of index.matching(chain)) {
    const { options } = stream.record;
    const beginsWithLogs =
      options.allAddresses || !(options.includeNativeTxs || options.includeInternalTxs);
    // The addresses of a stream with factories change within the range.
    if (!beginsWithLogs || takesCalls(options) || takesChildren(options)) return undefined;
    if (!options.includeContractLogs) continue;
    searched.push({
      topics: stream.selection.topics,
      lastTopic: stream.selection.mostIndexed,
      addresses: options.allAddresses ? 'any' : addressesOf(stream.record.id),
    });
  }
  const plans = planLogs(chain, searched);
  if (plans === undefined) return undefined;
  return {
    plans,
    takes: ({ number, hash, logs }: LoggedBlock) =>
      matchBlock(
        index,
        chain,
        {
          number,
          hash,
          parentHash: '',
          timestamp: 0,
          logs: [...logs],
          transactions: [],
          internalTransactions: [],
        },
        spam,
      ).length > 0,
  };
}

/** Returns whether the stream selects records of blocks. A stream may instead only read values. */
export const takesRecords = (options: StreamOptions): boolean =>
  options.includeContractLogs ||
  options.includeNativeTxs ||
  options.includeInternalTxs ||
  takesCalls(options);

const takesTransactions = (options: StreamOptions): boolean =>
  options.includeNativeTxs ||
  options.includeCaller ||
  takesCalls(options) ||
  (options.advancedOptions ?? []).some((option) => option.includeNativeTxs);

/** The match of one stream and one block. */
export interface Match {
  stream: CompiledStream;
  logs: EvmLog[];
  transactions: EvmTransaction[];
  /** Internal transactions in execution order. */
  internalTransactions: EvmInternalTransaction[];
  /** Calls by transaction, in execution order. */
  calls: EvmCall[];
  /** Values on chain. A match of values has no other records. */
  reads: WebhookRead[];
  /** The watched addresses in these records. */
  watched: WatchedAddresses;
}

/** Creates the match of values that a stream reads. */
export const matchReads = (stream: CompiledStream, reads: readonly WebhookRead[]): Match => ({
  stream,
  logs: [],
  transactions: [],
  internalTransactions: [],
  calls: [],
  reads: [...reads],
  watched: createWatched(),
});

export type EvmRecord = EvmLog | EvmTransaction | EvmInternalTransaction | EvmCall;

/**
 * Called for each record that is checked against a stream; returns a function that receives the
 * reasons, or undefined to skip them.
 */
export type AddReasonOf = (stream: CompiledStream, record: EvmRecord) => AddReason | undefined;

interface Taken {
  /** Transaction indices. */
  transactions: Set<number>;
  internal: Set<EvmInternalTransaction>;
  calls: EvmCall[];
  watched: WatchedAddresses;
}

/**
 * Matches a block against the index:
 * - A log matches a stream with `includeContractLogs` if a watched address emitted it or is in
 *   topic 1, 2 or 3, or if the stream watches all addresses. The stream's selection must include
 *   the log. Transfers without indexed parameters match like their indexed form. The log of a
 *   native transfer matches only by its emitter, because the payment is already in a transaction
 *   or internal transaction.
 * - A transaction matches a stream with `includeNativeTxs` if a watched address sent or received
 *   it, or if the stream watches all addresses and one of the transaction's logs matched. Even
 *   without that flag, it matches if one of its logs passed an advanced option that has
 *   `includeNativeTxs`.
 * - An internal transaction matches a stream with `includeInternalTxs` if a watched address sent or
 *   received it, or if the stream watches all addresses and a log of the same transaction matched.
 * - A call matches a stream that selects functions if a watched address received it, or if the
 *   stream watches all addresses, and the stream's selection includes it. Calls inside transactions
 *   also need `includeInternalCalls`.
 * - `includeAllTxLogs` adds every log of each transaction that has a matching record.
 * - `filterPossibleSpamAddresses` excludes every record that a contract in `spam` emitted, sent or
 *   received.
 *
 * @param addReasonOf called for each record that is checked against a stream
 */
export function matchBlock(
  index: EvmStreams,
  chain: string,
  block: EvmBlock,
  spam: ReadonlySet<string> = NO_SPAM,
  addReasonOf?: AddReasonOf,
): Match[] {
  const matching: Matching = { index, chain, spam, addReasonOf, found: new Map() };
  matchLogs(matching, block.logs);
  matchTransactions(matching, block.transactions);
  matchInternalTransactions(matching, block.internalTransactions);
  matchCalls(matching, block);
  const matches = [...matching.found].flatMap(([stream, taken]): Match | Match[] => {
    const { transactions, internal, calls, watched } = taken;
    const { selected: logs } = watched;
    if (logs.size + transactions.size + internal.size + calls.length === 0) return [];
    const { options } = stream.record;
    const touched = new Set(transactions);
    for (const log of logs) touched.add(log.transactionIndex);
    for (const call of internal) touched.add(call.transactionIndex);
    for (const call of calls) touched.add(call.transactionIndex);
    const takesInternal = options.allAddresses && options.includeInternalTxs;
    const parents = options.allAddresses && options.includeNativeTxs ? touched : transactions;
    return {
      stream,
      logs: block.logs.filter(
        (log) => logs.has(log) || (options.includeAllTxLogs && touched.has(log.transactionIndex)),
      ),
      transactions: block.transactions.filter((each) => parents.has(each.transactionIndex)),
      internalTransactions: block.internalTransactions.filter(
        (each) => internal.has(each) || (takesInternal && touched.has(each.transactionIndex)),
      ),
      calls,
      reads: [],
      watched,
    };
  });
  return spam.size === 0 ? matches : matches.map((match) => withoutSpam(match, spam));
}

/** A block being matched. */
interface Matching {
  readonly index: EvmStreams;
  readonly chain: string;
  readonly spam: ReadonlySet<string>;
  readonly addReasonOf: AddReasonOf | undefined;
  /** The records that each stream takes so far. */
  readonly found: Map<CompiledStream, Taken>;
}

function takenBy({ found }: Matching, stream: CompiledStream): Taken {
  let taken = found.get(stream);
  if (taken === undefined) {
    taken = { transactions: new Set(), internal: new Set(), calls: [], watched: createWatched() };
    found.set(stream, taken);
  }
  return taken;
}

function addCreator(
  matching: Matching,
  stream: CompiledStream,
  address: string,
  { factory }: ChildOrigin,
): void {
  if (!stream.record.options.includeMatched) return;
  takenBy(matching, stream).watched.creators.set(address, factory);
}

function matchLogs(matching: Matching, logs: readonly EvmLog[]): void {
  const { index, chain, spam, addReasonOf, found } = matching;
  const unscoped = index.unscoped(chain);
  for (const log of logs) {
    const possibleSpam = spam.has(log.address);
    const isNative = log.address === NATIVE_EMITTER;
    const topics = topicsOf(chain, log);
    /** Where the watched address was found; `any` if the stream watches all addresses. */
    let place: LogPlace = 'emitter';
    const addLogPlace = (stream: CompiledStream): void => {
      if (place === 'any') return;
      addPlace(takenBy(matching, stream).watched, log, place === 'emitter' ? 0 : place);
    };
    const takeLog = (stream: CompiledStream, origin?: ChildOrigin): void => {
      if (origin !== undefined && place !== 'any') {
        const address = place === 'emitter' ? log.address : addressIn(topics[place]!);
        addCreator(matching, stream, address, origin);
      }
      const addReason = addReasonOf?.(stream, log);
      if (stream.record.options.includeAllTxLogs) addLogPlace(stream);
      if (isNative && place !== 'emitter') {
        addReason?.(stopped('address', NATIVE));
        return;
      }
      addReason?.(addressReason(stream, log, place, topics, origin));
      if (!wants('includeContractLogs', stream, addReason)) return;
      if (found.get(stream)?.watched.selected.has(log)) {
        addLogPlace(stream);
        return;
      }
      if (possibleSpam && refusesSpam(stream, addReason)) return;
      const taken = stream.selection.take(log, { chain, possibleSpam }, addReason);
      if (taken === 'no') return;
      const { watched: its, transactions } = takenBy(matching, stream);
      its.selected.add(log);
      addLogPlace(stream);
      if (taken === 'log-and-transaction') {
        transactions.add(log.transactionIndex);
        addIncludingLog(its, log);
      }
    };
    // Looks up the emitting contract, and each topic that looks like an address.
    index.watching(chain, log.address, 2, takeLog);
    for (let n = 1; n < topics.length; n++) {
      const topic = topics[n]!;
      if (hasAddress(topic)) {
        place = n;
        index.watching(chain, topic, TOPIC_ADDRESS_AT, takeLog);
      }
    }
    place = 'any';
    for (const stream of unscoped) takeLog(stream);
  }
}

function matchTransactions(matching: Matching, transactions: readonly EvmTransaction[]): void {
  const { index, chain, spam, addReasonOf } = matching;
  for (const transaction of transactions) {
    const isSpam = involves(spam, transaction);
    let by: Side = 'from';
    const takeTransaction = (stream: CompiledStream, origin?: ChildOrigin): void => {
      if (origin !== undefined) addCreator(matching, stream, transaction[by]!, origin);
      const addReason = addReasonOf?.(stream, transaction);
      addReason?.(sideReason(by, transaction, stream, origin));
      if (takesTransactions(stream.record.options)) {
        addPlace(takenBy(matching, stream).watched, transaction, by === 'from' ? 0 : 1);
      }
      if (
        !wants('includeNativeTxs', stream, addReason) ||
        (isSpam && refusesSpam(stream, addReason))
      )
        return;
      takenBy(matching, stream).transactions.add(transaction.transactionIndex);
    };
    index.watching(chain, transaction.from, 2, takeTransaction);
    by = 'to';
    if (transaction.to !== null) index.watching(chain, transaction.to, 2, takeTransaction);
  }
}

function matchInternalTransactions(
  matching: Matching,
  internalTransactions: readonly EvmInternalTransaction[],
): void {
  const { index, chain, spam, addReasonOf } = matching;
  for (const call of internalTransactions) {
    const isSpam = involves(spam, call);
    let by: Side = 'from';
    const takeCall = (stream: CompiledStream, origin?: ChildOrigin): void => {
      if (origin !== undefined) addCreator(matching, stream, call[by]!, origin);
      const addReason = addReasonOf?.(stream, call);
      addReason?.(sideReason(by, call, stream, origin));
      if (
        !wants('includeInternalTxs', stream, addReason) ||
        (isSpam && refusesSpam(stream, addReason))
      ) {
        return;
      }
      const { internal, watched: its } = takenBy(matching, stream);
      internal.add(call);
      if (stream.record.options.includeMatched) addPlace(its, call, by === 'from' ? 0 : 1);
    };
    index.watching(chain, call.from, 2, takeCall);
    by = 'to';
    if (call.to !== null) index.watching(chain, call.to, 2, takeCall);
  }
}

function matchCalls(matching: Matching, block: EvmBlock): void {
  const { index, chain, spam, addReasonOf } = matching;
  const callers = callersOf(index.streams(chain));
  if (callers === undefined) return;
  const unscoped = index.unscoped(chain);
  for (const call of eachCall(block, callers, addReasonOf !== undefined)) {
    const possibleSpam = involves(spam, call);
    let isEveryAddress = false;
    const takeCall = (stream: CompiledStream, origin?: ChildOrigin): void => {
      if (origin !== undefined) addCreator(matching, stream, call.to, origin);
      const { calls } = stream.selection;
      if (calls === undefined || !takesCalls(stream.record.options)) return;
      const addReason = addReasonOf?.(stream, call);
      addReason?.(
        isEveryAddress ? passed('address', EVERY_ADDRESS) : sideReason('to', call, stream, origin),
      );
      if (call.traceAddress.length > 0 && !wants('includeInternalCalls', stream, addReason)) return;
      if (possibleSpam && refusesSpam(stream, addReason)) return;
      if (calls.takes(call, { chain, possibleSpam }, addReason)) {
        takenBy(matching, stream).calls.push(call);
      }
    };
    index.watching(chain, call.to, 2, takeCall);
    isEveryAddress = true;
    for (const stream of unscoped) takeCall(stream);
  }
}

/** Returns the transaction hashes of all records of the match, without duplicates. */
export function transactionHashesOf(match: Match): string[] {
  const hashes = new Set(match.transactions.map((transaction) => transaction.hash));
  for (const log of match.logs) hashes.add(log.transactionHash);
  for (const call of match.internalTransactions) hashes.add(call.transactionHash);
  for (const call of match.calls) hashes.add(call.transactionHash);
  return [...hashes];
}

const NO_SPAM: ReadonlySet<string> = new Set();

const EVERY_ADDRESS = 'the stream watches all addresses';

type LogPlace = 'emitter' | 'any' | number;

/** Returns `: child of …` for a child of a factory; otherwise an empty string. */
function originOf({ selection }: CompiledStream, origin: ChildOrigin | undefined): string {
  const text = origin && describeOrigin(selection.factories, origin);
  return text === undefined ? '' : `: ${text}`;
}

/** @param topics the topics of the log, including those that are in its data */
function addressReason(
  stream: CompiledStream,
  log: EvmLog,
  place: LogPlace,
  topics: readonly string[],
  origin: ChildOrigin | undefined,
): ExplainReason {
  const since = originOf(stream, origin);
  if (place === 'any') return passed('address', EVERY_ADDRESS);
  if (place === 'emitter') {
    const conditions = watched('contract', log.address);
    return passed('address', `the contract that emitted it is watched${since}`, conditions);
  }
  const name =
    place < log.topics.length ? (stream.selection.inputOf(log, place) ?? '') : 'its data';
  const address = addressIn(topics[place]!);
  return name === ''
    ? passed(
        'address',
        `the address in its topic ${place} is watched${since}`,
        watched(`topic ${place}`, address),
      )
    : passed('address', `the address in ${name} is watched${since}`, watched(name, address));
}

const NATIVE =
  'it is the log of a native transfer: the payment is in a transaction or internal transaction, so the log matches only streams that watch its emitter';

/** Field of a transaction or internal transaction that contains the watched address. */
type Side = 'from' | 'to';

const sideReason = (
  by: Side,
  record: { from: string; to: string | null },
  stream: CompiledStream,
  origin: ChildOrigin | undefined,
): ExplainReason =>
  passed(
    'address',
    `its ${by === 'from' ? 'sender' : 'recipient'} is watched${originOf(stream, origin)}`,
    watched(by, record[by] ?? ''),
  );

function wants(
  flag: 'includeContractLogs' | 'includeNativeTxs' | 'includeInternalTxs' | 'includeInternalCalls',
  stream: CompiledStream,
  addReason: AddReason | undefined,
): boolean {
  const isOn = stream.record.options[flag];
  addReason?.((isOn ? passed : stopped)('records', `${flag} is ${isOn ? 'on' : 'off'}`));
  return isOn;
}

function refusesSpam(stream: CompiledStream, addReason: AddReason | undefined): boolean {
  if (!isSpamFree(stream)) return false;
  addReason?.(stopped('spam', SPAM_REASON));
  return true;
}

export const SPAM_REASON = 'its contract is possible spam, and filterPossibleSpamAddresses is on';

const isSpamFree = (stream: CompiledStream): boolean =>
  stream.record.options.filterPossibleSpamAddresses;

export const involves = (
  spam: ReadonlySet<string>,
  { from, to }: { from: string; to: string | null },
): boolean => spam.has(from) || (to !== null && spam.has(to));

/** Removes spam records that were added because of other records of their transaction. */
function withoutSpam(match: Match, spam: ReadonlySet<string>): Match {
  if (!isSpamFree(match.stream)) return match;
  return {
    ...match,
    logs: match.logs.filter((log) => !spam.has(log.address)),
    transactions: match.transactions.filter((each) => !involves(spam, each)),
    internalTransactions: match.internalTransactions.filter((each) => !involves(spam, each)),
  };
}
