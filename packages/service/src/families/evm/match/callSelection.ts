/**
 * Selects the calls that a stream matches: calls of the selected functions with the selected
 * outcome, if their filters pass. Compiled once per stream.
 *
 * - `functions` or an advanced option selects a function. `*` selects every call.
 * - A function is known by its selector. Its inputs are those in the signature, or else those of
 *   the functions of the stream's ABI that have the selector; the first that decodes a call counts.
 * - A function with advanced options matches if at least one of them does: its outcome is the
 *   wanted one, and its filter passes. Filters fail for calls that can't be decoded.
 */
import {
  ANY_FUNCTION,
  type AbiItem,
  type CompiledFunction,
  type DecodedArguments,
  type ExplainedCondition,
  type TransactionStatus,
  type WebhookRule,
  compileFunction,
  itemSignature,
  parseFunctionSignature,
  selectorOf,
} from '@sluice/kit/contract';
import type { StreamOptions } from '../../../store/streams/contract.ts';
import { type AddReason, joinNamed, passed, stopped } from '../../../match/reasons.ts';
import type { EvmCall } from './block.ts';
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

/** A function and a call's arguments; null if the input does not encode them. */
export interface DecodedCall {
  called: CompiledFunction;
  args: DecodedArguments | null;
}

export interface CallSelection {
  /** Maximum number of comparisons in all filters; an option without a filter counts as one. */
  readonly comparisons: number;
  /** Selectors of the functions that the stream selects. */
  readonly selectors: readonly string[];
  /** Whether the stream selects every call. */
  readonly takesAll: boolean;
  takes(call: EvmCall, context: RecordContext, addReason?: AddReason): boolean;
  /**
   * Returns the rules that select a call that {@link takes} takes: every advanced option of its
   * function that passes, or else the entry of `functions`. The same objects each time.
   */
  rulesOf(call: EvmCall, context: RecordContext): readonly WebhookRule[];
  /**
   * Returns a numeric comparison that alone excludes a call that does not match; undefined if there
   * is none.
   */
  missOf(
    call: EvmCall,
    context: RecordContext,
  ): (ExcludingComparison & { function: string }) | undefined;
  /** Decodes call data; undefined if its function is unknown. */
  decode(input: string): DecodedCall | undefined;
}

interface Option {
  status: TransactionStatus;
  /** Filters by the function that decodes a call; undefined without a filter. */
  filters: ReadonlyMap<AbiItem, Filter> | undefined;
  /** The functions that may decode a call. */
  functions: readonly CompiledFunction[];
  rule: WebhookRule;
}

/** Maximum number of advanced options of one function that an explanation describes. */
const EXPLAINED = 20;

/** The function of filters on calls whose function is unknown, which have no arguments. */
const UNKNOWN: AbiItem = { type: 'function', name: '', inputs: [] };

export type CallOptions = Pick<
  StreamOptions,
  'functions' | 'transactionStatus' | 'advancedOptions' | 'abi' | 'includeCaller'
>;

/** Returns whether the stream selects functions, so that its webhooks have `calls`. */
export const takesCalls = ({
  functions,
  advancedOptions,
}: Pick<StreamOptions, 'functions' | 'advancedOptions'>): boolean =>
  (functions ?? []).length > 0 ||
  (advancedOptions ?? []).some((option) => option.function !== undefined);

/** Returns whether the stream selects every call, whatever its function. */
export const takesEveryCall = ({
  functions,
  advancedOptions,
}: Pick<StreamOptions, 'functions' | 'advancedOptions'>): boolean =>
  (functions ?? []).includes(ANY_FUNCTION) ||
  (advancedOptions ?? []).some((option) => option.function === ANY_FUNCTION);

/**
 * Returns undefined if the stream does not need calls.
 *
 * @throws FilterError with a path that starts at the stream's options
 */
