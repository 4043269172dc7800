/** The OAuth 2.0 client credentials of a stream, a row per field. */
import * as z from 'zod';
import { requestShape, shape } from '../named.ts';
import { given, text } from '../requests/fields.ts';
import { type Fields, toCreated, toReturned } from './field.ts';

const printable = (maxLength: number) =>
  text(maxLength).regex(/^[\x20-\x7e]+$/, { error: 'should be printable ASCII, not empty' });

/** Matches URLs without login, which belongs in `clientId` and `clientSecret`, and fragment. */
const TOKEN_URL = /^https?:\/\/[^\s/?#@]+([/?][^\s#]*)?$/i;

export const oauth2Fields = {
  tokenUrl: {
    kind: 'text',
    accepts: text(2048).refine((url) => TOKEN_URL.test(url) && URL.canParse(url), {
      error: 'should be an absolute http:// or https:// URL without login and fragment',
    }),
    isRequired: true,
    returns: z.string(),
    flag: {
      syntax: '--oauth2-token-url <url>',
      help: 'Token URL for OAuth 2.0 client credentials',
    },
    label: 'Token URL',
    input: { part: 'deliver', hint: '', placeholder: 'https://auth.example.com/oauth2/token' },
  },
  clientId: {
    kind: 'text',
    accepts: printable(256),
    isRequired: true,
    returns: z.string(),
    flag: { syntax: '--oauth2-client-id <id>', help: 'Client ID (off: --no-oauth2)' },
    label: 'Client ID',
    input: { part: 'deliver', hint: '' },
  },
  clientSecret: {
    kind: 'text',
    accepts: printable(1024).meta({ format: 'password' }),
    isRequired: true,
    flag: { syntax: '--oauth2-client-secret-file <file>', help: 'File with the client secret' },
    label: 'Client secret',
    input: { part: 'deliver', hint: 'Stored encrypted and never shown again.' },
  },
  scope: {
    kind: 'text',
    accepts: given(printable(1024)),
    returns: z.string().exactOptional(),
    flag: {
      syntax: '--oauth2-scope <scopes>',
      help: 'Requested scopes, separated by spaces',
    },
    label: 'Scope',
    input: { part: 'deliver', hint: 'Separated by spaces.', placeholder: 'optional' },
  },
  audience: {
    kind: 'text',
    accepts: given(printable(1024)),
    returns: z.string().exactOptional(),
    flag: { syntax: '--oauth2-audience <audience>', help: 'Requested audience' },
    label: 'Audience',
    input: { part: 'deliver', hint: '', placeholder: 'optional' },
  },
} as const satisfies Fields;

export const oauth2Credentials = requestShape(
  'OAuth2Credentials',
  'OAuth 2.0 client credentials.',
  z.strictObject(toCreated(oauth2Fields)),
);

export const oauth2Client = shape(
  'OAuth2Client',
  'OAuth2Credentials without the secret.',
  z.strictObject(toReturned(oauth2Fields)),
);
