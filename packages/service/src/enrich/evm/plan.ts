/** What a body still lacks when its match is committed, frozen with it (architecture.md 6.3). */
import type { AbiItem, NativeBalanceSelection, StreamTrigger } from '@sluice/kit/contract';
import type { StreamOptions } from '../../store/streams/contract.ts';
import { checkBalances } from './balances.ts';
import { type BodyTail, recordsOf } from './records.ts';
import type { Problem } from './selectors.ts';
import { type CompiledTrigger, checkTriggers, compileTrigger, eventsOf } from './triggers.ts';

/** Token metadata is part of every plan: the body itself says of which contracts. */
interface Plan {
  triggers: readonly StreamTrigger[];
  /** Events whose parameters the triggers read. */
  events: readonly AbiItem[];
  balances: readonly NativeBalanceSelection[];
}

export interface CompiledPlan {
  triggers: CompiledTrigger[];
  balances: readonly NativeBalanceSelection[];
}

type PlannedOptions = Pick<StreamOptions, 'triggers' | 'getNativeBalances' | 'abi'>;

/** What is wrong with a stream's triggers and balances, by place; empty when all is well. */
export const checkPlan = ({ triggers, getNativeBalances, abi }: PlannedOptions): Problem[] => [
  ...checkTriggers(triggers ?? [], abi ?? []),
  ...checkBalances(getNativeBalances ?? []),
];

/** The plan of a match that wants token metadata and nothing else. */
export const TOKENS_ONLY = JSON.stringify({
  triggers: [],
  events: [],
  balances: [],
} satisfies Plan);

/** As JSON, the plan of a match with these records; undefined where they want no calls of a stream's own. */
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

/** By the options they were made of, which are replaced and never changed. */
const plans = new WeakMap<object, string>();

const MAX_COMPILED = 200;
const MAX_COMPILED_CHARACTERS = 65_536;
/** By their JSON, where it is not huge: a stream has the same plan block after block. */
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
