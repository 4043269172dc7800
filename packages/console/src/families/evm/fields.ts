/** Converts between drafts of EVM streams and the fields of the API. */
import type { AdvancedOption, Stream, StreamFields } from '@sluice/kit';
import { itemSignature, parseConfirmations, parseEventSignature } from '@sluice/kit/contract';
import { type StreamDraft, linesOf } from '../../routes/streamForm/draft/draft.ts';
import {
  OPERATORS,
  type CallRule,
  type Condition,
  type EvmDraft,
  type FilterRule,
  isEvent,
} from './draft.ts';
import { filterProblem } from './problems.ts';
import { fromFactory, toFactory } from './routes/factories.ts';
import { fromRead, toRead } from './routes/reads.ts';
import { fromTrigger, toTrigger } from './routes/triggers.ts';

/**
 * Returns a rule's filter; undefined if the rule has none or the JSON is not a valid filter.
 * Integers stay strings, which the service accepts and which are exact at any length.
 */
const toFilter = ({ conditions, filterJson }: FilterRule): Record<string, unknown> | undefined => {
  if (filterJson !== null) {
    return filterProblem(filterJson) === undefined
      ? (JSON.parse(filterJson) as Record<string, unknown>)
      : undefined;
  }
  const parts = conditions.map(({ name, operator, value }) => ({
    [operator]: [name, value.trim()],
  }));
  return parts.length < 2 ? parts[0] : { and: parts };
};

export function toEvmFields(draft: StreamDraft): Partial<StreamFields> {
  const signatures = [...new Set(draft.rules.map(({ signature }) => signature))];
  const filtered = draft.rules.flatMap((rule): AdvancedOption[] => {
    const { signature: topic0 } = rule;
    const filter = toFilter(rule);
    if (filter !== undefined) return [{ topic0, filter }];
    // Next to other rules of the event, one without conditions takes every log.
    const isAlone = draft.rules.every((each) => each === rule || each.signature !== topic0);
    return isAlone ? [] : [{ topic0 }];
  });
  const called = draft.callRules.map((rule): AdvancedOption => {
    const { signature, transactionStatus } = rule;
    const filter = toFilter(rule);
    return {
      function: signature,
      ...(filter !== undefined && { filter }),
      ...(transactionStatus !== '' && { transactionStatus }),
    };
  });
  return {
    chainIds: draft.chains,
    factories: draft.factories.map(toFactory),
    reads: draft.reads.map((read) => toRead(read, draft.abi)),
    topic0: signatures,
    abi: draft.abi,
    functions: linesOf(draft.calledFunctions),
    advancedOptions: [...filtered, ...called],
    triggers: draft.triggers.flatMap(toTrigger),
    getNativeBalances: draft.balances.map(({ type, selectors }) => ({ type, selectors })),
    confirmations: parseConfirmations(draft.confirmations) ?? null,
  };
}

export function toEvmDraft(stream: Stream): EvmDraft & Pick<StreamDraft, 'chains'> {
  const abi = stream.abi ?? [];
  const named = new Map(
    abi.filter(isEvent).map((item) => {
      const signature = itemSignature(item);
      return [parseEventSignature(signature)?.topic0, signature];
    }),
  );
  const canonical = (text: string): string => {
    const parsed = parseEventSignature(text);
    return parsed?.signature ?? named.get(parsed?.topic0) ?? text;
  };
  const options = (stream.advancedOptions ?? []).flatMap(({ topic0, filter }) =>
    topic0 === undefined ? [] : [{ signature: canonical(topic0), filter }],
  );
  const filters = Map.groupBy(options, ({ signature }) => signature);
  return {
    chains: stream.chainIds,
    factories: (stream.factories ?? []).map(fromFactory),
    reads: (stream.reads ?? []).map(fromRead),
    abi,
    rules: [...new Set([...(stream.topic0 ?? []).map(canonical), ...filters.keys()])].flatMap(
      (signature) =>
        (filters.get(signature) ?? [{ filter: undefined }]).map(({ filter }) => ({
          signature,
          ...fromFilter(filter),
        })),
    ),
    calledFunctions: (stream.functions ?? []).join('\n'),
    callRules: (stream.advancedOptions ?? []).flatMap(
      ({ function: signature, filter, transactionStatus }): CallRule[] =>
        signature === undefined
          ? []
          : [{ signature, ...fromFilter(filter), transactionStatus: transactionStatus ?? '' }],
    ),
    triggers: (stream.triggers ?? []).map(fromTrigger),
    balances: (stream.getNativeBalances ?? []).map(({ type, selectors }) => ({ type, selectors })),
    confirmations: String(stream.confirmations ?? ''),
  };
}

function fromFilter(
  filter: Record<string, unknown> | undefined,
): Pick<FilterRule, 'conditions' | 'filterJson'> {
  if (filter === undefined || Object.keys(filter).length === 0) {
    return { conditions: [], filterJson: null };
  }
  const parts = Array.isArray(filter['and']) ? (filter['and'] as unknown[]) : [filter];
  const conditions = parts.map(fromPart);
  return conditions.every((each) => each !== undefined)
    ? { conditions, filterJson: null }
    : { conditions: [], filterJson: JSON.stringify(filter, null, 2) };
}

function fromPart(part: unknown): Condition | undefined {
  const [entry, ...more] = Object.entries(part as Record<string, unknown>);
  if (entry === undefined || more.length > 0) return undefined;
  const operator = OPERATORS.find((each) => each === entry[0]);
  const operands: unknown = entry[1];
  if (operator === undefined || !Array.isArray(operands) || operands.length !== 2) return undefined;
  const [name, value] = operands as unknown[];
  if (typeof name !== 'string' || !isScalar(value)) return undefined;
  return { name, operator, value: String(value) };
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
