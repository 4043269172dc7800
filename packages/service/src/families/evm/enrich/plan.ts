/** Plans how to complete a body after its match is committed. The plan is stored with the match. */
import type { AbiItem, NativeBalanceSelection, StreamTrigger } from '@sluice/kit/contract';
import type { StreamOptions } from '../../../store/streams/contract.ts';
import { type CustomErrors, compileErrors } from '../base/callFailure.ts';
import { checkBalances } from './balances.ts';
import { lacksReasons } from './reasons.ts';
import { type BodyTail, recordsOf } from './records.ts';
import type { SelectorProblem } from './selectors.ts';
import { type CompiledTrigger, checkTriggers, compileTrigger, eventsOf } from './triggers.ts';

/**
 * The reads that complete a body. Token metadata and labels are read for every body, so a plan does
 * not list them.
 */
interface Plan {
  triggers: readonly StreamTrigger[];
  /** Events whose parameters the triggers may use. */
  events: readonly AbiItem[];
  balances: readonly NativeBalanceSelection[];
  /** Custom errors that may be the reason of a failed call. */
  errors?: readonly AbiItem[];
  /** The stream's own maximum size of a webhook in bytes; absent if it sets none. */
  maxWebhookBytes?: number;
}

export interface CompiledPlan {
  triggers: CompiledTrigger[];
  maxWebhookBytes: number;
  balances: readonly NativeBalanceSelection[];
  errors: CustomErrors;
}

type PlannedOptions = Pick<StreamOptions, 'triggers' | 'getNativeBalances' | 'abi'>;
type LimitedOptions = PlannedOptions & Pick<StreamOptions, 'maxWebhookBytes'>;

export const checkPlan = ({
  triggers,
  getNativeBalances,
  abi,
}: PlannedOptions): SelectorProblem[] => [
  ...checkTriggers(triggers ?? [], abi ?? []),
  ...checkBalances(getNativeBalances ?? []),
];

/** The plan of a match that needs only token metadata and labels. */
export const TOKENS_ONLY = JSON.stringify({
  triggers: [],
  events: [],
  balances: [],
} satisfies Plan);

/**
 * Returns the plan as JSON; undefined if no failed call lacks its reason, and the body has no records
 * of the types that the stream's triggers and native balances use.
 */
export function planOf(options: LimitedOptions, tail: BodyTail): string | undefined {
  const { triggers, getNativeBalances: balances, abi, maxWebhookBytes } = options;
  const wanted = [...(triggers ?? []), ...(balances ?? [])];
  const isNeeded =
    lacksReasons(tail) || wanted.some(({ type }) => recordsOf(tail, type).length > 0);
  if (!isNeeded) return undefined;
  const key = lacksReasons(tail) ? 'withErrors' : 'plain';
  const known = plans.get(options) ?? {};
  let plan = known[key];
  if (plan === undefined) {
    const events = (triggers ?? []).flatMap(
      (trigger) => eventsOf(trigger, abi ?? [])?.events ?? [],
    );
    plan = JSON.stringify({
      triggers: triggers ?? [],
      events: [...new Set(events)],
      balances: balances ?? [],
      ...(lacksReasons(tail) && { errors: (abi ?? []).filter(({ type }) => type === 'error') }),
      ...(maxWebhookBytes !== null && { maxWebhookBytes }),
    } satisfies Plan);
    plans.set(options, { ...known, [key]: plan });
  }
  return plan;
}

/**
 * Caches plans by options object. A change to a stream replaces the object instead of mutating it.
 */
const plans = new WeakMap<object, { plain?: string; withErrors?: string }>();

const MAX_COMPILED = 200;
const MAX_COMPILED_CHARACTERS = 65_536;
/**
 * Compiled plans by their JSON, except large ones. The matches of a stream usually share a plan.
 */
const compiled = new Map<string, CompiledPlan>();

export function compilePlan(text: string): CompiledPlan {
  let plan = compiled.get(text);
  if (plan === undefined) {
    const { triggers, events, balances, errors = [], maxWebhookBytes } = JSON.parse(text) as Plan;
    plan = {
      triggers: triggers.map((each) => compileTrigger(each, events)),
      balances,
      errors: compileErrors(errors),
      maxWebhookBytes: maxWebhookBytes ?? Number.POSITIVE_INFINITY,
    };
    if (text.length > MAX_COMPILED_CHARACTERS) return plan;
    if (compiled.size >= MAX_COMPILED) compiled.clear();
    compiled.set(text, plan);
  }
  return plan;
}
