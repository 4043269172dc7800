/** A stream as the form holds it: what is wrong with it, and what is sent for it. Pure. */
import type { AbiItem, AdvancedOption, AptosNetwork, AptosStream, Stream } from '@sluice/kit';
import type { AptosStreamFields, StreamFields } from '@sluice/kit';
import { eventSignature, parseEventSignature } from '@sluice/kit/contract';
import type { NetworkType } from '@sluice/kit';
import type { RecordKind, StreamTrigger } from '@sluice/kit';
import { readInboxName } from '@sluice/kit/sluice';
import { formatQuantity } from './format.ts';
import { jsonProblem, parseJson } from './json.ts';
import { problemAt, type LineProblem } from './lineProblem.ts';
import { balanceProblem, fromTrigger, toTrigger, triggerProblems } from './triggers.ts';

export const OPERATORS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const;
export type Operator = (typeof OPERATORS)[number];

/** As people write them. */
export const OPERATOR_SIGNS: Record<Operator, string> = {
  eq: '=',
  ne: '≠',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
};

/** `value gte 1000000`, for one parameter of an event. */
export interface Condition {
  name: string;
  operator: Operator;
  value: string;
}

export interface EventRule {
  /** Canonical text, or the hash where only that is known. */
  signature: string;
  conditions: Condition[];
  /** A filter that is more than conditions joined by and: as JSON, to be edited as such. */
  filterJson: string | null;
}

/** A read-only call for each record of a kind, as typed. */
export interface TriggerDraft {
  type: StreamTrigger['type'];
  contractAddress: string;
  /** As in Solidity: `function balanceOf(address owner) view returns (uint256)`. */
  function: string;
  /** One for each parameter; arrays and structs as JSON. */
  inputs: string[];
  /** Of logs: the event alone; empty for all. */
  topic0: string;
  /** Empty: nobody. */
  callFrom: string;
}

/** Whose native balance to send along, of each record of a kind. */
export interface BalanceDraft {
  type: RecordKind;
  selectors: string[];
}

export interface StreamDraft {
  family: NetworkType;
  /** Ids of EVM chains, or networks of Aptos. */
  chains: string[];
  /** As typed or pasted; only of a stream that is new. */
  addresses: string;
  allAddresses: boolean;
  abi: AbiItem[];
  rules: EventRule[];
  includeContractLogs: boolean;
  includeNativeTxs: boolean;
  includeInternalTxs: boolean;
  includeAllTxLogs: boolean;
  filterPossibleSpamAddresses: boolean;
  triggers: TriggerDraft[];
  balances: BalanceDraft[];
  /** Move paths, one to a line. */
  functions: string;
  /** Move paths, one to a line. */
  moveEvents: string;
  includePayload: boolean;
  includeEvents: boolean;
  includeChanges: boolean;
  webhookUrl: string;
  tag: string;
  description: string;
  /** Whole number, or empty for the service's own limit. */
  maxInFlight: string;
  /** Number, or empty for none. */
  maxPerSecond: string;
  strictOrder: boolean;
  onlyConfirmed: boolean;
  notifyRemoved: boolean;
  /** `name: value`, one to a line. */
  headers: string;
}

export const NEW_DRAFT: StreamDraft = {
  family: 'evm',
  chains: [],
  addresses: '',
  allAddresses: false,
  abi: [],
  rules: [],
  includeContractLogs: true,
  includeNativeTxs: false,
  includeInternalTxs: false,
  includeAllTxLogs: false,
  filterPossibleSpamAddresses: false,
  triggers: [],
  balances: [],
  functions: '',
  moveEvents: '',
  includePayload: false,
  includeEvents: true,
  includeChanges: false,
  webhookUrl: '',
  tag: '',
  description: '',
  maxInFlight: '',
  maxPerSecond: '',
  strictOrder: false,
  onlyConfirmed: false,
  notifyRemoved: false,
  headers: '',
};

