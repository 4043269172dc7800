/**
 * Selects the logs that a stream matches: the selected events, if their filters pass. Compiled once
 * per stream.
 *
 * - Without `topic0` and `advancedOptions`, every log matches.
 * - `topic0` or an advanced option selects an event. Logs of other events do not match.
 * - If the stream's ABI has the event, the number of indexed inputs must match, because ERC-20
 *   and ERC-721 share the topic of Transfer.
 * - An event with advanced options matches if the filter of at least one of them passes; an
 *   option without a filter always passes. Filters fail for logs that can't be decoded and for
 *   events that are missing from the ABI.
 */
import { decodeLogs } from '@sluice/kit';
import {
  type AbiItem,
  type ExplainedCondition,
  KNOWN_EVENTS,
  NATIVE_DECIMALS,
  itemSignature,
  eventTopic,
  parseEventSignature,
  readAbi,
  type WebhookInternalTransaction,
  type WebhookLog,
  type WebhookRule,
  type WebhookTransaction,
} from '@sluice/kit/contract';
import { toPlainDecimal } from '../../../base/valueWithDecimals.ts';
import type { StreamOptions } from '../../../store/streams/contract.ts';
import type { EvmLog, EvmInternalTransaction, EvmTransaction } from './block.ts';
import {
  type Filter,
  FilterError,
  type FilterSubject,
  type ExcludingComparison,
  type RecordContext,
  compileFilter,
  isEmptyFilter,
  toCondition,
} from './filter.ts';
import { type AddReason, joinNamed, passed, stopped } from '../../../match/reasons.ts';

export interface Selection {
  /**
   * Maximum number of comparisons in all filters of the stream; an option without a filter counts
   * as one.
   */
  readonly comparisons: number;
  /** Hashes of the events that the stream selects; empty if it selects all. */
  readonly topics: readonly string[];
  /**
   * Maximum number of indexed inputs of the selected events; 3 if no event is selected, or if a
   * selected event is missing from the ABI.
   */
  readonly mostIndexed: number;
  /** Returns what the stream matches: nothing, only the log, or the log and its transaction. */
  take(
    log: EvmLog,
    context: RecordContext,
    addReason?: AddReason,
  ): 'no' | 'log' | 'log-and-transaction';
  /**
   * Returns the rules that select a log that {@link take} takes: every advanced option of its event
   * that passes, or else the entry of `topic0`. The same objects each time.
   */
  rulesOf(log: EvmLog, context: RecordContext): readonly WebhookRule[];
  /**
   * Returns a numeric comparison that alone excludes a log that does not match; undefined if there
   * is none.
   */
  missOf(
    log: EvmLog,
    context: RecordContext,
  ): (ExcludingComparison & { event: string }) | undefined;
  /** Returns whether `topic0` or an advanced option of the stream selects this event. */
  names(topic0: string): boolean;
  /**
   * Returns the signature of this event from the stream's ABI, its selected events, or a token
   * standard; undefined if it is unknown.
   */
  signatureOf(topic0: string): string | undefined;
  /**
   * Returns the name of the input in this topic, from the stream's ABI; undefined if it is unknown.
   */
  inputOf(log: EvmLog, topic: number): string | undefined;
}

/** Maximum number of advanced options of one event that an explanation describes. */
const EXPLAINED = 20;

/** Maximum number of indexed inputs: the first of up to four topics identifies the event. */
const MAX_INDEXED = 3;

interface Option {
  /**
   * Filters by number of indexed inputs. Undefined without a filter, so every log passes; empty if
   * the ABI does not have the event, so no log passes.
   */
  filters: ReadonlyMap<number, Filter> | undefined;
  includeNativeTxs: boolean;
  rule: WebhookRule;
}

/** The rule of streams that do not select events. */
const ALL_LOGS: readonly WebhookRule[] = [{ field: 'includeContractLogs', index: null }];

