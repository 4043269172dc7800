/** The flags and file keys for the OAuth 2.0 client credentials of a stream. */
import { readFileSync } from 'node:fs';
import { type OAuth2Credentials, OAUTH2_FIELDS, type StreamFieldView } from '@sluice/kit/contract';
import { type Command, Option } from 'commander';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface OAuth2Options {
  /** False with `--no-oauth2`, otherwise true. */
  oauth2?: boolean;
  [flag: string]: unknown;
}

const ROWS: Readonly<Record<keyof OAuth2Credentials, StreamFieldView>> = OAUTH2_FIELDS;
const FIELDS = Object.keys(OAUTH2_FIELDS) as (keyof OAuth2Credentials)[];
const SECRET_VARIABLE = 'SLUICE_OAUTH2_CLIENT_SECRET';

const syntaxOf = (field: keyof OAuth2Credentials): string => OAUTH2_FIELDS[field].flag.syntax;

export function addOAuth2Options(command: Command): Command {
  for (const field of FIELDS) {
    const { help } = OAUTH2_FIELDS[field].flag;
    const variable = field === 'clientSecret' ? ` (env: ${SECRET_VARIABLE})` : '';
    command.option(syntaxOf(field), `${help}${variable}`);
  }
  return command.addOption(new Option('--no-oauth2').hideHelp());
}

/**
 * Returns the value of the field `oauth2`: null to remove it, undefined to leave it unchanged. A
 * secret in the environment alone changes nothing.
 */
export function toOAuth2(options: OAuth2Options, { env }: Pick<Terminal, 'env'>): unknown {
  const given: Partial<Record<keyof OAuth2Credentials, string>> = Object.fromEntries(
    FIELDS.map((field) => [field, options[new Option(syntaxOf(field)).attributeName()]]).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const isGiven = Object.keys(given).length > 0;
  if (options.oauth2 === false) {
    if (!isGiven) return null;
    throw new CommandError('usage', '--no-oauth2 cannot be combined with other --oauth2 flags');
  }
  if (!isGiven) return undefined;
  const file = given.clientSecret;
  const clientSecret = file === undefined ? env[SECRET_VARIABLE] : readSecretFile(file);
  const credentials = { ...given, clientSecret };
  const required = FIELDS.filter((field) => ROWS[field].isRequired);
  if (required.every((field) => credentials[field] !== undefined)) return credentials;
  const flags = required.map((field) => syntaxOf(field).split(' ', 1)[0]!);
  throw new CommandError(
    'usage',
    `OAuth 2.0 needs ${flags.slice(0, -1).join(', ')} and ${flags.at(-1)}`,
    `the service never returns the secret, so pass all of them, or ${SECRET_VARIABLE} for the secret`,
  );
}

/** @throws CommandError `invalid_file` that names the file, if it cannot be read or is empty. */
export function readSecretFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError('invalid_file', `${path}: ${(error as Error).message}`);
  }
  if (text !== '') return text;
  throw new CommandError('invalid_file', `${path}: is empty, but should contain a client secret`);
}
