/** Generates the pages of the API reference from the OpenAPI document. */
import { slugOf } from '../slug.ts';
import type {
  OpenApi,
  Operation,
  Response,
  Schema,
} from '../../packages/console/src/routes/apiReference/openApi.ts';
import { escapeText, listFields, toTable, typeOf } from './fields.ts';

export interface ApiPage {
  name: string;
  title: string;
  about: string;
  text: string;
}

interface Call extends Operation {
  method: string;
  path: string;
}

/** Returns the overview, one page per tag, the page of webhooks and the page of shapes. */
export function listApiPages(document: OpenApi): ApiPage[] {
  const calls = listCalls(document.paths);
  const tags = document.tags.map(({ name, description }) => ({
    name: `${slugOf(name)}.md`,
    title: name,
    about: description,
    calls: calls.filter((call) => call.tags?.includes(name)),
  }));
  const pages = tags.map(({ name, title, about, calls }) =>
    toPage(
      name,
      title,
      about,
      calls.map((call) => describeCall(call, document)),
    ),
  );
  const webhooks = listCalls(document.webhooks).map((call) => describeCall(call, document));
  const shapes = Object.entries(document.components.schemas)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => join([`## ${name}`, ...describeShape(schema)]));
  return [
    toPage('index.md', 'API', 'Every call of the HTTP API', [
      document.info.description,
      INTRODUCTION,
      ...tags.map(({ name, title, calls }) => join([`## ${title}`, toIndex(name, calls)])),
      join([
        '## Errors',
        'The body of an error is an [Error](shapes.md#error).',
        toErrors(document),
      ]),
    ]),
    ...pages,
    toPage('webhooks.md', 'Webhooks', 'The requests that Sluice sends', webhooks),
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

const listCalls = (paths: OpenApi['paths']): Call[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );

function toIndex(page: string, calls: readonly Call[]): string {
  const rows = calls.map(
    ({ method, path, summary }) =>
      `| [\`${method} ${path}\`](${page}#${slugOf(summary)}) | ${escapeText(summary)} |`,
  );
  return ['| call | purpose |', '|---|---|', ...rows].join('\n');
}

function toErrors({ components }: OpenApi): string {
  const rows = Object.entries(components.responses).map(
    ([status, { description = '' }]) => `| ${status} | ${escapeText(description)} |`,
  );
  return ['| status | meaning |', '|---|---|', ...rows].join('\n');
}

function describeCall(call: Call, { components }: OpenApi): string {
  const { method, path, summary, description = '', parameters = [], requestBody } = call;
  const isCall = path.startsWith('/');
  const sent = Object.values(requestBody?.content ?? {});
  const fields = parameters.map(({ name, required, description, schema }) => ({
    name,
    schema: { ...(description !== undefined && { description }), ...schema },
    isRequired: required,
  }));
  return join([
    `## ${escapeText(summary)}`,
    isCall ? `\`${method} ${path}\`, ${scopeOf(call)}` : '',
    escapeText(description),
    ...['path', 'query', 'header'].map((place) => {
      const table = toTable(fields.filter((_, at) => parameters[at]!.in === place));
      return table && join([TITLES[place]!, table]);
    }),
    ...sent.map(({ schema, examples = {} }) =>
      describeBody(schema, Object.values(examples)[0]?.value, components.schemas),
    ),
    isCall ? describeResponses(call) : '',
  ]);
}

const TITLES: Record<string, string> = {
  path: '**Path**',
  query: '**Query**',
  header: '**Headers**',
};

function scopeOf({ security = [] }: Operation): string {
  const scopes = security.find(({ apiKey }) => apiKey !== undefined)?.['apiKey'];
  if (scopes === undefined) return 'no key needed';
  return scopes.length === 0
    ? 'any key'
    : `scope ${scopes.map((each) => `\`${each}\``).join(', ')}`;
}

/** @param example shown instead of the example in the schema. */
function describeBody(
  schema: Schema,
  example: unknown,
  schemas: Readonly<Record<string, Schema>>,
): string {
  const name = schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1);
  const named = name === undefined ? schema : schemas[name]!;
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

function describeResponses({ responses }: Operation): string {
  const entries = Object.entries(responses);
  const success = entries.filter(([status]) => status.startsWith('2'));
  const failures = entries.filter(([status]) => !status.startsWith('2'));
  return join([
    ...success.map(([status, response]) => `**Response**: ${status}${describeContent(response)}`),
    failures.length === 0 ? '' : `**Errors**: ${failures.map(toError).join(', ')}`,
  ]);
}

function describeContent({ content = {} }: Response): string {
  const [type, media] = Object.entries(content)[0] ?? [];
  if (media === undefined) return ', no body';
  const { description } = media.schema;
  const about = description === undefined ? '' : `. ${escapeText(description)}.`;
  return `, ${type === 'application/json' ? '' : `\`${type}\`, `}${typeOf(media.schema)}${about}`;
}

const toError = ([status, { $ref, description = '' }]: [string, Response]): string =>
  $ref === undefined ? `${status} (${escapeText(description)})` : `[${status}](index.md#errors)`;
