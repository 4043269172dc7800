/** Generates code that creates the stream of a draft. */
import {
  NEW_STREAM_FAMILY,
  type Retries,
  allStreamDefaults,
  formatRetries,
  quoteShell,
  toCurl,
} from '@sluice/kit/contract';
import { parseAddressList } from '@sluice/kit/operator';
import { FIELDS } from '../streamForm/draft/plainFields.ts';
import { toFields } from '../streamForm/draft/fields.ts';
import type { StreamDraft } from '../streamForm/draft/draft.ts';

const withoutSecret = (fields: ReturnType<typeof toFields>) =>
  fields.oauth2
    ? { ...fields, oauth2: { ...fields.oauth2, clientSecret: 'YOUR_CLIENT_SECRET' } }
    : fields;

const DEFAULTS = allStreamDefaults();

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/**
 * Returns the fields of a draft, without empty lists and objects, and without defaults of optional
 * fields. A client secret is replaced, because snippets are shown.
 */
const fieldsOf = (draft: StreamDraft): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(withoutSecret(toFields(draft))).filter(
      ([name, value]) => !isEmpty(value) && (FIELDS[name]?.isRequired || value !== DEFAULTS[name]),
    ),
  );

/** Returns the flag of a field; undefined if it has none, or its value is a file. */
const flagOf = (field: string): string | undefined => {
  const syntax = FIELDS[field]?.flag?.syntax;
  return syntax?.endsWith('<file>') ? undefined : syntax?.split(' ')[0];
};

/** Returns the values of a flag. A schedule of retries is one value. */
const toTexts = (field: string, value: unknown): string[] =>
  field === 'retries' ? [formatRetries(value as Retries)] : [value].flat().map(String);

/** Maximum number of addresses in the command, which omits the rest. */
const ADDRESSES_IN_A_LINE = 5;

/**
 * Builds a `sluice streams create` command with flags or, if any field has no flag, with a file.
 */
function toCommand(draft: StreamDraft): string {
  const fields = fieldsOf(draft);
  const rows = draft.allAddresses ? [] : parseAddressList(draft.addresses, draft.family).rows;
  const addresses = rows.slice(0, ADDRESSES_IN_A_LINE).map(({ address }) => address);
  const given = addresses.length === 0 ? [] : [`--address ${addresses.join(' ')}`];
  if (Object.keys(fields).some((field) => flagOf(field) === undefined)) {
    const file = JSON.stringify(fields, null, 2);
    const command = ['sluice streams create --file stream.yaml', ...given].join(' ');
    return `cat > stream.yaml <<'END'\n${file}\nEND\n${command}`;
  }
  const flags = Object.entries(fields).map(([field, value]) => {
    const values = value === true ? [] : toTexts(field, value);
    return [flagOf(field), ...values.map(quoteShell)].join(' ');
  });
  return ['sluice streams create', ...flags, ...given].join(' \\\n  ');
}

function toScript(draft: StreamDraft, origin: string): string {
  const fields = {
    ...fieldsOf(draft),
    ...(draft.family !== NEW_STREAM_FAMILY && { networkType: draft.family }),
  };
  // Keys that are identifiers need no quotes.
  const body = JSON.stringify(fields, null, 2).replaceAll(/^(\s*)"([A-Za-z]\w*)":/gm, '$1$2:');
  return [
    `import { createClient } from '@sluice/kit';`,
    '',
    'const client = createClient({',
    `  baseUrl: '${origin}',`,
    '  apiKey: process.env.SLUICE_API_KEY,',
    '});',
    `await client.streams.create(${body});`,
  ].join('\n');
}

export const createSnippets = (draft: StreamDraft, origin: string) => ({
  'Command line': toCommand(draft),
  curl: toCurl({
    method: 'PUT',
    url: `${origin}/streams/${draft.family}`,
    sendsApiKey: true,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fieldsOf(draft), null, 2),
  }),
  TypeScript: toScript(draft, origin),
});
