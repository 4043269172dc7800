/** Types of columns, and the conversion of values to them. */

/** A value in the JSON that PostgreSQL reads rows from. */
export type Cell = string | number | boolean | null;

interface Type {
  /** Type of the column, as `format_type` returns it. */
  readonly sql: string;
  /** Converts a value. A value that the type cannot store becomes null, so no row is refused. */
  toCell(value: unknown): Cell;
}

/** Column types by name. */
export const COLUMN_TYPES = {
  text: { sql: 'text', toCell: (value) => (isMissing(value) ? null : toStorableText(value)) },
  /** Integers of up to 256 bits. */
  numeric: { sql: 'numeric(78,0)', toCell: (value) => integerOf(value, /^-?\d{1,78}$/) },
  bigint: { sql: 'bigint', toCell: (value) => integerOf(value, /^-?\d{1,18}$/) },
  boolean: {
    sql: 'boolean',
    toCell: (value) =>
      value === true || value === 'true' ? true : isMissing(value) ? null : false,
  },
  /** From Unix seconds. */
  seconds: { sql: 'timestamp with time zone', toCell: (value) => toTime(value, 1_000_000) },
  /** From Unix microseconds. */
  microseconds: { sql: 'timestamp with time zone', toCell: (value) => toTime(value, 1) },
  /** From JSON text. */
  jsonText: { sql: 'jsonb', toCell: (value) => (isMissing(value) ? null : toStorableJson(value)) },
  /** From any value. */
  json: {
    sql: 'jsonb',
    toCell: (value) => (isMissing(value) ? null : toStorableJson(JSON.stringify(value))),
  },
} as const satisfies Record<string, Type>;

export type ColumnType = keyof typeof COLUMN_TYPES;

const isMissing = (value: unknown): value is null | undefined =>
  value === null || value === undefined;

function integerOf(value: unknown, pattern: RegExp): string | null {
  const text =
    typeof value === 'number' && Number.isInteger(value) ? String(BigInt(value)) : String(value);
  return pattern.test(text) ? text : null;
}

/** Latest time that a `Date` can contain, in microseconds. */
const MAX_TIME = 8_640_000_000_000_000_000n;

function toTime(value: unknown, microseconds: number): string | null {
  if (!Number.isSafeInteger(value)) return null;
  const time = BigInt(value as number) * BigInt(microseconds);
  if (time < 0n || time > MAX_TIME) return null;
  const fraction = String(time % 1_000_000n).padStart(6, '0');
  const second = new Date(Number(time / 1_000_000n) * 1000).toISOString().slice(0, -'.000Z'.length);
  // PostgreSQL reads years above 9999 without the plus sign.
  return `${second.replace(/^\+0*/, '')}.${fraction}Z`;
}

/** Matches what PostgreSQL cannot store: NUL and halves of surrogate pairs. */
const UNSTORABLE = /\0|\p{Surrogate}/gu;

/** Matches the start of an escape sequence that may contain such a character. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|[dD][89a-fA-F])/;

const toStorableText = (value: unknown): string => String(value).replaceAll(UNSTORABLE, '\uFFFD');

function toStorableJson(value: unknown): string {
  const text = toStorableText(value);
  if (!MAY_BE_UNSTORABLE.test(text)) return text;
  const clean = (_key: string, each: unknown): unknown => {
    if (typeof each === 'string') return toStorableText(each);
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    // Names of members may contain such characters, too.
    return Object.fromEntries(
      Object.entries(each).map(([name, member]) => [toStorableText(name), member]),
    );
  };
  return JSON.stringify(JSON.parse(text), clean);
}
