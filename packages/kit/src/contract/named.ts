import * as z from 'zod';

/** Schemas that are components of the OpenAPI document, by name. */
export const SCHEMAS = new Map<string, z.ZodType>();
/** Schemas from which a TypeScript type is generated, by the name of that type. */
export const SHAPES = new Map<string, z.ZodType>();
/** Names of the types that are generated from the input of their schema instead of the output. */
export const REQUESTS = new Set<string>();

/** Details of a generated type that JSON Schema cannot express. */
interface TypeHint {
  readonly tsType?: string;
  /** Whether the type excludes null, although the schema accepts it. */
  readonly hidesNull?: true;
}

/** Hints by schema. A copy of a schema, such as the result of `describe`, inherits its hint. */
export const TYPE_HINTS = z.registry<TypeHint>();

/** Sets the generated TypeScript type of a schema. */
export function typed<Schema extends z.ZodType>(tsType: string, schema: Schema): Schema {
  TYPE_HINTS.add(schema, { tsType });
  return schema;
}

/** Declares the schema of a response, with an OpenAPI component and a generated type. */
export function named<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  return component(name, shape(name, description, schema));
}

/** Declares the schema of a part of a response, with a generated type but no component. */
export function shape<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  const described = schema.describe(description);
  SHAPES.set(name, described);
  return described;
}

/** Declares the schema of a request, with an OpenAPI component and a generated type. */
export function namedRequest<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  return component(name, requestShape(name, description, schema));
}

/**
 * Declares the schema of a query or a part of a request, with a generated type but no component.
 */
export function requestShape<Schema extends z.ZodType>(
  name: string,
  description: string,
  schema: Schema,
): Schema {
  REQUESTS.add(name);
  return shape(name, description, schema);
}

/** Adds a schema to the components of the OpenAPI document. */
export function component<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  SCHEMAS.set(name, schema);
  return schema;
}
