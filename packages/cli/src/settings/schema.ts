/** The JSON Schema of the settings file, for editors. */
import { FIELDS, type Setting, type ValueSchema, settingOf } from './settings.ts';

export const settingsSchema = (): ValueSchema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Settings of a Sluice service',
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    FIELDS.map((field) => {
      const setting = settingOf(field);
      const { variable, flags, description } = setting;
      return [
        field,
        {
          // The suffix `; repeatable` applies only to flags. The flag is included, because the
          // description of a `--no-` switch describes the flag, not the field.
          description: `${description.replace('; repeatable', '')} (${flags}, ${variable})`,
          ...toSchema(setting),
        },
      ];
    }),
  ),
});

/**
 * Schema of a reference to a file or variable, such as `${PORT}`, in place of a number or a
 * restricted string.
 */
const REFERENCE = { type: 'string', pattern: String.raw`^(file:|.*\$\{\w+\})` } as const;

function toSchema({ shape, default: fallback, flags }: Setting): ValueSchema {
  if (shape.kind === 'switch') {
    return { type: ['boolean'], default: flags.startsWith('--no-') };
  }
  if (shape.kind === 'number') {
    const number = {
      type: shape.isWhole ? 'integer' : 'number',
      minimum: shape.least,
      ...(shape.most !== undefined && { maximum: shape.most }),
    };
    return {
      anyOf: [number, REFERENCE],
      ...(fallback !== undefined && { default: Number(fallback) }),
    };
  }
  if (shape.kind === 'text') {
    const text = shape.schema ? { anyOf: [shape.schema, REFERENCE] } : { type: 'string' };
    return { ...text, ...(fallback !== undefined && { default: fallback }) };
  }
  if (shape.kind === 'list') {
    return { type: 'array', items: shape.schema ?? { type: 'string' } };
  }
  if (shape.kind === 'byChain') {
    return { type: 'object', additionalProperties: { type: 'string' } };
  }
  const entry = {
    type: 'object',
    additionalProperties: false,
    required: ['nodes'],
    properties: {
      nodes: {
        type: 'array',
        minItems: 1,
        items: { type: 'string' },
        description: 'URLs of one or more nodes',
      },
      ...shape.options,
    },
  };
  return shape.chains
    ? {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(shape.chains.map((chain) => [chain, entry])),
      }
    : { type: 'object', additionalProperties: entry };
}
