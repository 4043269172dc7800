import * as z from 'zod';

/** Shapes that are components of the OpenAPI document, by name. */
export const SCHEMAS = new Map<string, z.ZodType>();
/** Shapes that an interface is generated for, by its name. */
export const SHAPES = new Map<string, z.ZodType>();
/** Those of them whose interface is what is sent, not what it is read as. */
export const SENT = new Set<string>();

/** What the generated type of a schema has and JSON Schema cannot say. */
interface TypeHint {
  readonly tsType?: string;
  /** Null is accepted, but not in the type. */
  readonly hidesNull?: true;
}

/** The hints; a schema that is made of another, as by `describe`, has that one's. */
export const HINTS = z.registry<TypeHint>();

/** A schema whose generated type is this one, in TypeScript. */
export function typed<Schema extends z.ZodType>(tsType: string, schema: Schema): Schema {
  HINTS.add(schema, { tsType });
  return schema;
}

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

/** A schema of a request: a component of the OpenAPI document, and the interface of what is sent. */
export function sent<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  return component(name, sentShape(name, description, schema));
}

/** A part of requests with an interface of its own. */
export function sentShape<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  SENT.add(name);
  return shape(name, description, schema);
}

/** A component of the OpenAPI document. */
export function component<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  SCHEMAS.set(name, schema);
  return schema;
}
