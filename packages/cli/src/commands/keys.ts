import { SCOPES } from '@sluice/kit/contract';
import { type ApiKey, type Scope, isSluiceError } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toDurationMs } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { repeatable } from '../flags/options.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareKeys(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('create <name>'))
    .description('Create an API key and print it once')
    .addOption(
      repeatable('--scope <scope>', `Scope to allow: ${SCOPES.join(', ')}; repeatable`, 'all'),
    )
    .addOption(
      repeatable('--cidr <network>', 'Accept the key only from this network; repeatable', 'any'),
    )
    .option('--expires <duration>', 'Time until the key expires, e.g. 90d; default: never')
    .addHelpText(
      'after',
      examples('sluice keys create ci', `sluice keys create ci --scope ${SCOPES[0]} --expires 90d`),
    )
    .action((name: string, options: NewKeyOptions) => createKey(name, options, terminal));
  addConnectionOptions(command.command('list'))
    .description('List all API keys, including revoked ones, without the keys themselves')
    .addHelpText('after', examples('sluice keys list'))
    .action((options: ConnectionOptions) => listKeys(options, terminal));
  addConnectionOptions(command.command('revoke <id>'))
    .description('Revoke an API key and end its console sessions')
    .addHelpText('after', examples('sluice keys revoke 0a1b2c3d'))
    .action((id: string, options: ConnectionOptions) => revokeKey(id, options, terminal));
}

interface NewKeyOptions extends ConnectionOptions {
  scope: string[];
  cidr: string[];
  expires?: string;
}

async function createKey(name: string, options: NewKeyOptions, terminal: Terminal): Promise<void> {
  const { scope, cidr, expires } = options;
  const created = await connect(options, terminal).sluice.createApiKey({
    name,
    // The service validates the scopes.
    ...(scope.length > 0 && { scopes: scope as Scope[] }),
    ...(cidr.length > 0 && { cidrs: cidr }),
    ...(expires !== undefined && { expiresAt: Date.now() + toDurationMs('--expires', expires) }),
  });
  if (options.json) {
    terminal.printJson(created);
    return;
  }
  terminal.note(describe(created));
  terminal.note('API key, shown only once:');
  terminal.print(created.key);
}

async function listKeys(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const keys = await connect(options, terminal).sluice.listApiKeys();
  if (options.json) {
    terminal.printJson(keys);
    return;
  }
  if (keys.length === 0) terminal.note('No API keys yet, except the one set with --api-key');
  for (const key of keys) terminal.printText(describe(key), { indent: 4 });
}

async function revokeKey(
  id: string,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const revoked = await connect(options, terminal)
    .sluice.revokeApiKey(id)
    .catch((error: unknown) => {
      if (!isSluiceError(error, 'not_found')) throw error;
      throw new CommandError(
        'not_found',
        `There is no API key ${id}`,
        'list them: sluice keys list',
      );
    });
  if (options.json) terminal.printJson(revoked);
  else terminal.printText(describe(revoked), { indent: 4 });
}

function describe(key: ApiKey): string {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  const parts = [
    key.id,
    key.name,
    key.scopes.join(','),
    ...(key.cidrs.length > 0 ? [`from ${key.cidrs.join(',')}`] : []),
    key.lastUsedAt === null ? 'never used' : `last used ${day(key.lastUsedAt)}`,
    ...(key.revokedAt !== null
      ? [`revoked ${day(key.revokedAt)}`]
      : key.expiresAt !== null
        ? [`expires ${day(key.expiresAt)}`]
        : []),
  ];
  return parts.join('  ');
}
