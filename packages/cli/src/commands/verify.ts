import { readFileSync } from 'node:fs';
import {
  type PublicKeyOptions,
  type UnwrapOptions,
  diagnose,
  diagnoseWithPublicKey,
  isSluiceError,
  unwrap,
  unwrapWithPublicKey,
} from '@sluice/kit';
import type { Command } from 'commander';
import { examples } from '../flags/examples.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const declareVerify = (command: Command, terminal: Terminal): Command =>
  command
    .option(
      '--header <name:value...>',
      'Signature headers of the request: webhook-id, webhook-timestamp, webhook-signature, x-signature',
    )
    .option('--secret <secret>', 'Secret to verify with (env: SLUICE_SECRET)')
    .option('--public-key <key...>', 'Public keys to verify with instead of a secret')
    .option('--other-secret <name=secret...>', 'Other secrets that may have signed the webhook')
    .option('--body <file>', 'File with the body; default: standard input')
    .option(
      '--allow-x-signature',
      'Accept webhooks with only x-signature, as the hosted service sends them',
      false,
    )
    .option('--at <time>', 'Time of arrival, as ISO time or Unix seconds; default: now')
    .option('--json', 'Print JSON')
    .addHelpText(
      'after',
      examples(
        'sluice verify --secret whs_… --body body.json --header \\\n' +
          "      'webhook-id: …' 'webhook-timestamp: …' 'webhook-signature: …'",
        'sluice verify --public-key whpk_… --body body.json --header …',
      ),
    )
    .action((options: VerifyOptions) => verify(options, terminal));

interface VerifyOptions {
  header?: string[];
  secret?: string;
  publicKey?: string[];
  otherSecret?: string[];
  body?: string;
  allowXSignature: boolean;
  at?: string;
  json?: boolean;
}

/** Prints whether a webhook is genuine. If it is not, prints why, and the exit code is 9. */
async function verify(options: VerifyOptions, terminal: Terminal): Promise<void> {
  if (options.header === undefined) {
    throw new CommandError(
      'usage',
      'Missing --header',
      "pass the headers: --header 'webhook-id: …' 'webhook-timestamp: …' 'webhook-signature: …'",
    );
  }
  const key = toKey(options, terminal);
  const body = options.body === undefined ? await readInput(terminal) : readFile(options.body);
  const request = {
    body,
    headers: toHeaders(options.header),
    allowXSignature: options.allowXSignature,
    ...(options.at !== undefined && { now: () => toTime(options.at!) }),
  };
  const otherSecrets = toSecrets(options.otherSecret ?? []);
  const diagnosis =
    'secret' in key
      ? diagnose({ ...request, ...key, otherSecrets })
      : await diagnoseWithPublicKey({ ...request, ...key });
  if (diagnosis === undefined) {
    if (options.json) terminal.printJson({ valid: true });
    else {
      const of = '✓ genuine';
      const webhook = await describe({ ...request, ...key });
      terminal.printText(`${of}  ${webhook}`, { tint: { tone: 'ok', of } });
    }
    return;
  }
  const { problem, certain, message, fix, secretName } = diagnosis;
  if (options.json)
    terminal.printJson({
      valid: false,
      problem,
      certain,
      message,
      fix,
      ...(secretName !== undefined && { secretName }),
    });
  throw new CommandError(
    'check_failed',
    `${problem}${certain ? '' : ', most likely'}: ${message}${secretName === undefined ? '' : ` The secret is named "${secretName}".`}`,
    fix,
  );
}

/** Returns the public keys or the secret to verify with. */
function toKey(
  { secret, publicKey, otherSecret, allowXSignature }: VerifyOptions,
  { env }: Terminal,
): { publicKeys: string[] } | { secret: string } {
  if (publicKey !== undefined) {
    const others = {
      '--secret': secret,
      '--other-secret': otherSecret,
      '--allow-x-signature': allowXSignature || undefined,
    };
    const other = Object.entries(others).find(([, value]) => value !== undefined)?.[0];
    if (other === undefined) return { publicKeys: publicKey };
    throw new CommandError(
      'usage',
      `--public-key cannot be combined with ${other}`,
      'leave one of them out',
    );
  }
  const given = secret ?? env['SLUICE_SECRET'];
  if (given !== undefined) return { secret: given };
  throw new CommandError(
    'usage',
    'Missing secret',
    'pass --secret, --public-key or set SLUICE_SECRET; print the secret with sluice listen --print-secret',
  );
}

async function describe(
  request: (UnwrapOptions & { publicKeys?: undefined }) | PublicKeyOptions,
): Promise<string> {
  try {
    const { webhook } =
      request.publicKeys === undefined
        ? unwrap({ ...request, family: 'any' })
        : await unwrapWithPublicKey({ ...request, family: 'any' });
    return `${webhook.tag} ${'chainId' in webhook ? webhook.chainId : ''} #${webhook.block.number}`;
  } catch (error) {
    return isSluiceError(error) ? error.message : '';
  }
}

const toTime = (text: string): number => {
  const time = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new CommandError('usage', `--at ${text}: should be an ISO time or Unix seconds`);
};

function toHeaders(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const colon = each.indexOf(':');
      if (colon > 0)
        return [each.slice(0, colon).trim().toLowerCase(), each.slice(colon + 1).trim()];
      throw new CommandError(
        'usage',
        `--header ${each}: should be name: value`,
        "e.g. --header 'x-signature: 0x…'",
      );
    }),
  );
}

function toSecrets(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const equals = each.indexOf('=');
      if (equals > 0) return [each.slice(0, equals), each.slice(equals + 1)];
      throw new CommandError('usage', '--other-secret: should be name=secret');
    }),
  );
}

async function readInput({ stdin }: Terminal): Promise<Uint8Array> {
  if (stdin.isTTY) {
    throw new CommandError(
      'usage',
      'Missing body: standard input is a terminal',
      'pass --body, or redirect a file: sluice verify … < body.json',
    );
  }
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}

function readFile(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CommandError('invalid_file', `--body ${path}: ${(error as Error).message}`);
  }
}
