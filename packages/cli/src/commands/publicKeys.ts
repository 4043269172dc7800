import type { PublicKey } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toDurationMs } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { sluiceCommand } from '../package/packaged.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortenId } from '../connection/shortIds.ts';
import { findAdded } from './addedUrls.ts';

export function declarePublicKeys(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('list'))
    .description('List the public keys that verify webhooks')
    .addHelpText('after', examples('sluice public-keys list'))
    .action((options: ConnectionOptions) => listPublicKeys(options, terminal));
  addConnectionOptions(command.command('create'))
    .description('Create a key pair that signs all webhooks, and print its public key')
    .option('--overlap <duration>', 'Time during which older pairs also sign; 0 for none', '24h')
    .addHelpText(
      'after',
      examples('sluice public-keys create', 'sluice public-keys create --overlap 7d'),
    )
    .action((options: ConnectionOptions & { overlap: string }) =>
      createPublicKey(options, terminal),
    );
  addConnectionOptions(command.command('remove <id>'))
    .description('Stop signing with a key pair')
    .addHelpText('after', examples('sluice public-keys remove 0f3c1a2b'))
    .action((id: string, options: ConnectionOptions) => removePublicKey(id, options, terminal));
}

async function listPublicKeys(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const keys = await connect(options, terminal).sluice.listPublicKeys();
  if (options.json) {
    terminal.printJson(keys);
    return;
  }
  if (keys.length === 0) {
    terminal.note(`No key pairs yet. Create one: ${sluiceCommand()} public-keys create`);
  }
  for (const key of keys) terminal.printText(describe(key), { indent: 4 });
}

async function createPublicKey(
  options: ConnectionOptions & { overlap: string },
  terminal: Terminal,
): Promise<void> {
  const overlapSeconds = Math.round(toDurationMs('--overlap', options.overlap) / 1_000);
  const created = await connect(options, terminal).sluice.createPublicKey({ overlapSeconds });
  if (options.json) terminal.printJson(created);
  else terminal.print(created.publicKey);
}

async function removePublicKey(
  given: string,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const { sluice } = connect(options, terminal);
  const key = findAdded(given, await sluice.listPublicKeys(), {
    one: 'public key',
    many: 'public keys',
    list: 'sluice public-keys list',
  });
  await sluice.removePublicKey(key.id);
  if (options.json) terminal.printJson(key);
  else terminal.printText(`${key.publicKey} no longer verifies webhooks`);
}

const describe = ({ id, publicKey, endsAt }: PublicKey): string =>
  [
    publicKey,
    shortenId(id),
    ...(endsAt === null ? [] : [`signs until ${new Date(endsAt).toISOString()}`]),
  ].join('  ');
