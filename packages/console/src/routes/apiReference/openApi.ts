/** The parts of the service's OpenAPI document that the console and the documentation site read. */

export interface OpenApi {
  info: { version: string; description: string };
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: { schemas: Schemas; responses: Readonly<Record<string, Response>> };
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  /** Subjects of the call; missing for webhooks. */
  tags?: string[];
  /** Accepted kinds of keys and scopes; missing for webhooks. */
  security?: Readonly<Record<string, string[]>>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Readonly<Record<string, Response>>;
}

export interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: Schema;
}

export interface Response {
  $ref?: string;
  description?: string;
  content?: Content;
}

type Content = Readonly<
  Record<
    string,
    { schema: Schema; examples?: Readonly<Record<string, { summary: string; value: unknown }>> }
  >
>;

export type Schemas = Readonly<Record<string, Schema>>;

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
}