export function createCallSelection(options: CallOptions): CallSelection | undefined {
  if (!takesCalls(options) && !options.includeCaller) return undefined;
  const { functions, transactionStatus, advancedOptions, abi } = options;
  const ofAbi = Map.groupBy(
    (abi ?? []).filter(({ type }) => type === 'function').map((item) => compileFunction(item)),
    ({ selector }) => selector,
  );
  /** The functions with a selector that signatures name. */
  const ofText = new Map<string, CompiledFunction[]>();
  const choices = new Map<string, Option[]>();

  /** Selects a function. Returns its key in `choices`, and the functions that may decode it. */
  const select = (
    text: string,
    path: (string | number)[],
  ): { key: string; known: readonly CompiledFunction[] } => {
    if (text === ANY_FUNCTION) return { key: text, known: [] };
    const { selector, item } = parseFunctionSignature(text) ?? {};
    if (selector === undefined) {
      throw new FilterError(
        path,
        'should be a function signature, e.g. transfer(address,uint256), its 4-byte selector, or *',
      );
    }
    if (item === undefined) return { key: selector, known: functionsOf(selector) };
    const own = compileFunction(withNames(item, ofAbi.get(selector)));
    ofText.set(selector, [...(ofText.get(selector) ?? []), own]);
    return { key: selector, known: [own] };
  };
  const functionsOf = (selector: string): readonly CompiledFunction[] =>
    ofText.get(selector) ?? ofAbi.get(selector) ?? [];

  /** The options of functions without advanced options: those of their first entry. */
  const byDefault = new Map<string, readonly Option[]>();
  for (const [index, text] of (functions ?? []).entries()) {
    const { key } = select(text, ['functions', index]);
    if (byDefault.has(key)) continue;
    const rule: WebhookRule = { field: 'functions', index };
    byDefault.set(key, [{ status: transactionStatus, filters: undefined, functions: [], rule }]);
  }
  const selected = new Set(byDefault.keys());
  for (const [n, option] of (advancedOptions ?? []).entries()) {
    if (option.function === undefined) continue;
    const path = ['advancedOptions', n];
    const { key, known } = select(option.function, [...path, 'function']);
    selected.add(key);
    const { filter, transactionStatus: status = transactionStatus } = option;
    const filters = isEmptyFilter(filter) ? undefined : compileFor(known, filter, path);
    const rule: WebhookRule = { field: 'advancedOptions', index: n };
    choices.set(key, [...(choices.get(key) ?? []), { status, filters, functions: known, rule }]);
  }
  const takesAll = selected.delete(ANY_FUNCTION);

  const decode = (input: string): DecodedCall | undefined => {
    const selector = selectorOf(input);
    return selector === undefined ? undefined : decodeWith(functionsOf(selector), input);
  };
  const describe = (selector: string): string => {
    const [known] = functionsOf(selector);
    return known === undefined ? selector : itemSignature(known.item);
  };
  const describeCalled = (selector: string | undefined): string | undefined =>
    selector && describe(selector);

  /** Returns the selected function that the call is matched as; undefined if there is none. */
  const keyOf = (selector: string | undefined): string | undefined =>
    selector !== undefined && selected.has(selector)
      ? selector
      : takesAll
        ? ANY_FUNCTION
        : undefined;

  /** Returns the options of a selected function. */
  const optionsOf = (key: string): readonly Option[] =>
    choices.get(key) ?? byDefault.get(key) ?? [];

  const functionCondition = (
    selector: string | undefined,
    holds: boolean,
  ): ExplainedCondition[] => {
    const wanted = takesAll
      ? 'any'
      : joinNamed({ keys: () => selected.keys(), size: selected.size }, describe);
    return [toCondition('function', wanted, describeCalled(selector), holds)];
  };

  return {
    comparisons: [...choices.values()]
      .flat()
      .map(({ filters }) =>
        Math.max(1, ...[...(filters?.values() ?? [])].map(({ comparisons }) => comparisons)),
      )
      .reduce((sum, each) => sum + each, 0),
    selectors: [...selected],
    takesAll,
    decode,

    takes(call, context, addReason) {
      const selector = selectorOf(call.input);
      const key = keyOf(selector);
      if (key === undefined) {
        addReason?.(
          stopped(
            'event',
            `${describeInput(describeCalled(selector))}, but the stream selects ${
              selected.size === 1 ? describe([...selected][0]!) : `${selected.size} other functions`
            }`,
            functionCondition(selector, false),
          ),
        );
        return false;
      }
      addReason?.(
        passed(
          'event',
          `${describeInput(describeCalled(selector))}, which the stream selects`,
          functionCondition(selector, true),
        ),
      );
      const own = optionsOf(key);
      const open = own.filter(({ status }) => isWanted(call, status));
      addReason?.(explainOutcome(call, own, open.length > 0));
      if (addReason !== undefined && choices.has(key)) {
        for (const option of open.slice(0, EXPLAINED))
          explainFilter(option, call, context, addReason);
      }
      return open.some((option) => passes(option, call, context));
    },

    rulesOf(call, context) {
      return optionsOf(keyOf(selectorOf(call.input)) ?? '')
        .filter((option) => isWanted(call, option.status) && passes(option, call, context))
        .map(({ rule }) => rule);
    },

    missOf(call, context) {
      const key = keyOf(selectorOf(call.input));
      if (key === undefined) return undefined;
      for (const { status, filters, functions: known } of choices.get(key) ?? []) {
        const found = isWanted(call, status) ? subjectOf(known, call, context) : undefined;
        if (found === undefined) continue;
        const { item, subject } = found;
        const miss = filters?.get(item)?.missOf(subject);
        if (miss !== undefined) {
          return { ...miss, function: item === UNKNOWN ? key : itemSignature(item) };
        }
      }
      return undefined;
    },
  };
}

