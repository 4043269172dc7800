/** Loads the OpenAPI document of the service and converts it to a list of calls. */
import { queryOptions } from '@tanstack/react-query';
import type { OpenApi, Operation, Parameter, Schema, Schemas } from './openApi.ts';

export interface ApiCall {
  name: string;
  method: string;
  /** Path from the root of the service; `{name}` marks a parameter. */
  path: string;
  summary: string;
  description: string;
  tag: string;
  /**
   * The scope that a key needs to make the call. `any` accepts every valid key; `open` needs no
   * key.
   */
  scope: string;
  parameters: readonly Parameter[];
  body: { schema: Schema; required: boolean } | undefined;
  /** Successful response; `schema` is undefined if the response has no body. */
  response: { status: string; mediaType?: string; schema?: Schema };
  errors: readonly { status: string; description: string }[];
}

export interface ApiDocument {
  version: string;
  /** Subjects of the calls, in the order of the document. */
  tags: readonly string[];
  calls: readonly ApiCall[];
  schemas: Schemas;
}

export const documentQuery = queryOptions({
  queryKey: ['api document'],
  queryFn: async ({ signal }): Promise<ApiDocument> => {
    const response = await fetch('/openapi.json', { signal });
    if (!response.ok) throw new Error(`The service returned HTTP ${response.status}`);
    return toDocument((await response.json()) as OpenApi);
  },
  staleTime: Infinity,
});

export function toDocument({ info, tags: subjects, paths, components }: OpenApi): ApiDocument {
  const toCall = (path: string, method: string, operation: Operation): ApiCall => {
    const { operationId, summary, description = '', tags, security, parameters = [] } = operation;
    const { requestBody, responses } = operation;
    const [status, response] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [
      '200',
      {},
    ];
    const [mediaType, content] = Object.entries(response.content ?? {})[0] ?? [];
    const schema = requestBody?.content['application/json']?.schema;
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
      body: schema && { schema, required: requestBody?.required === true },
      response: {
        status,
        ...(mediaType !== undefined &&
          content !== undefined && { mediaType, schema: content.schema }),
      },
      errors: Object.entries(responses)
        .filter(([code]) => !code.startsWith('2'))
        .map(([code, { $ref, description: own = '' }]) => {
          const shared = components.responses[lastPart($ref)];
          return { status: code, description: shared?.description ?? own };
        }),
    };
  };
  return {
    version: info.version,
    tags: subjects.map(({ name }) => name),
    calls: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => toCall(path, method, operation)),
    ),
    schemas: components.schemas,
  };
}

export const lastPart = (ref = ''): string => ref.slice(ref.lastIndexOf('/') + 1);
