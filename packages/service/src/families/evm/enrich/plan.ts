/** Plans how to complete a body after its match is committed. The plan is stored with the match. */
import type { AbiItem, NativeBalanceSelection, StreamTrigger } from '@sluice/kit/contract';
import type { StreamOptions } from '../../../store/streams/contract.ts';
import { checkBalances } from './balances.ts';
import { type BodyTail, recordsOf } from './records.ts';
import type { Problem } from './selectors.ts';
import { type CompiledTrigger, checkTriggers, compileTrigger, eventsOf } from './triggers.ts';

/**
 * The reads that complete a body. Token metadata is read for every body, so a plan does not list
 * it.
 */
interface Plan {
  triggers: readonly StreamTrigger[];
  /** Events whose parameters the triggers may use. */
  events: readonly AbiItem[];
  balances: readonly NativeBalanceSelection[];
  /** The stream's own maximum size of a webhook in bytes; absent if it sets none. */
  maxWebhookBytes?: number;
}

export interface CompiledPlan {
  triggers: CompiledTrigger[];
  maxWebhookBytes: number;
  balances: readonly NativeBalanceSelection[];
}

type PlannedOptions = Pick<StreamOptions, 'triggers' | 'getNativeBalances' | 'abi'>;
type LimitedOptions = PlannedOptions & Pick<StreamOptions, 'maxWebhookBytes'>;

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
 * Returns the plan as JSON; undefined if the body has no records of the types that the stream's
 * triggers and native balances use.
 */
export function planOf(options: LimitedOptions, tail: BodyTail): string | undefined {
  const { triggers, getNativeBalances: balances, abi, maxWebhookBytes } = options;
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
      ...(maxWebhookBytes !== null && { maxWebhookBytes }),
    } satisfies Plan);
    plans.set(options, plan);
  }
  return plan;
}

/**
 * Caches plans by options object. A change to a stream replaces the object instead of mutating it.
 */
const plans = new WeakMap<object, string>();

const MAX_COMPILED = 200;
const MAX_COMPILED_CHARACTERS = 65_536;
/**
 * Compiled plans by their JSON, except large ones. The matches of a stream usually share a plan.
 */
const compiled = new Map<string, CompiledPlan>();

export function compilePlan(text: string): CompiledPlan {
  let plan = compiled.get(text);
  if (plan === undefined) {
    const { triggers, events, balances, maxWebhookBytes } = JSON.parse(text) as Plan;
    plan = {
      triggers: triggers.map((each) => compileTrigger(each, events)),
      balances,
      maxWebhookBytes: maxWebhookBytes ?? Number.POSITIVE_INFINITY,
    };
    if (text.length > MAX_COMPILED_CHARACTERS) return plan;
    if (compiled.size >= MAX_COMPILED) compiled.clear();
    compiled.set(text, plan);
  }
  return plan;
}
