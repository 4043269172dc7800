/** Describes JSON Schemas as Markdown. */
import { slugOf } from '../slug.ts';
import type { Schema } from '../../packages/console/src/routes/apiReference/openApi.ts';

export interface Field {
  /** Path in the body. `[]` means each item of a list, and `*` each value of a map. */
  name: string;
  schema: Schema;
  isRequired: boolean;
}

/** Lists the fields of a schema and of its nested objects. Does not follow references. */
export function listFields(schema: Schema, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => [
    { name: prefix + key, schema: field, isRequired: schema.required?.includes(key) ?? false },
    ...listInner(field, prefix + key),
  ]);
}

function listInner(schema: Schema, name: string): Field[] {
  if (schema.items !== undefined) return listInner(schema.items, `${name}[]`);
  if (schema.anyOf !== undefined) {
    const fields = schema.anyOf.flatMap((option) => listInner(option, name));
    return [...new Map(fields.map((field) => [field.name, field])).values()];
  }
  if (typeof schema.additionalProperties === 'object') {
    return listInner(schema.additionalProperties, `${name}.*`);
  }
  return listFields(schema, `${name}.`);
}

export function toTable(fields: readonly Field[]): string {
  const rows = fields.map(({ name, schema, isRequired }) => {
    const type = typeOf(schema) + (isRequired ? ', required' : '');
    return `| \`${name}\` | ${escapeCell(type)} | ${escapeCell(aboutOf(schema))} |`;
  });
  return rows.length === 0
    ? ''
    : ['| field | type | description |', '|---|---|---|', ...rows].join('\n');
}

/**
 * Returns whether a bound is worth showing. Excludes the bounds of safe integers in JavaScript,
 * which every integer schema has.
 */
const isLimit = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

/** Returns the type of a value with its bounds, as Markdown. */
export function typeOf(schema: Schema): string {
  const { $ref, const: only, enum: values, anyOf, type, items, additionalProperties } = schema;
  if ($ref !== undefined) return linkTo($ref);
  if (only !== undefined) return code(only);
  if (values !== undefined) return values.map(code).join(', ');
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (Array.isArray(type))
    return type.map((each) => typeOf({ ...schema, type: each })).join(' or ');
  if (type === 'array') {
    return `list${boundsOf(schema.minItems, schema.maxItems, 'item')} of ${typeOf(items ?? {})}`;
  }
  if (type === 'object' && typeof additionalProperties === 'object') {
    return `map of ${typeOf(additionalProperties)}`;
  }
  if (type === 'integer' || type === 'number') {
    return type + boundsOf(schema.minimum, schema.maximum);
  }
  if (type === 'string') {
    const { format, pattern, minLength, maxLength } = schema;
    if (format !== undefined) return `string (${format})`;
    const matching = pattern === undefined ? '' : ` matching \`${pattern}\``;
    return `string${boundsOf(minLength, maxLength, 'character')}${matching}`;
  }
  return type ?? 'any value';
}

/** @param unit noun in the singular, such as `item`. Default: none. */
function boundsOf(least: number | undefined, most: number | undefined, unit = ''): string {
  const toText = (count: number): string =>
    unit === '' ? String(count) : `${count} ${unit}${count === 1 ? '' : 's'}`;
  if (isLimit(least) && isLimit(most)) return ` (${least} to ${toText(most)})`;
  if (isLimit(least) && least !== 0) return ` (at least ${toText(least)})`;
  return isLimit(most) ? ` (at most ${toText(most)})` : '';
}

function aboutOf({ description = '', default: preset }: Schema): string {
  const about = description === '' || /[.!?]$/.test(description) ? description : `${description}.`;
  const isStated = preset === undefined || /\bdefault\b/i.test(about);
  return isStated ? about : `${about} Default: ${code(preset)}.`.trim();
}

/** Returns a link to the section about the referenced schema on the page of shapes. */
function linkTo(reference: string): string {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return `[${name}](shapes.md#${slugOf(name)})`;
}

const code = (value: unknown): string =>
  `\`${typeof value === 'string' && value !== '' ? value : JSON.stringify(value)}\``;

/** Escapes text for a table cell, which a `|` would end. */
const escapeCell = (text: string): string => escapeText(text).replaceAll('|', String.raw`\|`);

/** Escapes each `<` outside of code spans, where it would begin an HTML element. */
export const escapeText = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll('<', '&lt;')))
    .join('');
