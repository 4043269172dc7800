/** Describes the values of settings: their JSON Schema, and their form on the command line. */
import * as z from 'zod';
import { type Field, settingOf } from './settings.ts';

/** A JSON Schema of one value. */
export type ValueSchema = z.core.JSONSchema.BaseSchema;

/** Returns the JSON Schema of a setting's value in `sluice.yaml`. */
export function schemaOf(field: Field): ValueSchema {
  const schema: ValueSchema = z.toJSONSchema(settingOf(field).type, {
    target: 'draft-7',
    io: 'input',
    override({ jsonSchema }) {
      // Zod adds these limits to each whole number.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  delete schema.$schema;
  return schema;
}

/**
 * The form of a setting. On the command line, the texts of a list and of mappings are repeated
 * flags: `<chain>=<text>`, or `<chain>=<url>[,option=value]` for nodes.
 */
export type SettingKind = 'switch' | 'number' | 'text' | 'list' | 'textByChain' | 'nodesByChain';

export function kindOf(field: Field): SettingKind {
  const { type, additionalProperties: entry } = schemaOf(field);
  if (type === 'boolean') return 'switch';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array') return 'list';
  if (type !== 'object') return 'text';
  return typeof entry === 'object' && entry.type === 'string' ? 'textByChain' : 'nodesByChain';
}
