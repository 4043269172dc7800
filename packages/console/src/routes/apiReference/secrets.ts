/** Masks the secrets of a response: the strings that its schema marks as passwords. */
import { parseJson } from '../../body/json.ts';
import type { Schema, Schemas } from './openApi.ts';
import { fieldsOf, resolve } from './schema.ts';

export const MASK = '••••••••';

/** Maximum depth to which a schema is searched for secrets, because it may contain itself. */
const MAX_DEPTH = 8;

/**
 * Returns the text with its secrets masked. If the schema has secrets and the text is not complete
 * JSON, masks the entire text.
 */
export function maskSecrets(text: string, schema: Schema | undefined, schemas: Schemas): string {
  if (schema === undefined || text === '' || !hasSecrets(schema, schemas)) return text;
  const parsed = parseJson(text);
  return parsed === null ? MASK : JSON.stringify(masked(parsed.value, schema, schemas));
}

function hasSecrets(schema: Schema, schemas: Schemas, depth = 0): boolean {
  const known = resolve(schema, schemas);
  if (known.format === 'password') return true;
  if (depth > MAX_DEPTH) return false;
  return [
    ...Object.values(known.properties ?? {}),
    ...(known.anyOf ?? []),
    ...(known.items === undefined ? [] : [known.items]),
    ...(typeof known.additionalProperties === 'object' ? [known.additionalProperties] : []),
  ].some((each) => hasSecrets(each, schemas, depth + 1));
}

function masked(value: unknown, schema: Schema, schemas: Schemas): unknown {
  const known = resolve(schema, schemas);
  if (typeof value === 'string') return hasSecrets(known, schemas) ? MASK : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const { items } = known;
    return items === undefined ? value : value.map((item) => masked(item, items, schemas));
  }
  const others = known.additionalProperties;
  const fields = new Map(fieldsOf(known, schemas).map((field) => [field.name, field.schema]));
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => {
      const field = fields.get(name) ?? (typeof others === 'object' ? others : undefined);
      return [name, field === undefined ? of : masked(of, field, schemas)];
    }),
  );
}
