/** Sets the streams secret before an import, because each new stream sends a test webhook. */
import { type Client, isSluiceError } from '@sluice/kit';
import { createHash } from 'node:crypto';
import { newKey } from '../dev/devService.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import { ask } from '../terminal/prompt.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { ImportJournal } from './importJournal.ts';

export interface SecretOptions {
  /** Secret of the hosted account, with which receivers currently verify webhooks. */
  streamsSecret?: string;
  /** Whether to create a new secret instead of using the hosted one. */
  newSecret?: boolean;
}

/**
 * Sets the service's streams secret to a new secret, or to the hosted one, for which it may prompt.
 * If the user provides no secret, the current one stays, and so does a secret that an earlier run
 * created. Secrets are never printed.
 *
 * @param hostedKey API key of the hosted service, which is often the streams secret too.
 */
export async function importSecret(
  api: Client,
  options: SecretOptions & { hostedKey: string; journal: ImportJournal },
  terminal: Terminal,
): Promise<void> {
  if (options.newSecret) {
    const isNew = await createSecret(api, options.journal);
    const done = isNew ? 'Created a new streams secret' : 'Kept the secret of an earlier import';
    terminal.note(`${done}. Print it with: ${sluiceCommand()} listen --print-secret`);
    terminal.note(
      'Configure the secret in your receivers. Until then, they reject webhooks from this service.',
    );
    return;
  }
  const secret = options.streamsSecret ?? (await askSecret(terminal));
  if (secret === undefined || secret === '') {
    terminal.note(
      'Webhooks are signed with the secret of this service. Receivers that verify with',
    );
    terminal.note('the hosted secret reject them: pass that secret with --streams-secret.');
    return;
  }
  if (secret === options.hostedKey) {
    terminal.note('The hosted streams secret is also the hosted API key: each of your receivers');
    terminal.note(
      'can access the complete account. Rotate the secret after the switch: import with',
    );
    terminal.note('--new-secret, or change the streams secret once the receivers accept both.');
    if (terminal.canAsk && (await isRotationWanted(terminal))) {
      return importSecret(api, { ...options, newSecret: true }, terminal);
    }
  }
  await setSecret(api, secret);
  terminal.note('Webhooks are signed with the given streams secret.');
}

async function askSecret(terminal: Terminal): Promise<string | undefined> {
  const given = terminal.env['MORALIS_STREAMS_SECRET'];
  if (given !== undefined || !terminal.canAsk) return given;
  return ask(terminal, 'Hosted streams secret that your receivers verify with (Enter: none):', {
    fix: 'pass --streams-secret',
    hidden: true,
  });
}

const isRotationWanted = async (terminal: Terminal): Promise<boolean> =>
  /^y(es)?$/i.test(
    await ask(terminal, 'Create a new secret now? (y/N)', { fix: 'pass --new-secret' }),
  );

/** Returns false, without creating a secret, if an earlier run created the current one. */
async function createSecret(api: Client, journal: ImportJournal): Promise<boolean> {
  const { secretKey: current } = await api.settings.read();
  const created = journal.readSecretHash();
  // Some services never return secrets. The earlier run already changed the secret of such a one.
  if (created !== undefined && (current === undefined || hashOf(current) === created)) return false;
  const secret = newKey('whs_');
  await setSecret(api, secret);
  journal.saveSecretHash(hashOf(secret));
  return true;
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

async function setSecret(api: Client, secretKey: string): Promise<void> {
  const { secretKey: ours } = await api.settings.read();
  if (ours === secretKey) return;
  try {
    await api.settings.set({ secretKey });
  } catch (error) {
    if (!isSluiceError(error, 'conflict')) throw error;
    throw new CommandError(
      'usage',
      'The service was started with a different streams secret (--secret)',
      'restart it with the hosted secret or without --secret, then import again',
    );
  }
}

/** Explains why the test webhook of a new stream failed; undefined for other errors. */
export function explainRefusal(error: unknown): string | undefined {
  if (!isSluiceError(error)) return undefined;
  const said = `${error.message} ${JSON.stringify(error.details ?? {})}`;
  if (!/test webhook|Could not POST/.test(said)) return undefined;
  const status = Number(/HTTP (\d{3})/.exec(said)?.[1]);
  if (status === 401 || status === 403) {
    return 'The receiver verifies with a different secret: pass that secret with --streams-secret';
  }
  if (status === 404 || status === 405)
    return 'The receiver does not accept POST at this path: check the URL';
  if (status >= 500) return 'The receiver failed: check its log';
  if (status >= 300 && status < 400)
    return 'The receiver redirects requests: change the webhook URL to the final URL';
  if (/private|loopback/.test(said))
    return 'The receiver has a private address: start the service with --allow-cidr';
  return 'The service cannot deliver to the receiver: check the URL, the firewall and the log of the receiver';
}
