/** What a stream says of itself, apart from what the service says of it. */
import type { AptosStream, NetworkType, Stream } from '@sluice/kit';

/** A stream of either family as its answers give it. */
export type AnyStream = Stream | AptosStream;

/** The fields that make a stream what it is, by name. */
export type Fields = Record<string, unknown>;

/** The service's own; not for anybody to declare. */
const READ_ONLY = new Set([
  'id',
  'status',
  'statusMessage',
  'isErrorSince',
  'createdAt',
  'updatedAt',
  'amountOfAddresses',
]);

/**
 * What a field is that nobody set. Fields that are not here have no default to go back to. A list that is
 * null in an answer is an empty one: in an update null would leave it as it is.
 */
const DEFAULTS: Readonly<Fields> = {
  description: '',
  topic0: [],
  allAddresses: false,
  includeNativeTxs: false,
  includeContractLogs: false,
  includeInternalTxs: false,
  includeAllTxLogs: false,
  getNativeBalances: [],
  abi: [],
  advancedOptions: [],
  demo: false,
  triggers: [],
  filterPossibleSpamAddresses: false,
  deliver: 'both',
  notifyRemoved: false,
  headers: {},
  maxInFlight: null,
  maxPerSecond: null,
  strictOrder: false,
  functions: [],
  events: [],
  includePayload: false,
  includeEvents: false,
  includeChanges: false,
};

export const familyOf = (stream: AnyStream | Fields): NetworkType =>
  'network' in stream ? 'aptos' : 'evm';

/** The fields that are set to something else than their default. */
export function toFields(stream: AnyStream): Fields {
  return Object.fromEntries(
    Object.entries(stream).filter(
      ([name, value]) => !READ_ONLY.has(name) && !isSame(value ?? DEFAULTS[name], DEFAULTS[name]),
    ),
  );
}

const NEEDED = new Set(['webhookUrl', 'description', 'tag', 'chainIds', 'network']);

/** The same, of a service that may say more of a stream than the contract: what that is, is left out. */
export const toContractFields = (stream: AnyStream): Fields => ({
  description: '',
  ...Object.fromEntries(
    Object.entries(toFields(stream)).filter(([name]) => NEEDED.has(name) || name in DEFAULTS),
  ),
});

/** One field that is to be another. */
export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** What makes the stream have these fields and no others; a field left out goes back to its default. */
export function compareFields(stream: AnyStream, wanted: Fields): FieldChange[] {
  const present = toFields(stream);
  const names = new Set([
    ...Object.keys(wanted),
    ...Object.keys(present).filter((name) => name in DEFAULTS),
  ]);
  return [...names].flatMap((field) => {
    const fallback = DEFAULTS[field] ?? null;
    const from = present[field] ?? fallback;
    const to = wanted[field] ?? fallback;
    return isSame(from, to) ? [] : [{ field, from, to }];
  });
}

/** Equal as JSON; the order of keys, and the casing of hex, say nothing. */
const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

const canonical = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, each: unknown) => {
    if (typeof each === 'string') return /^0x[\da-f]+$/i.test(each) ? each.toLowerCase() : each;
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).toSorted(([x], [y]) => (x < y ? -1 : 1)));
  });
