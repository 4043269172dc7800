/** The index of Aptos streams, with the functions and events that they select. */
import { toType } from './moveNames.ts';
import type { AptosStreamRecord } from '../../store/streams/contract.ts';
import { type Indexed, type RuleIndex, createRuleIndex } from '../ruleIndex.ts';
import type { AptosTransaction } from './block.ts';
import { type AddReason, passed, stopped } from '../reasons.ts';

/** Selects the transactions that a stream matches. */
export interface AptosSelection {
  /** The selected functions, in the format of `toType`. */
  readonly functions: ReadonlySet<string>;
  readonly events: ReadonlySet<string>;
  takes(transaction: AptosTransaction, addReason?: AddReason): boolean;
}

export type CompiledAptosStream = Indexed<AptosStreamRecord['family'], AptosSelection>;
export type AptosIndex = RuleIndex<'aptos', AptosSelection>;

export const createAptosIndex = (): AptosIndex =>
  createRuleIndex<'aptos', AptosSelection>({ family: 'aptos', addressBytes: 32, compile });

/**
 * Compiles a stream's selection: the transactions that call one of its functions or emit one of its
 * events, or all if it selects none. A type without generic arguments matches all its variants.
 */
function compile({ options }: Pick<AptosStreamRecord, 'options'>): AptosSelection {
  const functions = new Set((options.functions ?? []).map(toType));
  const events = new Set((options.events ?? []).map(toType));
  if (functions.size + events.size === 0) {
    return {
      functions,
      events,
      takes(_, addReason) {
        addReason?.(
          passed('event', 'the stream does not name functions or events, so it takes all'),
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
      addReason?.(
        called !== undefined
          ? passed('event', `it calls ${called}, which the stream names`)
          : emitted !== undefined
            ? passed('event', `it has the event ${emitted}, which the stream names`)
            : stopped('event', describeUnnamed(transaction, functions.size, events.size)),
      );
      return called !== undefined || emitted !== undefined;
    },
  };
}

function describeUnnamed(transaction: AptosTransaction, functions: number, events: number): string {
  const calls =
    transaction.function === null ? 'calls no function' : `calls ${transaction.function}`;
  return `it ${calls}, and none of its ${transaction.events.length} events is named: the stream names ${functions} functions and ${events} events`;
}

export function withoutArguments(type: string): string {
  const end = type.indexOf('<');
  return end < 0 ? type : type.slice(0, end);
}