function compileFor(
  functions: readonly CompiledFunction[],
  filter: unknown,
  path: (string | number)[],
): NonNullable<Option['filters']> {
  const filters = new Map<AbiItem, Filter>();
  const items = functions.length === 0 ? [UNKNOWN] : functions.map(({ item }) => item);
  for (const item of items) {
    try {
      filters.set(item, compileFilter(filter, item));
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      throw new FilterError([...path, 'filter', ...error.path], error.message);
    }
  }
  return filters;
}

/** Gives the inputs of a signature without names the names that the ABI has for them. */
function withNames(item: AbiItem, known: readonly CompiledFunction[] = []): AbiItem {
  if (item.inputs?.some(({ name }) => name !== '')) return item;
  const signature = itemSignature(item);
  return known.find((each) => itemSignature(each.item) === signature)?.item ?? item;
}

function decodeWith(
  functions: readonly CompiledFunction[],
  input: string,
): DecodedCall | undefined {
  for (const called of functions) {
    const args = called.decode(input);
    if (typeof args !== 'string') return { called, args };
  }
  const [called] = functions;
  return called && { called, args: null };
}

/** Returns the values that filters read; undefined if the call can't be decoded. */
function subjectOf(
  functions: readonly CompiledFunction[],
  { input, from, to, value }: EvmCall,
  { chain, possibleSpam }: RecordContext,
): { item: AbiItem; subject: FilterSubject } | undefined {
  const decoded = decodeWith(functions, input);
  const args = decoded === undefined ? {} : decoded.args;
  if (args === null) return undefined;
  const subject = { args, contract: to, chain, possibleSpam, sender: from, value: BigInt(value) };
  return { item: decoded?.called.item ?? UNKNOWN, subject };
}

/** Returns whether the filter of the option passes. */
function passes({ filters, functions }: Option, call: EvmCall, context: RecordContext): boolean {
  if (filters === undefined) return true;
  const found = subjectOf(functions, call, context);
  return found !== undefined && filters.get(found.item)?.passes(found.subject) === true;
}

/** Returns whether the outcome is wanted. A call of unknown outcome counts as successful. */
const isWanted = ({ isFailed }: EvmCall, status: TransactionStatus): boolean =>
  status === 'any' || (status === 'failed') === (isFailed === true);

const describeInput = (called: string | undefined): string =>
  called === undefined ? 'its input has no selector' : `it calls ${called}`;

function explainOutcome({ isFailed }: EvmCall, options: readonly Option[], isPassed: boolean) {
  const its = isFailed === true ? 'the call failed' : 'the call succeeded';
  const statuses = new Set(options.map(({ status }) => status));
  const wanted = joinNamed({ keys: () => statuses.keys(), size: statuses.size }, (status) =>
    status === 'failed' ? 'failures' : status === 'any' ? 'any outcome' : 'successes',
  );
  const conditions = [
    toCondition('status', wanted, isFailed === true ? 'failed' : 'success', isPassed),
  ];
  return isPassed
    ? passed('outcome', `${its}, and the stream wants ${wanted}`, conditions)
    : stopped('outcome', `${its}, but the stream wants ${wanted}`, conditions);
}

function explainFilter(
  { filters, functions }: Option,
  call: EvmCall,
  context: RecordContext,
  addReason: AddReason,
): void {
  if (filters === undefined) {
    addReason(passed('filter', 'the function has no filter'));
    return;
  }
  const found = subjectOf(functions, call, context);
  if (found === undefined) {
    addReason(stopped('filter', "the input can't be decoded as the function's arguments"));
    return;
  }
  const { item, subject } = found;
  const filter = filters.get(item)!;
  addReason(
    (filter.passes(subject) ? passed : stopped)(
      'filter',
      filter.explain(subject),
      filter.conditions(subject),
    ),
  );
}
