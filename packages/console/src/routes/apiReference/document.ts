/**
 * Converts the service's OpenAPI document to a list of calls, which the console and the documentation
 * site describe.
 */
import type { OpenApi, Operation, Parameter, Response, Schema, Schemas } from './openApi.ts';

export interface ApiCall {
  name: string;
  method: string;
  /** Path from the root of the service, with `{name}` for a parameter; for a webhook, its name. */
  path: string;
  summary: string;
  description: string;
  /** Empty for webhooks. */
  tag: string;
  /**
   * The scope that a key needs to make the call. `any` accepts every valid key; `open` needs no
   * key.
   */
  scope: string;
  parameters: readonly Parameter[];
  body: { schema: Schema; required: boolean; example: unknown } | undefined;
  /** Successful response; `schema` is undefined if the response has no body. */
  response: { status: string; mediaType?: string; schema?: Schema };
  /** `isShared` if {@link ApiDocument.errors} has the error. */
  errors: readonly (ApiError & { isShared: boolean })[];
}

export interface ApiError {
  status: string;
  description: string;
}

export interface ApiDocument {
  version: string;
  description: string;
  /** Subjects of the calls, in the order of the document. */
  tags: OpenApi['tags'];
  calls: readonly ApiCall[];
  /** The requests that the service sends. */
  webhooks: readonly ApiCall[];
  /** The errors that calls share. */
  errors: readonly ApiError[];
  schemas: Schemas;
}

export function toDocument({ info, tags, paths, webhooks, components }: OpenApi): ApiDocument {
  const toError = (
    status: string,
    { $ref, description = '' }: Response,
  ): ApiCall['errors'][number] => {
    const shared = $ref === undefined ? undefined : components.responses[lastPart($ref)];
    return {
      status,
      description: shared?.description ?? description,
      isShared: shared !== undefined,
    };
  };
  const toCall = (path: string, method: string, operation: Operation): ApiCall => {
    const { operationId, summary, description = '', tags, security, parameters = [] } = operation;
    const { requestBody, responses } = operation;
    const [status, response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [
      '200',
      {},
    ];
    const [mediaType, content] = Object.entries(response.content ?? {})[0] ?? [];
    const { schema, examples = {} } = requestBody?.content['application/json'] ?? {};
    const [access] = security ?? [];
    return {
      name: operationId,
      method: method.toUpperCase(),
      path,
      summary,
      description,
      tag: tags?.[0] ?? '',
      scope: access === undefined ? 'open' : (Object.values(access)[0]?.[0] ?? 'any'),
      parameters,
      body: schema && {
        schema,
        required: requestBody?.required === true,
        example: Object.values(examples)[0]?.value,
      },
      response: {
        status,
        ...(mediaType !== undefined &&
          content !== undefined && { mediaType, schema: content.schema }),
      },
      errors: Object.entries(responses)
        .filter(([code]) => !code.startsWith('2'))
        .map(([code, error]) => toError(code, error)),
    };
  };
  const toCalls = (operations: OpenApi['paths']): ApiCall[] =>
    Object.entries(operations).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => toCall(path, method, operation)),
    );
  return {
    version: info.version,
    description: info.description,
    tags,
    calls: toCalls(paths),
    webhooks: toCalls(webhooks),
    errors: Object.entries(components.responses).map(([status, { description = '' }]) => ({
      status,
      description,
    })),
    schemas: components.schemas,
  };
}

export const lastPart = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);