/** @throws FilterError with a path that starts at the stream's options */
export function createSelection({
  topic0,
  abi,
  advancedOptions,
}: Pick<StreamOptions, 'topic0' | 'abi' | 'advancedOptions'>): Selection {
  const events = eventsByTopic(abi ?? []);
  const options = new Map<string, Option[]>();
  /** Signatures of the selected events, by hash; undefined if only the hash is known. */
  const named = new Map<string, string | undefined>();
  /** The first entry of `topic0` with an event, by hash. */
  const entries = new Map<string, readonly WebhookRule[]>();
  for (const [n, option] of (advancedOptions ?? []).entries()) {
    if (option.topic0 === undefined) continue;
    const path = ['advancedOptions', n];
    const { topic0: topic, signature } = parseEventSignature(option.topic0) ?? {};
    if (topic === undefined) {
      throw new FilterError(
        [...path, 'topic0'],
        'should be an event signature, e.g. Transfer(address,address,uint256), or its 32-byte hash',
      );
    }
    const filters = isEmptyFilter(option.filter)
      ? undefined
      : compileFor(events.get(topic) ?? new Map(), option.filter, path);
    const includeNativeTxs = option.includeNativeTxs ?? false;
    const choices = options.get(topic) ?? [];
    choices.push({ filters, includeNativeTxs, rule: { field: 'advancedOptions', index: n } });
    options.set(topic, choices);
    named.set(topic, signature);
  }
  for (const [index, text] of (topic0 ?? []).entries()) {
    const event = parseEventSignature(text);
    if (event === undefined) continue;
    const { topic0: topic, signature = named.get(topic) } = event;
    named.set(topic, signature);
    if (!entries.has(topic)) entries.set(topic, [{ field: 'topic0', index }]);
  }

  const signatureOf = (topic: string): string | undefined => {
    const [known] = events.get(topic)?.values() ?? [];
    return known === undefined
      ? (named.get(topic) ?? KNOWN_EVENTS[topic])
      : itemSignature(known[0]);
  };
  const describe = (topic: string): string => signatureOf(topic) ?? topic;
  const costs = [...options.values()]
    .flat()
    .map(({ filters }) =>
      Math.max(1, ...[...(filters?.values() ?? [])].map(({ comparisons }) => comparisons)),
    );

  /** Returns the condition that the event is one of the selected events. */
  const eventCondition = (topic: string | undefined, holds: boolean): ExplainedCondition[] => {
    const wanted = joinNamed(named, describe);
    return [toCondition('event', wanted, topic && describe(topic), holds)];
  };

  const topics = [...named.keys()];
  const indexedOf = (topic: string): number =>
    Math.max(...(events.get(topic)?.keys() ?? [MAX_INDEXED]));

  /** Creates a check of advanced options for a log, which is decoded at most once, if needed. */
  const createCheck = (log: EvmLog, context: RecordContext) => {
    const indexed = log.topics.length - 1;
    const event = events.get(log.topics[0] ?? '')?.get(indexed);
    let decoded: { subject: FilterSubject | undefined } | undefined;
    const subject = (): FilterSubject | undefined =>
      (decoded ??= { subject: subjectOf(event, log, context) }).subject;
    const passes = ({ filters }: Option): boolean => {
      if (filters === undefined) return true;
      const its = subject();
      return its !== undefined && filters.get(indexed)?.passes(its) === true;
    };
    return { subject, passes };
  };

  return {
    comparisons: costs.reduce((sum, each) => sum + each, 0),
    topics,
    mostIndexed: topics.length === 0 ? MAX_INDEXED : Math.max(...topics.map(indexedOf)),

    take(log, context, addReason) {
      if (named.size === 0) {
        addReason?.(passed('event', 'the stream does not select events, so it takes all'));
        return 'log';
      }
      const topic = log.topics[0];
      if (topic === undefined || !named.has(topic)) {
        const [first = ''] = named.keys();
        const wanted = named.size === 1 ? describe(first) : `${named.size} other events`;
        const its = topic === undefined ? 'it has no topic 0' : `its event is ${describe(topic)}`;
        addReason?.(
          stopped(
            'event',
            `${its}, but the stream selects ${wanted}`,
            eventCondition(topic, false),
          ),
        );
        return 'no';
      }
      const indexed = log.topics.length - 1;
      const known = events.get(topic);
      if (known !== undefined && !known.has(indexed)) {
        const wanted = [...known.keys()].join(' or ');
        addReason?.(
          stopped(
            'event',
            `${indexed} of its inputs are indexed, but ${wanted} in the stream's ABI`,
            [toCondition('indexed inputs', wanted, String(indexed), false)],
          ),
        );
        return 'no';
      }
      addReason?.(
        passed(
          'event',
          `its event is ${describe(topic)}, which the stream selects`,
          eventCondition(topic, true),
        ),
      );
      const choices = options.get(topic);
      if (choices === undefined) return 'log';
      const { subject, passes } = createCheck(log, context);
      if (addReason !== undefined) {
        for (const option of choices.slice(0, EXPLAINED)) {
          const filter = option.filters?.get(indexed);
          const why = explainOption(filter, option, subject);
          const its = filter && subject();
          const conditions = its && filter.conditions(its);
          addReason((passes(option) ? passed : stopped)('filter', why, conditions));
        }
      }
      if (choices.some((option) => option.includeNativeTxs && passes(option))) {
        return 'log-and-transaction';
      }
      return choices.some((option) => !option.includeNativeTxs && passes(option)) ? 'log' : 'no';
    },

    rulesOf(log, context) {
      if (named.size === 0) return ALL_LOGS;
      const topic = log.topics[0] ?? '';
      const choices = options.get(topic);
      if (choices === undefined) return entries.get(topic) ?? [];
      return choices.filter(createCheck(log, context).passes).map(({ rule }) => rule);
    },

    missOf(log, context) {
      const topic = log.topics[0] ?? '';
      const indexed = log.topics.length - 1;
      const event = events.get(topic)?.get(indexed);
      const subject = subjectOf(event, log, context);
      if (event === undefined || subject === undefined) return undefined;
      for (const { filters } of options.get(topic) ?? []) {
        const miss = filters?.get(indexed)?.missOf(subject);
        if (miss !== undefined) return { ...miss, event: itemSignature(event[0]) };
      }
      return undefined;
    },

    names: (topic) => named.has(topic),
    signatureOf,
    inputOf({ topics: [topic0 = '', ...indexed] }, topic) {
      const event = events.get(topic0)?.get(indexed.length);
      return event?.[0].inputs?.filter((input) => input.indexed)[topic - 1]?.name;
    },
  };
}

