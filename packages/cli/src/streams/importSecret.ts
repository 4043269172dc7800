/** The secret that receivers verify with comes before the streams: creating one posts a test webhook. */
import { type Client, isSluiceError } from '@sluice/kit';
import { newKey } from '../dev/devService.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { CommandError } from '../terminal/errors.ts';
import { ask } from '../terminal/prompt.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface SecretOptions {
  /** The hosted account's, which receivers verify with now. */
  streamsSecret?: string;
  /** Make a new one instead. */
  newSecret?: boolean;
}

/**
 * Gives the service the secret that receivers verify with. Never prints it.
 *
 * @param hostedKey often the hosted streams secret itself.
 */
export async function bringSecret(
  api: Client,
  options: SecretOptions & { hostedKey: string },
  terminal: Terminal,
): Promise<void> {
  if (options.newSecret) {
    await setSecret(api, newKey('whs_'));
    terminal.note(
      `Made a new streams secret: ${sluiceCommand()} listen --print-secret prints it. Receivers`,
    );
    terminal.note('have to accept it before they accept a webhook from here.');
    return;
  }
  const secret = options.streamsSecret ?? (await askSecret(terminal));
  if (secret === undefined || secret === '') {
    terminal.note(
      'Webhooks are signed with the secret of this service. Receivers that verify with',
    );
    terminal.note('the hosted one refuse them: give it with --streams-secret.');
    return;
  }
  if (secret === options.hostedKey) {
    terminal.note('The hosted streams secret is the hosted API key: each of your receivers holds');
    terminal.note('the key to the whole account. Rotate it after the switch: import with');
    terminal.note('--new-secret, or change the secret here once the receivers accept both.');
    if (terminal.canAsk && (await isRotationWanted(terminal))) {
      return bringSecret(api, { ...options, newSecret: true }, terminal);
    }
  }
  await setSecret(api, secret);
  terminal.note('Webhooks are signed with the streams secret you gave.');
}

async function askSecret(terminal: Terminal): Promise<string | undefined> {
  const given = terminal.env['MORALIS_STREAMS_SECRET'];
  if (given !== undefined || !terminal.canAsk) return given;
  return ask(terminal, 'Hosted streams secret, which your receivers verify with (Enter: none):', {
    fix: 'pass --streams-secret',
    hidden: true,
  });
}

const isRotationWanted = async (terminal: Terminal): Promise<boolean> =>
  /^y(es)?$/i.test(
    await ask(terminal, 'Make a new secret now? (y/N)', { fix: 'pass --new-secret' }),
  );

async function setSecret(api: Client, secretKey: string): Promise<void> {
  const { secretKey: ours } = await api.settings.read();
  if (ours === secretKey) return;
  try {
    await api.settings.set({ secretKey });
  } catch (error) {
    if (!isSluiceError(error, 'conflict')) throw error;
    throw new CommandError(
      'usage',
      'The service was started with another streams secret (--secret)',
      'start it with the hosted one, or without --secret, and import again',
    );
  }
}

/** Why a receiver refused the test webhook of a new stream, and what to do; undefined for other errors. */
export function explainRefusal(error: unknown): string | undefined {
  if (!isSluiceError(error)) return undefined;
  const said = `${error.message} ${JSON.stringify(error.details ?? {})}`;
  if (!/test webhook|Could not POST/.test(said)) return undefined;
  const status = Number(/HTTP (\d{3})/.exec(said)?.[1]);
  if (status === 401 || status === 403) {
    return 'it verifies with another secret: import with --streams-secret, the secret it has';
  }
  if (status === 404 || status === 405) return 'nothing takes a POST at this path';
  if (status >= 500) return 'it failed by itself: its own log says why';
  if (status >= 300 && status < 400) return 'it redirects: change the URL to the final address';
  if (/private|loopback/.test(said))
    return 'its address is private: start the service with --allow-cidr';
  return 'it cannot be reached from the service: check host, port and firewall';
}
