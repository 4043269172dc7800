/** The Aptos streams there are, with the functions and events they name. */
import { toType } from '../moveNames.ts';
import type { AptosStreamRecord } from '../store/store.ts';
import { type Indexed, type RuleIndex, createRuleIndex } from './ruleIndex.ts';
import type { AptosTransaction } from './aptosBlock.ts';

/** Which of the transactions that concern a stream it takes. */
export interface AptosSelection {
  takes(transaction: AptosTransaction): boolean;
}

export type CompiledAptosStream = Indexed<AptosStreamRecord['family'], AptosSelection>;
export type AptosIndex = RuleIndex<'aptos', AptosSelection>;

export const createAptosIndex = (): AptosIndex =>
  createRuleIndex<'aptos', AptosSelection>({ family: 'aptos', addressBytes: 32, compile });

/**
 * A stream that names functions or events takes the transactions that call one of the functions or
 * have one of the events; any other takes all. A type without generic arguments means all of its kind.
 */
function compile({ options }: Pick<AptosStreamRecord, 'options'>): AptosSelection {
  const functions = new Set((options.functions ?? []).map(toType));
  const events = new Set((options.events ?? []).map(toType));
  if (functions.size + events.size === 0) return { takes: () => true };
  return {
    takes: (transaction) =>
      (transaction.function !== null && functions.has(transaction.function)) ||
      (events.size > 0 &&
        transaction.events.some(
          ({ type }) => events.has(type) || events.has(withoutArguments(type)),
        )),
  };
}

function withoutArguments(type: string): string {
  const end = type.indexOf('<');
  return end < 0 ? type : type.slice(0, end);
}