/** Returns whether the stream selects events. Otherwise, its logs may be of any event. */
export const takesEvents = ({
  topic0,
  advancedOptions,
}: Pick<StreamOptions, 'topic0' | 'advancedOptions'>): boolean =>
  (topic0 ?? []).length > 0 ||
  (advancedOptions ?? []).some((option) => option.topic0 !== undefined);

/**
 * Returns selected events that have a filter but are missing from the ABI, so that no log passes
 * the filter.
 */
export function unreadEvents({
  abi,
  advancedOptions,
}: Pick<StreamOptions, 'abi' | 'advancedOptions'>): string[] {
  const filtered = (advancedOptions ?? []).flatMap(({ topic0 = [], filter }) =>
    isEmptyFilter(filter) ? [] : topic0,
  );
  if (filtered.length === 0) return [];
  const events = eventsByTopic(abi ?? []);
  const unread = filtered.filter(
    (topic0) => !events.has(parseEventSignature(topic0)?.topic0 ?? ''),
  );
  return [...new Set(unread)];
}

/**
 * Returns the problems of the events in the ABI of a request that the stream selects, but that have
 * no certain meaning. Other such events are left out of the stream's ABI without an error.
 */
export function checkAbi(
  body: unknown,
  { abi, topic0, advancedOptions, triggers }: StreamOptions,
): Pick<FilterError, 'path' | 'message'>[] {
  const { uncertain = [] } = readAbi((body as { abi?: unknown }).abi) ?? {};
  if (uncertain.length === 0) return [];
  const known = eventsByTopic(abi ?? []);
  const texts = [topic0 ?? [], advancedOptions ?? [], triggers ?? []].flat();
  const missing = texts.flatMap((each) => {
    const event = parseEventSignature((typeof each === 'string' ? each : each.topic0) ?? '');
    if (event === undefined || known.has(event.topic0)) return [];
    return event.signature ?? KNOWN_EVENTS[event.topic0] ?? [];
  });
  return uncertain
    .filter(({ name }) => missing.some((signature) => signature.startsWith(`${name}(`)))
    .map(({ name, path, message }) => ({
      path: ['abi', ...path],
      message: `of event ${name} ${message}`,
    }));
}

function explainOption(
  filter: Filter | undefined,
  { filters }: Option,
  subject: () => FilterSubject | undefined,
): string {
  if (filters === undefined) return 'the event has no filter';
  if (filters.size === 0)
    return "the stream's ABI does not have the event, so its filter matches no log";
  const its = subject();
  if (its === undefined || filter === undefined) {
    return "the log can't be decoded as the event in the stream's ABI";
  }
  return filter.explain(its);
}

