/** The JSON Schema of the settings file, for editors. */
import {
  FIELDS,
  type Field,
  type ValueSchema,
  kindOf,
  schemaOf,
  settingOf,
  variableOf,
} from '@sluice/service';

export const settingsSchema = (): ValueSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Settings of a Sluice service',
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(FIELDS.map((field) => [field, toSchema(field)])),
});

/**
 * Schema of a reference to a file or variable, such as `${PORT}`, in place of a number or a
 * restricted string.
 */
const REFERENCE = { type: 'string', pattern: String.raw`^(file:|.*\$\{\w+\})` } as const;

function toSchema(field: Field): ValueSchema {
  const { flags, description } = settingOf(field);
  const { default: fallback, ...schema } = schemaOf(field);
  const kind = kindOf(field);
  const isRestricted = kind === 'number' || schema.enum !== undefined;
  return {
    // The suffix `; repeatable` applies only to flags. The flag is included, because the
    // description of a `--no-` switch describes the flag, not the field.
    description: `${description.replace('; repeatable', '')} (${flags}, ${variableOf(field)})`,
    ...(isRestricted ? { anyOf: [schema, REFERENCE] } : schema),
    ...(typeof fallback !== 'object' && { default: fallback }),
  };
}
