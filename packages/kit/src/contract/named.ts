import type * as z from 'zod';

/** Shapes that are components of the OpenAPI document, by name. */
export const SCHEMAS = new Map<string, z.ZodType>();
/** Shapes that an interface is generated for, by its name. */
export const SHAPES = new Map<string, z.ZodType>();

/** A schema of an answer: a component of the OpenAPI document, and an interface. */
export function named<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  return component(name, shape(name, description, schema));
}

/** A part of answers with an interface of its own. */
export function shape<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  const described = schema.describe(description);
  SHAPES.set(name, described);
  return described;
}

/** A schema of a request: a component of the OpenAPI document. */
export function component<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  SCHEMAS.set(name, schema);
  return schema;
}