function compileFor(
  events: ReadonlyMap<number, EventAbi>,
  filter: unknown,
  path: (string | number)[],
): NonNullable<Option['filters']> {
  const filters = new Map<number, Filter>();
  for (const [indexed, [event]] of events) {
    try {
      filters.set(indexed, compileFilter(filter, event));
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      throw new FilterError([...path, 'filter', ...error.path], error.message);
    }
  }
  return filters;
}

/** Returns the values that filters read; undefined if the log can't be decoded as the event. */
function subjectOf(
  abi: readonly AbiItem[] | undefined,
  log: EvmLog,
  { chain, possibleSpam }: RecordContext,
): FilterSubject | undefined {
  if (abi === undefined) return undefined;
  const [decoded] = decodeLogs({ logs: [toWebhookLog(log)] }, abi).decoded;
  return decoded && { args: decoded.args, contract: log.address, chain, possibleSpam };
}

/**
 * An ABI with a single event. The array is reused, because the decoder prepares each ABI object
 * only once.
 */
type EventAbi = readonly [AbiItem];

/**
 * Returns the events of the ABI by topic 0 and number of indexed inputs. Omits anonymous events,
 * because their logs do not contain the hash of the event.
 */
function eventsByTopic(abi: readonly AbiItem[]): Map<string, Map<number, EventAbi>> {
  const events = new Map<string, Map<number, EventAbi>>();
  for (const item of abi) {
    if (item.type !== 'event' || item.anonymous) continue;
    const topic = eventTopic(item);
    const indexed = (item.inputs ?? []).filter((input) => input.indexed).length;
    events.set(topic, (events.get(topic) ?? new Map<number, EventAbi>()).set(indexed, [item]));
  }
  return events;
}

/** Converts a log to the webhook format, in which `logIndex` is a decimal string. */
export function toWebhookLog(log: EvmLog): WebhookLog {
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics;
  return {
    logIndex: String(log.logIndex),
    transactionHash: log.transactionHash,
    address: log.address,
    data: log.data,
    topic0,
    topic1,
    topic2,
    topic3,
  };
}

export function toWebhookTransaction(transaction: EvmTransaction): WebhookTransaction {
  const { receipt } = transaction;
  return {
    hash: transaction.hash,
    gas: toDecimal(transaction.gas),
    gasPrice: toDecimal(transaction.gasPrice),
    nonce: toDecimal(transaction.nonce),
    input: transaction.input,
    transactionIndex: String(transaction.transactionIndex),
    fromAddress: transaction.from,
    toAddress: transaction.to,
    value: toDecimal(transaction.value),
    type: toDecimal(transaction.type),
    v: toDecimal(transaction.v),
    r: toDecimal(transaction.r),
    s: toDecimal(transaction.s),
    receiptCumulativeGasUsed: toDecimal(receipt.cumulativeGasUsed),
    receiptGasUsed: toDecimal(receipt.gasUsed),
    receiptContractAddress: receipt.contractAddress,
    receiptRoot: receipt.root,
    receiptStatus: toDecimal(receipt.status),
  };
}

/**
 * Returns the fee in the chain's native currency: gas used times price, plus the L1 fee. Null if the
 * block lacks a part of it.
 */
export function toTransactionFee({ receipt: { gasUsed, fee } }: EvmTransaction): string | null {
  if (gasUsed === null || fee === null) return null;
  const wei = BigInt(gasUsed) * BigInt(fee.price) + BigInt(fee.l1Fee);
  return toPlainDecimal(wei.toString(), NATIVE_DECIMALS);
}

export function toWebhookInternalTransaction(
  call: EvmInternalTransaction,
): WebhookInternalTransaction {
  return {
    from: call.from,
    to: call.to,
    value: toDecimal(call.value),
    gas: toDecimal(call.gas),
    transactionHash: call.transactionHash,
    internalTransactionIndex: String(call.index),
  };
}

/** Converts a hex quantity to the decimal string that webhooks contain. */
function toDecimal(quantity: string): string;
function toDecimal(quantity: string | null): string | null;
function toDecimal(quantity: string | null): string | null {
  return quantity === null ? null : BigInt(quantity).toString();
}
