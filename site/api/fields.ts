/** Describes JSON Schemas as Markdown. */
import { slugOf } from '../slug.ts';
import type { Schema } from '../../packages/console/src/routes/apiReference/openApi.ts';
import {
  limitsOf,
  typeOf as wordsOf,
} from '../../packages/console/src/routes/apiReference/schema.ts';

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

/** Returns the type of a value as Markdown, with links to the shapes that it names. */
export const typeOf = (schema: Schema): string =>
  wordsOf(schema, {}, (name) => `[${name}](shapes.md#${slugOf(name)})`);

function aboutOf(schema: Schema): string {
  const { description = '', default: preset } = schema;
  const isStated = preset === undefined || /\bdefault\b/i.test(description);
  const limits = limitsOf(schema, {})
    .map((limit) => limit.replace(/(?<=matches )(.+)/, '`$1`'))
    .join('; ');
  return [
    limits.charAt(0).toUpperCase() + limits.slice(1),
    description,
    isStated ? '' : `Default: ${code(preset)}`,
  ]
    .filter((part) => part !== '')
    .map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
    .join(' ');
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
