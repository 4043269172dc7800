/** Converts between drafts of streams and the fields of the API. */
import type {
  AdvancedOption,
  AptosNetwork,
  AptosStream,
  Stream,
  AptosStreamFields,
  StreamFields,
} from '@sluice/kit';
import {
  eventSignature,
  formatRetries,
  parseEventSignature,
  parseRetries,
} from '@sluice/kit/contract';
import { fromTrigger, toTrigger } from './triggers.ts';
import {
  OPERATORS,
  type EventRule,
  isEvent,
  NEW_DRAFT,
  type Condition,
  linesOf,
  type StreamDraft,
} from './draft.ts';
import { toOAuth2, toOAuth2Draft } from '../oauth2/oauth2Draft.ts';
import { toPlainDraft, withPlain } from './plainFields.ts';
import { filterProblem } from './problems.ts';

/**
 * Returns a rule's filter; undefined if the rule has none or the JSON is not a valid filter.
 * Integers stay strings, which the service accepts and which are exact at any length.
 */
const toFilter = ({ conditions, filterJson }: EventRule): Record<string, unknown> | undefined => {
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

const toHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );

const toCommon = (draft: StreamDraft) => ({
  webhookUrl: draft.webhookUrl,
  description: draft.description || draft.tag,
  tag: draft.tag,
  headers: toHeaders(draft.headers),
  oauth2: toOAuth2(draft.oauth2),
  // A draft with a problem is not sent, but its changes are shown.
  retries: parseRetries(draft.retries) ?? [],
});

export function toEvmFields(draft: StreamDraft): StreamFields {
  const filtered = draft.rules.flatMap((rule): AdvancedOption[] => {
    const filter = toFilter(rule);
    return filter === undefined ? [] : [{ topic0: rule.signature, filter }];
  });
  return withPlain(draft, {
    ...toCommon(draft),
    chainIds: draft.chains,
    topic0: draft.rules.map(({ signature }) => signature),
    abi: draft.abi,
    advancedOptions: filtered,
    triggers: draft.triggers.flatMap(toTrigger),
    getNativeBalances: draft.balances.map(({ type, selectors }) => ({ type, selectors })),
  } satisfies Partial<StreamFields>) as unknown as StreamFields;
}

export const toAptosFields = (draft: StreamDraft): AptosStreamFields =>
  withPlain(draft, {
    ...toCommon(draft),
    network: draft.chains as AptosNetwork[],
    functions: linesOf(draft.functions),
    events: linesOf(draft.moveEvents),
  } satisfies Partial<AptosStreamFields>) as unknown as AptosStreamFields;

/** Returns the API fields of a draft, which depend on its chain family. */
export const toFields = (draft: StreamDraft): StreamFields | AptosStreamFields =>
  draft.family === 'evm' ? toEvmFields(draft) : toAptosFields(draft);

/** Converts an existing stream to a draft. */
export function toDraft(stream: Stream | AptosStream): StreamDraft {
  const common = {
    ...NEW_DRAFT,
    ...toPlainDraft(stream),
    webhookUrl: stream.webhookUrl,
    tag: stream.tag,
    description: stream.description,
    headers: Object.entries(stream.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    oauth2: toOAuth2Draft(stream.oauth2),
    retries: formatRetries(stream.retries),
  };
  if ('network' in stream) {
    return {
      ...common,
      family: 'aptos',
      chains: stream.network,
      functions: (stream.functions ?? []).join('\n'),
      moveEvents: (stream.events ?? []).join('\n'),
    };
  }
  const abi = stream.abi ?? [];
  const named = new Map(
    abi.filter(isEvent).map((item) => {
      const signature = eventSignature(item);
      return [parseEventSignature(signature)?.topic0, signature];
    }),
  );
  const canonical = (text: string): string => {
    const parsed = parseEventSignature(text);
    return parsed?.signature ?? named.get(parsed?.topic0) ?? text;
  };
  const filters = new Map(
    (stream.advancedOptions ?? []).map(({ topic0, filter }) => [canonical(topic0), filter]),
  );
  return {
    ...common,
    family: 'evm',
    chains: stream.chainIds,
    abi,
    rules: [...new Set([...(stream.topic0 ?? []).map(canonical), ...filters.keys()])].map(
      (signature) => ({ signature, ...fromFilter(filters.get(signature)) }),
    ),
    triggers: (stream.triggers ?? []).map(fromTrigger),
    balances: (stream.getNativeBalances ?? []).map(({ type, selectors }) => ({ type, selectors })),
  };
}

function fromFilter(
  filter: Record<string, unknown> | undefined,
): Pick<EventRule, 'conditions' | 'filterJson'> {
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

/** A changed API field. Values are JSON, or empty if the field is absent. */
export interface FieldChange {
  field: string;
  before: string;
  after: string;
}

export function changesOf(before: StreamDraft, after: StreamDraft): FieldChange[] {
  const from = toFields(before) as unknown as Record<string, unknown>;
  const to = toFields(after) as unknown as Record<string, unknown>;
  return Object.keys(to).flatMap((field) => {
    const [old, next] = [JSON.stringify(from[field]), JSON.stringify(to[field])];
    return old === next ? [] : [{ field, before: old ?? '', after: next ?? '' }];
  });
}

/** Returns the new values of the changed fields. The service keeps the values of absent fields. */
export function toChanges(before: StreamDraft, after: StreamDraft): Record<string, unknown> {
  const to = toFields(after) as unknown as Record<string, unknown>;
  return Object.fromEntries(changesOf(before, after).map(({ field }) => [field, to[field]]));
}
