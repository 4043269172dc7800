/** Generates the pages of the API reference from the OpenAPI document. */
import { slugOf } from '../slug.ts';
import {
  type ApiCall,
  type ApiDocument,
  type ApiError,
  lastPart,
  toDocument,
} from '../../packages/console/src/routes/apiReference/document.ts';
import type { OpenApi, Schema } from '../../packages/console/src/routes/apiReference/openApi.ts';
import { escapeText, listFields, toTable, typeOf } from './fields.ts';

export interface ApiPage {
  name: string;
  title: string;
  about: string;
  text: string;
}

/** Returns the overview, one page per tag, the page of webhooks and the page of shapes. */
export function listApiPages(openApi: OpenApi): ApiPage[] {
  const document = toDocument(openApi);
  const { description, calls, webhooks, errors, schemas } = document;
  const describe = (each: readonly ApiCall[]) => each.map((call) => describeCall(call, document));
  const tags = document.tags.map(({ name, description: about }) => ({
    name: `${slugOf(name)}.md`,
    title: name,
    about,
    calls: calls.filter(({ tag }) => tag === name),
  }));
  const shapes = Object.entries(schemas)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => join([`## ${name}`, ...describeShape(schema)]));
  return [
    toPage('index.md', 'API', 'Every call of the HTTP API', [
      description,
      INTRODUCTION,
      ...tags.map(({ name, title, calls: own }) => join([`## ${title}`, toIndex(name, own)])),
      join(['## Errors', 'The body of an error is an [Error](shapes.md#error).', toErrors(errors)]),
    ]),
    ...tags.map(({ name, title, about, calls: own }) => toPage(name, title, about, describe(own))),
    toPage('webhooks.md', 'Webhooks', 'The requests that Sluice sends', describe(webhooks)),
    toPage('shapes.md', 'Shapes', 'Bodies of requests and responses, by name', shapes),
  ];
}

const INTRODUCTION = `The same description is available as [OpenAPI 3.1](../openapi.json), and from a running service at \`GET /openapi.json\`. Rules that apply to every call are in the [contract](../contract.md).

Send an API key in the header \`x-api-key\`. Each call names the scope that its key needs.`;

const join = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n');

const toPage = (name: string, title: string, about: string, parts: readonly string[]): ApiPage => ({
  name,
  title,
  about,
  text: `${join([`# ${title}`, `${about}.`, ...parts])}\n`,
});

function toIndex(page: string, calls: readonly ApiCall[]): string {
  const rows = calls.map(
    ({ method, path, summary }) =>
      `| [\`${method} ${path}\`](${page}#${slugOf(summary)}) | ${escapeText(summary)} |`,
  );
  return ['| call | purpose |', '|---|---|', ...rows].join('\n');
}

function toErrors(errors: readonly ApiError[]): string {
  const rows = errors.map(
    ({ status, description }) => `| ${status} | ${escapeText(description)} |`,
  );
  return ['| status | meaning |', '|---|---|', ...rows].join('\n');
}

function describeCall(call: ApiCall, { schemas }: ApiDocument): string {
  const { method, path, summary, description, scope, parameters, body } = call;
  const isCall = path.startsWith('/');
  return join([
    `## ${escapeText(summary)}`,
    isCall ? `\`${method} ${path}\`, ${toScope(scope)}` : '',
    escapeText(description),
    ...Object.entries(TITLES).map(([place, title]) => {
      const fields = parameters
        .filter((each) => each.in === place)
        .map(({ name, required, description: about, schema }) => ({
          name,
          schema: { ...(about !== undefined && { description: about }), ...schema },
          isRequired: required,
        }));
      return fields.length === 0 ? '' : join([title, toTable(fields)]);
    }),
    body === undefined ? '' : describeBody(body, schemas),
    isCall ? describeResponses(call) : '',
  ]);
}

const TITLES: Record<string, string> = {
  path: '**Path**',
  query: '**Query**',
  header: '**Headers**',
};

function toScope(scope: string): string {
  if (scope === 'open') return 'no key needed';
  return scope === 'any' ? 'any key' : `scope \`${scope}\``;
}

function describeBody(
  { schema, example }: NonNullable<ApiCall['body']>,
  schemas: ApiDocument['schemas'],
): string {
  const named = schema.$ref === undefined ? schema : schemas[lastPart(schema.$ref)]!;
  return join([
    `**Body**: ${typeOf(schema)}`,
    toTable(listFields(named)),
    toExample(example ?? named.examples?.[0]),
  ]);
}

function describeShape(schema: Schema): string[] {
  const { description = '' } = schema;
  const table = toTable(listFields(schema));
  return [
    escapeText(description),
    table === '' ? `Type: ${typeOf(schema)}` : table,
    toExample(schema.examples?.[0]),
  ];
}

const toExample = (value: unknown): string =>
  value === undefined ? '' : `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

function describeResponses({ response, errors }: ApiCall): string {
  return join([
    `**Response**: ${response.status}${describeResponse(response)}`,
    errors.length === 0 ? '' : `**Errors**: ${errors.map(toError).join(', ')}`,
  ]);
}

function describeResponse({ mediaType, schema }: ApiCall['response']): string {
  if (schema === undefined) return ', no body';
  const about = schema.description === undefined ? '' : `. ${escapeText(schema.description)}.`;
  return `, ${mediaType === 'application/json' ? '' : `\`${mediaType}\`, `}${typeOf(schema)}${about}`;
}

const toError = ({ status, description, isShared }: ApiCall['errors'][number]): string =>
  isShared ? `[${status}](index.md#errors)` : `${status} (${escapeText(description)})`;
