import { mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type AnyWebhook, findWebhookFamily } from '@sluice/kit/contract';
import { toFixtureName } from '@sluice/kit/operator';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { writePrivately } from '../connection/contexts.ts';
import { webhooksLike } from '../families/webhooks.ts';
import { examples } from '../flags/examples.ts';
import { createSingleSender, findSecret, toLocalUrl } from '../live/forward.ts';
import { findDeliveryId } from '../connection/shortIds.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareFixture(command: Command, terminal: Terminal): void {
  addConnectionOptions(
    command.command('save <delivery...>').description('Save the bodies of deliveries as files'),
  )
    .option('--dir <dir>', 'Target folder', 'fixtures')
    .addHelpText('after', examples('sluice fixture save 0cc6a32f --dir test/fixtures'))
    .action((ids: string[], options: SaveOptions) => save(ids, options, terminal));
  addConnectionOptions(
    command
      .command('run <path...>')
      .description('Send fixture files, or all .json files of a folder, to your app'),
  )
    .option('--to <url>', 'Port or URL of the receiver', '3000')
    .option(
      '--secret <secret>',
      'Secret to sign with; default: SLUICE_SECRET, or the streams secret of the service',
    )
    .addHelpText('after', examples('sluice fixture run fixtures --to 3000'))
    .action((paths: string[], options: RunOptions) => runFixtures(paths, options, terminal));
}

interface SaveOptions extends ConnectionOptions {
  dir: string;
}

async function save(ids: string[], options: SaveOptions, terminal: Terminal): Promise<void> {
  const { sluice } = connect(options, terminal);
  const folder = resolve(terminal.cwd, options.dir);
  mkdirSync(folder, { recursive: true });
  for (const given of ids) {
    const id = await findDeliveryId(sluice, given);
    const [delivery, body] = await Promise.all([
      sluice.getDelivery(id),
      sluice.getDeliveryBody(id),
    ]);
    const path = join(folder, toFixtureName(delivery));
    writePrivately(path, body);
    if (options.json) terminal.printJson({ id, path });
    else terminal.print(path);
  }
}

interface RunOptions extends ConnectionOptions {
  to: string;
  secret?: string;
}

async function runFixtures(
  paths: string[],
  options: RunOptions,
  terminal: Terminal,
): Promise<void> {
  const fixtures = paths.map((path) => resolve(terminal.cwd, path)).flatMap(readFixtures);
  const secret = await findSecret(options.secret, terminal.env, () => connect(options, terminal));
  const sender = createSingleSender(toLocalUrl('--to', options.to), secret);
  let failed = 0;
  for (const { file, webhook } of fixtures) {
    if (terminal.signal.aborted) return;
    const { delivered, attempts } = await sender.send(webhook);
    const { status = null, error = null } = attempts.at(-1) ?? {};
    if (!delivered) failed++;
    if (options.json) terminal.printJson({ file, delivered, status, error: error ?? null });
    else {
      const mark = delivered ? '✓' : '✗';
      terminal.printText(`${mark} ${delivered ? status : error}  ${file}`, {
        tint: { tone: delivered ? 'ok' : 'bad', of: mark },
      });
    }
  }
  if (failed > 0) {
    throw new CommandError(
      'check_failed',
      `${failed} of ${fixtures.length} webhooks did not get a 2xx response`,
    );
  }
}

interface Read {
  file: string;
  webhook: AnyWebhook;
}

/**
 * Reads a file, or all `.json` files of a folder, in the order in which a service would send the
 * webhooks: by block, then by phase.
 */
function readFixtures(path: string): Read[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CommandError('invalid_file', `${path} does not exist`);
  if (!found.isDirectory()) return [{ file: path, webhook: readWebhook(path) }];
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  if (names.length === 0) {
    throw new CommandError(
      'invalid_file',
      `${path} has no .json files`,
      'save one: sluice fixture save <delivery>',
    );
  }
  return names
    .toSorted()
    .map((name) => join(path, name))
    .map((file) => ({ file, webhook: readWebhook(file) }))
    .toSorted((a, b) => compareTurns(a.webhook, b.webhook));
}

const compareTurns = (a: AnyWebhook, b: AnyWebhook): number =>
  Number(a.block.number) - Number(b.block.number) || turnOf(a) - turnOf(b);

const turnOf = (webhook: AnyWebhook): number => webhooksLike(webhook).turnOf(webhook);

function readWebhook(path: string): AnyWebhook {
  let webhook: Partial<AnyWebhook> | null;
  try {
    webhook = JSON.parse(readFileSync(path, 'utf8')) as typeof webhook;
  } catch (error) {
    throw new CommandError('invalid_file', `${path}: ${(error as Error).message}`);
  }
  if (
    typeof webhook?.streamId === 'string' &&
    webhook.block &&
    findWebhookFamily(webhook) !== undefined
  ) {
    return webhook as AnyWebhook;
  }
  throw new CommandError(
    'invalid_file',
    `${path} is not a webhook body: should have streamId, block, and logs or transactions`,
    'save one: sluice fixture save <delivery>',
  );
}