/** Events most streams are about, with the ABI that decodes them. */
export const TEMPLATES: readonly { name: string; abi: string }[] = [
  {
    name: 'ERC-20 transfer',
    abi: 'event Transfer(address indexed from, address indexed to, uint256 value)',
  },
  {
    name: 'ERC-20 approval',
    abi: 'event Approval(address indexed owner, address indexed spender, uint256 value)',
  },
  {
    name: 'ERC-1155 transfer',
    abi: 'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  },
  {
    name: 'Uniswap v3 swap',
    abi: 'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  },
];

/** The event of an ABI that a rule is about; it names the parameters. */
export const itemOf = (abi: readonly AbiItem[], signature: string): AbiItem | undefined =>
  abi.find((item) => item.type === 'event' && eventSignature(item) === signature);

export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Adds events with their ABI, and takes them all. */
export function withEvents(draft: StreamDraft, items: readonly AbiItem[]): StreamDraft {
  const known = new Set(draft.abi.filter(isEvent).map(eventSignature));
  const fresh = items.filter((item) => isEvent(item) && !known.has(eventSignature(item)));
  return items.filter(isEvent).reduce((next, item) => withRule(next, eventSignature(item)), {
    ...draft,
    abi: [...draft.abi, ...fresh],
  });
}

export function withRule(draft: StreamDraft, signature: string): StreamDraft {
  if (draft.rules.some((rule) => rule.signature === signature)) return draft;
  return { ...draft, rules: [...draft.rules, { signature, conditions: [], filterJson: null }] };
}

export const withoutRule = (draft: StreamDraft, signature: string): StreamDraft => ({
  ...draft,
  rules: draft.rules.filter((rule) => rule.signature !== signature),
});

export const isEvent = (item: AbiItem): boolean => item.type === 'event';

export type DraftField =
  | 'chains'
  | 'addresses'
  | 'rules'
  | 'triggers'
  | 'balances'
  | 'functions'
  | 'moveEvents'
  | 'webhookUrl'
  | 'tag'
  | 'maxInFlight'
  | 'maxPerSecond'
  | 'headers';

const MOVE_PATH = /^0x[0-9a-fA-F]{1,64}(::\w+){2}(<.+>)?$/;

/** Of things one to a line, those that are not right: `wordsFor` says why, of a line without what is around it. */
function problemsOfLines(
  text: string,
  wordsFor: (line: string) => string | undefined,
): LineProblem[] {
  let from = 0;
  return text.split('\n').flatMap((whole) => {
    const at = from + whole.length - whole.trimStart().length;
    from += whole.length + 1;
    const line = whole.trim();
    const words = line === '' ? undefined : wordsFor(line);
    return words === undefined ? [] : [problemAt(text, at, words)];
  });
}

export const movePathProblems = (text: string): LineProblem[] =>
  problemsOfLines(text, (path) => (MOVE_PATH.test(path) ? undefined : wordsForPath(path)));

/** What HTTP takes as the name of a header. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

export function headerProblems(text: string): LineProblem[] {
  const names = new Set<string>();
  return problemsOfLines(text, (line) => {
    const at = line.indexOf(':');
    if (at === -1) return 'A colon is missing: a header is written as name: value.';
    const name = line.slice(0, at).trim();
    if (!HEADER_NAME.test(name)) return `“${name}” is no name of a header.`;
    if (line.slice(at + 1).trim() === '') return `The value of “${name}” is missing.`;
    if (names.has(name.toLowerCase())) return `“${name}” stands above already: one is sent.`;
    names.add(name.toLowerCase());
    return undefined;
  });
}

function wordsForPath(path: string): string {
  const parts = path.split('<', 1)[0]!.split('::');
  if (!/^0x[0-9a-f]{1,64}$/i.test(parts[0] ?? '')) {
    return `“${path}” begins with no address such as 0x1: it is address::module::name.`;
  }
  if (parts.length !== 3) {
    return `“${path}” has ${formatQuantity(parts.length, 'part')} of three: address::module::name.`;
  }
  return `“${path}” is no Move path such as 0x1::coin::WithdrawEvent.`;
}

/** Why a text is no filter; whether its event has what it names, the service says. */
export function filterProblem(text: string): LineProblem | undefined {
  const value = parseJson(text)?.value;
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : (jsonProblem(text) ??
        problemAt(text, 0, 'A filter is an object such as {"gt": ["value", "1000"]}.'));
}

/**
 * What keeps it from being sent, by field; empty when nothing does.
 * @param addressCount how many addresses the stream has or will have.
 */
export function draftProblems(
  draft: StreamDraft,
  addressCount: number,
): Partial<Record<DraftField, string>> {
  const problems: Partial<Record<DraftField, string>> = {};
  if (draft.chains.length === 0) problems.chains = 'Choose at least one chain.';
  if (!draft.allAddresses && addressCount === 0) {
    problems.addresses = 'Paste an address, or watch all of them.';
  }
  if (draft.family === 'evm') {
    if (draft.allAddresses && draft.rules.length === 0) {
      problems.rules = 'Choose an event: all addresses without one would be the whole chain.';
    }
    const broken = draft.rules.find(
      ({ filterJson }) => filterJson !== null && filterProblem(filterJson) !== undefined,
    );
    if (broken !== undefined) problems.rules = `The filter of ${broken.signature} is not right.`;
    const empty = draft.rules.find(({ conditions }) =>
      conditions.some(({ name, value }) => name === '' || value.trim() === ''),
    );
    if (empty !== undefined) problems.rules = `A condition of ${empty.signature} has no value.`;
    const trigger = draft.triggers.map(
      (each) => Object.values(triggerProblems(each, draft.abi))[0],
    );
    const wrong = trigger.findIndex((each) => each !== undefined);
    if (wrong >= 0) problems.triggers = `Trigger ${wrong + 1}: ${trigger[wrong]}`;
    const balance = draft.balances.find((each) => balanceProblem(each) !== undefined);
    if (balance !== undefined) problems.balances = balanceProblem(balance) ?? '';
  } else {
    for (const field of ['functions', 'moveEvents'] as const) {
      const [bad] = movePathProblems(draft[field]);
      if (bad !== undefined) problems[field] = bad.message;
    }
    if (draft.allAddresses && draft.functions.trim() === '' && draft.moveEvents.trim() === '') {
      problems.functions = 'Name a function or an event: all addresses would be the whole chain.';
    }
  }
  const urlProblem = problemOfUrl(draft.webhookUrl);
  if (urlProblem !== undefined) problems.webhookUrl = urlProblem;
  if (!/[\p{L}\p{N}]/u.test(draft.tag)) problems.tag = 'Needs a letter or a digit.';
  if (!isWithin(draft.maxInFlight, 1, 64, true)) {
    problems.maxInFlight = 'A whole number from 1 to 64, or nothing.';
  }
  if (!isWithin(draft.maxPerSecond, 0.01, 10_000, false)) {
    problems.maxPerSecond = 'A number from 0.01 to 10,000, or nothing.';
  }
  const [header] = headerProblems(draft.headers);
  if (header !== undefined) problems.headers = header.message;
  return problems;
}

function isWithin(text: string, least: number, most: number, whole: boolean): boolean {
  if (text.trim() === '') return true;
  const value = Number(text);
  return value >= least && value <= most && (!whole || Number.isInteger(value));
}

function problemOfUrl(url: string): string | undefined {
  if (url === '') return 'Say where webhooks shall be POSTed.';
  if (url.startsWith('sluice:')) {
    return readInboxName(url) === undefined
      ? 'The name of an inbox has 1 to 63 small letters, digits and dashes.'
      : undefined;
  }
  return /^https?:\/\//i.test(url) && URL.canParse(url)
    ? undefined
    : 'Needs to begin with http:// or https://.';
}

/** Decimal integers of any length stay exact as text; the service reads both. */
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

const toLimits = ({ maxInFlight, maxPerSecond, strictOrder }: StreamDraft) => ({
  maxInFlight: maxInFlight.trim() === '' ? null : Number(maxInFlight),
  maxPerSecond: maxPerSecond.trim() === '' ? null : Number(maxPerSecond),
  strictOrder,
});

export function toEvmFields(draft: StreamDraft): StreamFields {
  const filtered = draft.rules.flatMap((rule): AdvancedOption[] => {
    const filter = toFilter(rule);
    return filter === undefined ? [] : [{ topic0: rule.signature, filter }];
  });
  return {
    webhookUrl: draft.webhookUrl,
    description: draft.description || draft.tag,
    tag: draft.tag,
    chainIds: draft.chains,
    topic0: draft.rules.map(({ signature }) => signature),
    allAddresses: draft.allAddresses,
    includeContractLogs: draft.includeContractLogs,
    includeNativeTxs: draft.includeNativeTxs,
    includeInternalTxs: draft.includeInternalTxs,
    includeAllTxLogs: draft.includeAllTxLogs,
    filterPossibleSpamAddresses: draft.filterPossibleSpamAddresses,
    abi: draft.abi,
    advancedOptions: filtered,
    triggers: draft.triggers.flatMap(toTrigger),
    getNativeBalances: draft.balances.map(({ type, selectors }) => ({ type, selectors })),
    deliver: draft.onlyConfirmed ? 'confirmed' : 'both',
    notifyRemoved: draft.notifyRemoved,
    ...toLimits(draft),
    headers: toHeaders(draft.headers),
  };
}

export function toAptosFields(draft: StreamDraft): AptosStreamFields {
  return {
    webhookUrl: draft.webhookUrl,
    description: draft.description || draft.tag,
    tag: draft.tag,
    network: draft.chains as AptosNetwork[],
    functions: linesOf(draft.functions),
    events: linesOf(draft.moveEvents),
    allAddresses: draft.allAddresses,
    includePayload: draft.includePayload,
    includeEvents: draft.includeEvents,
    includeChanges: draft.includeChanges,
    ...toLimits(draft),
    headers: toHeaders(draft.headers),
  };
}

/** One of the two, as the stream's family has it. */
export const toFields = (draft: StreamDraft): StreamFields | AptosStreamFields =>
  draft.family === 'evm' ? toEvmFields(draft) : toAptosFields(draft);

/** A stream that exists, for the form. */
export function toDraft(stream: Stream | AptosStream): StreamDraft {
  const common = {
    ...NEW_DRAFT,
    allAddresses: stream.allAddresses,
    webhookUrl: stream.webhookUrl,
    tag: stream.tag,
    description: stream.description,
    maxInFlight: String(stream.maxInFlight ?? ''),
    maxPerSecond: String(stream.maxPerSecond ?? ''),
    strictOrder: stream.strictOrder,
    headers: Object.entries(stream.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
  };
  if ('network' in stream) {
    return {
      ...common,
      family: 'aptos',
      chains: stream.network,
      functions: (stream.functions ?? []).join('\n'),
      moveEvents: (stream.events ?? []).join('\n'),
      includePayload: stream.includePayload,
      includeEvents: stream.includeEvents,
      includeChanges: stream.includeChanges,
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
    includeContractLogs: stream.includeContractLogs,
    includeNativeTxs: stream.includeNativeTxs,
    includeInternalTxs: stream.includeInternalTxs,
    includeAllTxLogs: stream.includeAllTxLogs,
    filterPossibleSpamAddresses: stream.filterPossibleSpamAddresses,
    triggers: (stream.triggers ?? []).map(fromTrigger),
    balances: (stream.getNativeBalances ?? []).map(({ type, selectors }) => ({ type, selectors })),
    onlyConfirmed: stream.deliver === 'confirmed',
    notifyRemoved: stream.notifyRemoved,
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

/** A field that changes, as JSON before and after. */
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

/** The changed fields alone: what is absent stays as it is. */
export function toChanges(before: StreamDraft, after: StreamDraft): Record<string, unknown> {
  const to = toFields(after) as unknown as Record<string, unknown>;
  return Object.fromEntries(changesOf(before, after).map(({ field }) => [field, to[field]]));
}
