/**
 * The OpenAPI 3.1 document of the HTTP API, generated from the table of calls, so that validation
 * and documentation agree. `docs/openapi.json` is a copy, which a test keeps current.
 */
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { type Access, type Call, SCHEMAS, TAGS, type Tag, eachCall } from '@sluice/kit/calls';
import * as z from 'zod';
import { EXAMPLES } from './openApiExamples.ts';
import { IGNORED_QUERY_HEADER } from './query.ts';

type Json = Record<string, unknown>;

const ERRORS = {
  401: 'The API key or session is missing or invalid',
  403: 'The key lacks the scope, or the `Host`, `Origin` or address of the request is not accepted',
  413: 'The body exceeds the limit of its route: 1 MiB, or 64 MiB for address calls',
  429: 'Too many calls or invalid keys; `retry-after` is the time to wait',
  500: 'The service failed; its log has the cause under the `requestId`',
  400: 'The body is not valid JSON, an address is invalid, the chain is not read, or the test webhook failed',
  404: 'Not found',
  409: 'The current state does not allow this call',
  422: 'A field is invalid; `details` has its name, its value and what it should be',
  503: 'Another change is in progress, or nodes or the ledger are unavailable; `retry-after`, if present, is the time to wait',
} as const;

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: Json): Json => ({ 'application/json': { schema } });
const failure = (status: string): Json => ({ $ref: `#/components/responses/${status}` });

export function createOpenApi(version: string): Json {
  const paths: Record<string, Json> = {
    '/health': { get: OPEN_CALLS.health },
    '/ready': { get: OPEN_CALLS.ready },
    '/openapi.json': { get: OPEN_CALLS.openApi },
  };
  for (const [name, call] of eachCall) {
    paths[call.path] = {
      ...paths[call.path],
      [call.method.toLowerCase()]: toOperation(name, call),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description:
        'Delivers events of EVM chains and Aptos as signed webhooks. Compatible with the hosted Streams API; routes under /sluice are Sluice only.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { session: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: { evmDelivery: WEBHOOK },
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: { type: 'apiKey', in: 'cookie', name: 'sluice_session' },
      },
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          status,
          { description, content: json(refTo('Error')) },
        ]),
      ),
      headers: {
        [IGNORED_QUERY_HEADER]: {
          description: 'Names of ignored query parameters, percent-encoded',
          schema: { type: 'string' },
        },
      },
      schemas: createSchemas(),
    },
  };
}

/** Options of `z.toJSONSchema` that describe values as they are sent, not as they are parsed. */
const AS_SENT = { io: 'input', unrepresentable: 'any' } as const;

function createSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of SCHEMAS) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => refTo(id)['$ref'] as string,
    ...AS_SENT,
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { $schema: _schema, $id: _id, ...schema }]) => {
        const example = EXAMPLES[name];
        return [name, { ...schema, ...(example !== undefined && { examples: [example] }) }];
      }),
  );
}

const NAMES: ReadonlyMap<z.ZodType, string> = new Map([...SCHEMAS].map(([name, it]) => [it, name]));

/** Returns a reference to a named schema, or the JSON Schema of an unnamed one. */
function toSchema(schema: z.ZodType): Json {
  const name = NAMES.get(schema);
  if (name !== undefined) return refTo(name);
  const { $schema: _schema, ...plain } = z.toJSONSchema(schema, AS_SENT);
  return plain;
}

const HEADERS = {
  [IGNORED_QUERY_HEADER]: { $ref: `#/components/headers/${IGNORED_QUERY_HEADER}` },
};

function toOperation(name: string, call: Call & { tag: Tag }): Json {
  const { summary, description, tag, params = {}, query, body, response, mediaType, errors } = call;
  const statuses = ['401', '403', '429', '500', ...(body === undefined ? [] : ['413']), ...errors];
  return {
    operationId: name,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: securityOf(call.scope),
    parameters: [
      ...Object.entries(params).map(([param, schema]) => ({
        name: param,
        in: 'path',
        required: true,
        schema: toSchema(schema),
      })),
      ...queryParameters(query),
    ],
    ...(body !== undefined && {
      requestBody: { required: query === undefined, content: json(toSchema(body)) },
    }),
    responses: {
      ...(response === undefined
        ? { '204': { description: 'Done' } }
        : {
            '200': {
              description: summary,
              headers: HEADERS,
              content: { [mediaType ?? 'application/json']: { schema: toSchema(response) } },
            },
          }),
      ...Object.fromEntries(statuses.map((status) => [status, failure(String(status))])),
    },
  };
}

/**
 * Returns the accepted authentication schemes. In OpenAPI 3.1, the list after the name of a scheme
 * contains the required scopes.
 */
function securityOf(scope: Access): Json[] {
  if (scope === 'open') return [];
  const scopes = scope === 'any' ? [] : [scope];
  return [{ apiKey: scopes }, { session: scopes }];
}

/** Returns the query parameters. All are optional; parameters with several values are repeated. */
function queryParameters(query: z.ZodType | undefined): Json[] {
  if (query === undefined) return [];
  const { properties = {} } = z.toJSONSchema(query, AS_SENT);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema,
  }));
}

const OPEN_CALLS = {
  health: {
    operationId: 'health',
    summary: 'Check whether the service runs, and read the progress of each chain',
    tags: ['Sluice'],
    security: [],
    responses: { '200': { description: 'The service runs', content: json({ type: 'object' }) } },
  },
  ready: {
    operationId: 'ready',
    summary: 'Check whether this process is ready: it has started, and its ledger accepts writes',
    tags: ['Sluice'],
    security: [],
    responses: {
      '200': { description: 'Ready', content: json({ type: 'object' }) },
      '503': { description: 'Not ready; `reasons` lists why', content: json({ type: 'object' }) },
    },
  },
  openApi: {
    operationId: 'openApi',
    summary: 'Read this document',
    tags: ['Sluice'],
    security: [],
    responses: { '200': { description: 'This document', content: json({ type: 'object' }) } },
  },
};

const WEBHOOK = {
  post: {
    operationId: 'evmDelivery',
    summary: 'A block that a stream matched',
    description:
      'Sent when the block appears and again when it is confirmed. Any 2xx is success; after any other response, or none, it is retried after 1 min, 10 min, 1 h, 2 h, 6 h, 12 h and 24 h.',
    security: [],
    parameters: [
      ['x-signature', 'Keccak-256 of body and streams secret, in hex'],
      ['webhook-id', 'ID of the delivery, the same on every attempt'],
      ['webhook-timestamp', 'Unix seconds of the attempt'],
      [
        'webhook-signature',
        'Signatures as in Standard Webhooks, with the secret of the stream, older ones that still sign, and the streams secret',
      ],
      ['x-region', 'Region of the account'],
      ['x-queue-size', 'Unfinished deliveries of the stream'],
      ['x-records-charged', 'Records in the body; 0 unless it is confirmed'],
    ].map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: refTo('EvmWebhook'),
          examples: { test: { summary: 'The test webhook', value: TEST_WEBHOOK } },
        },
      },
    },
    responses: { '2XX': { description: 'Received' } },
  },
};
