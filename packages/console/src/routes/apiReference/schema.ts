/** Describes JSON schemas: types and limits in words, fields, and example values. */
import { lastPart } from './document.ts';
import type { Schema, Schemas } from './openApi.ts';

export interface SchemaField {
  name: string;
  required: boolean;
  schema: Schema;
}

/** Maximum depth of an example, because a schema may contain itself. */
const MAX_DEPTH = 6;

/**
 * Returns whether a limit is only a bound of safe integers, which integers without limits have in
 * the document.
 */
const isUnlimited = (value: number): boolean => Math.abs(value) >= Number.MAX_SAFE_INTEGER;

/** Follows references to named schemas. Fields next to a reference take precedence. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref === undefined) return schema;
  const named = schemas[lastPart(schema.$ref)] ?? {};
  const { $ref: _ref, ...own } = schema;
  return { ...resolve(named, schemas), ...own };
}

const typesOf = ({ type = [] }: Schema): string[] => (typeof type === 'string' ? [type] : type);

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'UUID',
  'date-time': 'ISO 8601 time',
  password: 'secret',
  cidrv4: 'IPv4 network',
  cidrv6: 'IPv6 network',
};

/**
 * Returns the type in words, such as `array of string or null`.
 * @param toName returns what to write for a named schema. Default: its type in words.
 */
export function typeOf(
  schema: Schema,
  schemas: Schemas,
  toName?: (name: string) => string,
): string {
  if (schema.$ref !== undefined && toName !== undefined) return toName(lastPart(schema.$ref));
  const known = resolve(schema, schemas);
  const inWords = (part: Schema): string => typeOf(part, schemas, toName);
  if (known.anyOf !== undefined) return [...new Set(known.anyOf.map(inWords))].join(' or ');
  if (known.const !== undefined) return JSON.stringify(known.const);
  const format = known.format && (FORMATS[known.format] ?? known.format);
  const words = typesOf(known).map((type) => {
    if (type === 'array' && known.items) return `array of ${inWords(known.items)}`;
    if (type === 'object' && typeof known.additionalProperties === 'object') {
      return `object of ${inWords(known.additionalProperties)} by name`;
    }
    return type === 'string' && format ? format : type;
  });
  return words.length === 0 ? 'any' : words.join(' or ');
}

/** Returns the limits of a value in words, such as `1 to 100 characters`. */
export function limitsOf(schema: Schema, schemas: Schemas): string[] {
  const known = resolve(schema, schemas);
  const { anyOf = [], items, pattern, enum: values } = known;
  const limits = [
    range(known.minimum, known.maximum, ''),
    range(known.minLength, known.maxLength, ' characters'),
    range(known.minItems, known.maxItems, ' items'),
    values && `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`,
    // The type already names a format such as `UUID`, so the pattern of the format adds nothing.
    known.format === undefined ? pattern && `matches ${pattern}` : undefined,
  ].filter((limit) => limit !== undefined);
  const inner = [...anyOf, ...(items === undefined ? [] : [items])].flatMap((each) => {
    const of = limitsOf(each, schemas);
    return each === items ? of.map((limit) => `each ${limit}`) : of;
  });
  return [...new Set([...limits, ...inner])];
}

function range(least: number | undefined, most: number | undefined, unit: string) {
  const from = least === undefined || isUnlimited(least) ? undefined : least;
  const to = most === undefined || isUnlimited(most) ? undefined : most;
  const format = (value: number): string => value.toLocaleString('en-US');
  if (from === undefined && to === undefined) return undefined;
  if (to === undefined) return `at least ${format(from ?? 0)}${unit}`;
  if (from === undefined) return `at most ${format(to)}${unit}`;
  return from === to ? `${format(to)}${unit}` : `${format(from)} to ${format(to)}${unit}`;
}

/** Returns the fields of an object, or of the objects that an array, map or choice contains. */
export function fieldsOf(schema: Schema, schemas: Schemas): SchemaField[] {
  const known = resolve(schema, schemas);
  const { properties = {}, required = [], anyOf = [], items, additionalProperties } = known;
  const own = Object.entries(properties).map(([name, of]) => ({
    name,
    required: required.includes(name),
    schema: of,
  }));
  if (own.length > 0) return own;
  const inner = [
    ...anyOf,
    ...(items === undefined ? [] : [items]),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  const byName = new Map<string, SchemaField>();
  for (const field of inner.flatMap((each) => fieldsOf(each, schemas))) {
    if (!byName.has(field.name)) byName.set(field.name, field);
  }
  return [...byName.values()];
}

/**
 * Returns an example value. Uses the example, default or first choice in the schema; otherwise,
 * builds a value with the required fields.
 */
export function exampleOf(schema: Schema, schemas: Schemas, depth = 0): unknown {
  const known = resolve(schema, schemas);
  const [example] = known.examples ?? [];
  if (example !== undefined) return example;
  if (known.default !== undefined) return known.default;
  if (known.const !== undefined) return known.const;
  if (known.enum !== undefined) return known.enum[0];
  if (depth > MAX_DEPTH) return null;
  if (known.anyOf?.[0] !== undefined) return exampleOf(known.anyOf[0], schemas, depth + 1);
  const [type = ''] = typesOf(known);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        fieldsOf(known, schemas)
          .filter(({ required }) => required)
          .map(({ name, schema: of }) => [name, exampleOf(of, schemas, depth + 1)]),
      );
    case 'array':
      return (known.minItems ?? 0) > 0 && known.items !== undefined
        ? [exampleOf(known.items, schemas, depth + 1)]
        : [];
    case 'integer':
    case 'number':
      return known.minimum !== undefined && !isUnlimited(known.minimum) ? known.minimum : 0;
    case 'boolean':
      return false;
    case 'string':
      return '';
    default:
      return null;
  }
}
