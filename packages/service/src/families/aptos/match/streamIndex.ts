/** Indexes Aptos streams, and compiles the functions and events that they select. */
import { normalizeType } from './moveNames.ts';
import type { AptosStreamRecord } from '../../../store/streams/contract.ts';
import {
  type IndexedStream,
  type RuleIndex,
  type WatchingStreams,
  createRuleIndex,
} from '../../../match/ruleIndex.ts';
import type { AptosTransaction } from './block.ts';
import { type ExplainedCondition, shortenMovePath } from '@sluice/kit/contract';
import { type AddReason, joinNamed, passed, stopped } from '../../../match/reasons.ts';

export interface AptosSelection {
  /** Selected functions, normalized by `normalizeType`. */
  readonly functions: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
  takes(transaction: AptosTransaction, addReason?: AddReason): boolean;
}

export type CompiledAptosStream = IndexedStream<AptosStreamRecord['family'], AptosSelection>;
export type AptosStreams = WatchingStreams<'aptos', AptosSelection>;

export const createAptosIndex = (): RuleIndex<'aptos', AptosSelection> =>
  createRuleIndex<'aptos', AptosSelection>({ family: 'aptos', compile });

/**
 * Compiles a stream's selection: transactions that call a selected function or emit a selected
 * event, or all transactions if no function or event is selected. An event type without type
 * arguments matches all its variants.
 */
function compile({ options }: Pick<AptosStreamRecord, 'options'>): AptosSelection {
  const functions = new Set((options.functions ?? []).map(normalizeType));
  const events = new Set((options.events ?? []).map(normalizeType));
  if (functions.size + events.size === 0) {
    return {
      functions,
      events,
      takes(_, addReason) {
        addReason?.(
          passed('event', 'the stream does not select functions or events, so it takes all'),
        );
        return true;
      },
    };
  }
  return {
    functions,
    events,
    takes(transaction, addReason) {
      const called =
        transaction.function !== null && functions.has(transaction.function)
          ? transaction.function
          : undefined;
      const isNamed = (type: string): boolean =>
        events.has(type) || events.has(withoutArguments(type));
      const emitted =
        called === undefined && events.size > 0
          ? transaction.events.find(({ type }) => isNamed(type))?.type
          : undefined;
      const isTaken = called !== undefined || emitted !== undefined;
      addReason?.(
        (isTaken ? passed : stopped)(
          'event',
          called !== undefined
            ? `it calls ${called}, which the stream selects`
            : emitted !== undefined
              ? `it has the event ${emitted}, which the stream selects`
              : describeUnnamed(transaction, functions.size, events.size),
          conditionsOf(transaction, { functions, events, called, emitted }),
        ),
      );
      return isTaken;
    },
  };
}

/**
 * Returns the conditions that compare a transaction's function and events with the selected ones.
 */
function conditionsOf(
  transaction: AptosTransaction,
  {
    functions,
    events,
    called,
    emitted,
  }: Pick<AptosSelection, 'functions' | 'events'> & {
    called: string | undefined;
    emitted: string | undefined;
  },
): ExplainedCondition[] {
  const conditions: ExplainedCondition[] = [];
  if (functions.size > 0) {
    conditions.push({
      name: 'function',
      rule: joinNamed(functions, shortenMovePath),
      value: transaction.function && shortenMovePath(transaction.function),
      holds: called !== undefined,
      alternative: false,
    });
  }
  // If the function is selected, the events are not checked.
  if (events.size > 0 && called === undefined) {
    const types = new Set(transaction.events.map(({ type }) => type));
    conditions.push({
      name: 'event',
      rule: joinNamed(events, shortenMovePath),
      value:
        emitted === undefined
          ? joinNamed(types, shortenMovePath) || null
          : shortenMovePath(emitted),
      holds: emitted !== undefined,
      alternative: functions.size > 0,
    });
  }
  return conditions;
}

function describeUnnamed(transaction: AptosTransaction, functions: number, events: number): string {
  const calls =
    transaction.function === null ? 'calls no function' : `calls ${transaction.function}`;
  return `it ${calls}, and none of its ${transaction.events.length} events is selected: the stream selects ${functions} functions and ${events} events`;
}

export function withoutArguments(type: string): string {
  const end = type.indexOf('<');
  return end < 0 ? type : type.slice(0, end);
}
