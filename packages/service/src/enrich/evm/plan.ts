/** Plans how to complete a body after its match is committed. The plan is stored with the match. */
import type { AbiItem, NativeBalanceSelection, StreamTrigger } from '@sluice/kit/contract';
import type { StreamOptions } from '../../store/streams/contract.ts';
import { checkBalances } from './balances.ts';
import { type BodyTail, recordsOf } from './records.ts';
import type { Problem } from './selectors.ts';
import { type CompiledTrigger, checkTriggers, compileTrigger, eventsOf } from './triggers.ts';

/** All plans include token metadata; the body itself contains the contracts. */
interface Plan {
  triggers: readonly StreamTrigger[];
  /** Events with parameters that the triggers use. */
  events: readonly AbiItem[];
  balances: readonly NativeBalanceSelection[];
}

export interface CompiledPlan {
  triggers: CompiledTrigger[];
  balances: readonly NativeBalanceSelection[];
}

type PlannedOptions = Pick<StreamOptions, 'triggers' | 'getNativeBalances' | 'abi'>;

/** Returns the problems of a stream's triggers and balances, by path; empty if there are none. */
export const checkPlan = ({ triggers, getNativeBalances, abi }: PlannedOptions): Problem[] => [
  ...checkTriggers(triggers ?? [], abi ?? []),
  ...checkBalances(getNativeBalances ?? []),
];

/** The plan of a match that needs only token metadata. */
export const TOKENS_ONLY = JSON.stringify({
  triggers: [],
  events: [],
  balances: [],
} satisfies Plan);

/**
 * Returns the plan of a match with these records as JSON; undefined if the stream adds no calls.
 */
export function planOf(options: PlannedOptions, tail: BodyTail): string | undefined {
  const { triggers, getNativeBalances: balances, abi } = options;
  const wanted = [...(triggers ?? []), ...(balances ?? [])];
  if (!wanted.some(({ type }) => recordsOf(tail, type).length > 0)) return undefined;
  let plan = plans.get(options);
  if (plan === undefined) {
    const events = (triggers ?? []).flatMap(
      (trigger) => eventsOf(trigger, abi ?? [])?.events ?? [],
    );
    plan = JSON.stringify({
      triggers: triggers ?? [],
      events: [...new Set(events)],
      balances: balances ?? [],
    } satisfies Plan);
    plans.set(options, plan);
  }
  return plan;
}

/** Cached by the options object, which is replaced on changes and never mutated. */
const plans = new WeakMap<object, string>();

const MAX_COMPILED = 200;
const MAX_COMPILED_CHARACTERS = 65_536;
/** Cached by JSON unless it is huge, because a stream has the same plan for every block. */
const compiled = new Map<string, CompiledPlan>();

export function compilePlan(text: string): CompiledPlan {
  let plan = compiled.get(text);
  if (plan === undefined) {
    const { triggers, events, balances } = JSON.parse(text) as Plan;
    plan = { triggers: triggers.map((each) => compileTrigger(each, events)), balances };
    if (text.length > MAX_COMPILED_CHARACTERS) return plan;
    if (compiled.size >= MAX_COMPILED) compiled.clear();
    compiled.set(text, plan);
  }
  return plan;
}
