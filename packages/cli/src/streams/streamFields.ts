/** The user-defined fields of a stream, without the fields that the service adds. */
import type { Networks, NetworkType } from '@sluice/kit';
import {
  ALL_STREAM_FIELDS,
  CHAIN_FORMATS,
  type StreamFieldView,
  allStreamDefaults,
  readAbi,
  readFunction,
  writeFunction,
} from '@sluice/kit/contract';

/** A stream of any chain family, as the API returns it. */
export type AnyStream = Networks[NetworkType]['stream'];

/** The user-defined fields of a stream, by name. */
export type Fields = Record<string, unknown>;

const ROWS: Readonly<Record<string, StreamFieldView>> = ALL_STREAM_FIELDS;

/**
 * Default values. Fields that are not listed cannot be reset. The default of a list is empty rather
 * than null, because null in an update leaves a list unchanged.
 */
const DEFAULTS: Readonly<Fields> = Object.fromEntries(
  Object.entries(allStreamDefaults())
    .filter(([name]) => name !== 'tag' && !ROWS[name]?.isReadOnly)
    .map(([name, value]) => [name, value ?? (ROWS[name]?.kind === 'list' ? [] : null)]),
);

/** Returns the user-defined fields of a stream or destination that differ from their defaults. */
export function toFields(stream: object): Fields {
  return Object.fromEntries(
    Object.entries(stream as Fields).filter(
      ([name, value]) =>
        !ROWS[name]?.isReadOnly && !isSame(value ?? DEFAULTS[name], DEFAULTS[name]),
    ),
  );
}

/**
 * Like `toFields`, but always includes `description` and omits fields that are not part of the
 * contract, because the hosted service returns additional fields.
 */
export const toContractFields = (stream: AnyStream): Fields => ({
  description: '',
  ...Object.fromEntries(Object.entries(toFields(stream)).filter(([name]) => name in ROWS)),
});

export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Key of `oauth2` that services accept but never return. */
const CLIENT_SECRET = 'clientSecret';

const isCredentials = (value: unknown): value is Readonly<Fields> =>
  typeof value === 'object' && value !== null && 'tokenUrl' in value;

/** Returns whether the fields have OAuth 2.0 credentials without a client secret. */
export const lacksClientSecret = ({ oauth2 }: Fields): boolean =>
  isCredentials(oauth2) && oauth2[CLIENT_SECRET] === undefined;

/**
 * Adds a client secret that is missing, because an exported file has none, and it is required only
 * if the credentials change.
 */
export const withSomeSecret = (fields: Fields): Fields =>
  lacksClientSecret(fields)
    ? { ...fields, oauth2: { ...(fields['oauth2'] as Fields), [CLIENT_SECRET]: 'unchanged' } }
    : fields;

/** Returns the value of a field without its client secret, as services return it. */
export function hideClientSecret(value: unknown): unknown {
  if (!isCredentials(value)) return value;
  const { [CLIENT_SECRET]: _, ...visible } = value;
  return visible;
}

/**
 * Returns the changes that give the stream or destination exactly these fields; omitted fields get their defaults.
 * Client secrets are not compared, because services do not return them.
 */
export function compareFields(stream: object, wanted: Fields): FieldChange[] {
  const present = toFields(stream);
  const names = new Set([
    ...Object.keys(wanted),
    ...Object.keys(present).filter((name) => name in DEFAULTS),
  ]);
  return [...names].flatMap((field) => {
    const fallback = DEFAULTS[field] ?? null;
    const from = present[field] ?? fallback;
    const to = wanted[field] ?? fallback;
    const shown = hideClientSecret(toCanonical(field, to));
    return isSame(toCanonical(field, from), shown) ? [] : [{ field, from, to }];
  });
}

/** Normalizes chains, functions and ABIs as the service does. Other fields are returned unchanged. */
function toCanonical(field: string, value: unknown): unknown {
  if (field === 'abi') return readAbi(value)?.items ?? value;
  if (!Array.isArray(value)) return value;
  if (field === 'triggers') {
    return value.map((each: Fields) => ({
      ...each,
      functionAbi: readFunction(each['functionAbi']),
    }));
  }
  if (field === 'functions') return value.map(toFunctionText);
  const format = Object.values(CHAIN_FORMATS).find(({ streamField }) => streamField === field);
  return format === undefined ? value : value.map((each: unknown) => format.toName(each) ?? each);
}

/** Writes an ABI item of a function as the service stores it. */
function toFunctionText(given: unknown): unknown {
  if (typeof given !== 'object') return given;
  const item = readFunction(given);
  return 'message' in item ? given : writeFunction(item);
}

/** Compares two values as JSON, ignoring the order of keys and the case of hex strings. */
const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

const canonical = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, each: unknown) => {
    if (typeof each === 'string') return /^0x[\da-f]+$/i.test(each) ? each.toLowerCase() : each;
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).toSorted(([x], [y]) => (x < y ? -1 : 1)));
  });
