import * as z from 'zod';

/** Schemas that are components of the OpenAPI document, by name. */
export const SCHEMAS = new Map<string, z.ZodType>();
/** Schemas with a generated interface, by its name. */
export const SHAPES = new Map<string, z.ZodType>();
/** Names of the interfaces that are generated from schema input instead of output. */
export const SENT = new Set<string>();

/** Parts of a generated type that JSON Schema cannot express. */
interface TypeHint {
  readonly tsType?: string;
  /** True if null is accepted, although it is not in the type. */
  readonly hidesNull?: true;
}

/**
 * Hints by schema. A schema that is derived from another one, such as by `describe`, inherits its
 * hint.
 */
export const HINTS = z.registry<TypeHint>();

/** Sets the generated TypeScript type of a schema. */
export function typed<Schema extends z.ZodType>(tsType: string, schema: Schema): Schema {
  HINTS.add(schema, { tsType });
  return schema;
}

/** Declares a response schema: a component of the OpenAPI document, and an interface. */
export function named<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  return component(name, shape(name, description, schema));
}

/** Declares a part of responses that has its own interface. */
export function shape<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  const described = schema.describe(description);
  SHAPES.set(name, described);
  return described;
}

/** Declares a request schema: a component of the OpenAPI document, and an interface. */
export function sent<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  return component(name, sentShape(name, description, schema));
}

/** Declares a part of requests that has its own interface. */
export function sentShape<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  SENT.add(name);
  return shape(name, description, schema);
}

/** Declares a component of the OpenAPI document. */
export function component<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  SCHEMAS.set(name, schema);
  return schema;
}
