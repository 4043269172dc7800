import { mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AptosWebhook, EvmWebhook } from '@sluice/kit';
import { fixtureNameOf } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection.ts';
import { writePrivately } from '../contexts.ts';
import { createSingleSender, findSecret, toLocalUrl } from '../live/forward.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareFixture(command: Command, terminal: Terminal): void {
  addConnectionOptions(
    command.command('save <delivery...>').description('keep bodies of deliveries as files'),
  )
    .option('--dir <dir>', 'where to', 'fixtures')
    .action((ids: string[], options: SaveOptions) => save(ids, options, terminal));
  addConnectionOptions(
    command.command('run <path...>').description('send files, or all of a folder, to your app'),
  )
    .option('--to <url>', 'port or URL of the receiver', '3000')
    .option('--secret <secret>', 'signs them; default: SLUICE_SECRET, else that of the service')
    .action((paths: string[], options: RunOptions) => runFixtures(paths, options, terminal));
}

interface SaveOptions extends ConnectionOptions {
  dir: string;
}

/** Each the body as it was sent. */
async function save(ids: string[], options: SaveOptions, terminal: Terminal): Promise<void> {
  const { sluice } = connect(options, terminal);
  const folder = resolve(terminal.cwd, options.dir);
  mkdirSync(folder, { recursive: true });
  for (const id of ids) {
    const delivery = await sluice.getDelivery(id);
    const path = join(folder, fixtureNameOf(delivery));
    writePrivately(path, delivery.body);
    if (options.json) terminal.sayJson({ id, path });
    else terminal.say(path);
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
  const files = paths.map((path) => resolve(terminal.cwd, path)).flatMap(listFiles);
  const webhooks = files.map((file) => [file, readWebhook(file)] as const);
  const secret = await findSecret(options.secret, terminal.env, () => connect(options, terminal));
  const sender = createSingleSender(toLocalUrl('--to', options.to), secret);
  let failed = 0;
  for (const [file, webhook] of webhooks) {
    if (terminal.signal.aborted) return;
    const { delivered, attempts } = await sender.send(webhook);
    const { status = null, error = null } = attempts.at(-1) ?? {};
    if (!delivered) failed++;
    if (options.json) terminal.sayJson({ file, delivered, status, error: error ?? null });
    else {
      const mark = terminal.tint(delivered ? 'ok' : 'bad', delivered ? '✓' : '✗');
      terminal.say(`${mark} ${delivered ? status : error}  ${file}`);
    }
  }
  if (failed > 0) {
    throw new CommandError(
      'check_failed',
      `${failed} of ${files.length} were not answered with a 2xx`,
    );
  }
}

function listFiles(path: string): string[] {
  const found = statIfThere(path);
  if (found === undefined) throw new CommandError('invalid_file', `${path} is not there`);
  if (!found.isDirectory()) return [path];
  const files = readdirSync(path).filter((name) => name.endsWith('.json'));
  if (files.length > 0) return files.toSorted().map((name) => join(path, name));
  throw new CommandError(
    'invalid_file',
    `${path} holds no .json files`,
    'sluice fixture save <delivery>',
  );
}

const statIfThere = (path: string) => statSync(path, { throwIfNoEntry: false });

function readWebhook(path: string): EvmWebhook | AptosWebhook {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as EvmWebhook | AptosWebhook;
  } catch (error) {
    throw new CommandError('invalid_file', `${path}: ${(error as Error).message}`);
  }
}
