/** The flags and file keys for the OAuth 2.0 client credentials of a stream. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface OAuth2Options {
  /** False with `--no-oauth2`, otherwise true. */
  oauth2?: boolean;
  oauth2TokenUrl?: string;
  oauth2ClientId?: string;
  oauth2ClientSecretFile?: string;
  oauth2Scope?: string;
  oauth2Audience?: string;
}

const SECRET_FLAG = '--oauth2-client-secret-file';
const SECRET_VARIABLE = 'SLUICE_OAUTH2_CLIENT_SECRET';

export const addOAuth2Options = (command: Command): Command =>
  command
    .option('--oauth2-token-url <url>', 'Token URL for OAuth 2.0 client credentials')
    .option('--oauth2-client-id <id>', 'Client ID (off: --no-oauth2)')
    .option(`${SECRET_FLAG} <file>`, `File with the client secret (env: ${SECRET_VARIABLE})`)
    .option('--oauth2-scope <scopes>', 'Requested scopes, separated by spaces')
    .option('--oauth2-audience <audience>', 'Requested audience')
    .addOption(new Option('--no-oauth2').hideHelp());

/**
 * Returns the value of the field `oauth2`: null to remove it, undefined to leave it unchanged. A
 * secret in the environment alone changes nothing.
 */
export function toOAuth2(options: OAuth2Options, { env }: Pick<Terminal, 'env'>): unknown {
  const { oauth2TokenUrl: tokenUrl, oauth2ClientId: clientId } = options;
  const { oauth2ClientSecretFile: file, oauth2Scope: scope, oauth2Audience: audience } = options;
  const given = [tokenUrl, clientId, file, scope, audience].some((each) => each !== undefined);
  if (options.oauth2 === false) {
    if (!given) return null;
    throw new CommandError('usage', '--no-oauth2 cannot be combined with other --oauth2 flags');
  }
  if (!given) return undefined;
  const clientSecret = file === undefined ? env[SECRET_VARIABLE] : readSecretFile(file);
  if (tokenUrl === undefined || clientId === undefined || clientSecret === undefined) {
    throw new CommandError(
      'usage',
      `OAuth 2.0 needs --oauth2-token-url, --oauth2-client-id and ${SECRET_FLAG}`,
      `the service never returns the secret, so pass all of them, or ${SECRET_VARIABLE} for the secret`,
    );
  }
  return {
    tokenUrl,
    clientId,
    clientSecret,
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
  };
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
