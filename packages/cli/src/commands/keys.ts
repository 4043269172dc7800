import { SCOPES } from '@sluice/kit/contract';
import { type ApiKey, type Scope, isSluiceError } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toDurationMs } from '../flags/durations.ts';
import { repeatable } from '../flags/options.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareKeys(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('create <name>'))
    .description('make a key; it is printed this once')
    .addOption(repeatable('--scope <scope>', `${SCOPES.join(', ')}; default: all`))
    .addOption(repeatable('--cidr <network>', 'take it from there alone; default: anywhere'))
    .option('--expires <duration>', 'how long it is good, such as 90d; default: for ever')
    .action((name: string, options: NewKeyOptions) => createKey(name, options, terminal));
  addConnectionOptions(command.command('list'))
    .description('every key there is or was, without the keys themselves')
    .action((options: ConnectionOptions) => listKeys(options, terminal));
  addConnectionOptions(command.command('revoke <id>'))
    .description('end a key, and the console sessions opened with it')
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
    // The service names those that there are.
    ...(scope.length > 0 && { scopes: scope as Scope[] }),
    ...(cidr.length > 0 && { cidrs: cidr }),
    ...(expires !== undefined && { expiresAt: Date.now() + toDurationMs('--expires', expires) }),
  });
  if (options.json) {
    terminal.sayJson(created);
    return;
  }
  terminal.note(describe(created));
  terminal.note('The key, shown this once:');
  terminal.say(created.key);
}

async function listKeys(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const keys = await connect(options, terminal).sluice.listApiKeys();
  if (options.json) {
    terminal.sayJson(keys);
    return;
  }
  if (keys.length === 0) terminal.note('No keys but the one the service was started with');
  for (const key of keys) terminal.sayText(describe(key), { indent: 4 });
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
      throw new CommandError('not_found', `There is no key ${id}`, 'sluice keys list names them');
    });
  if (options.json) terminal.sayJson(revoked);
  else terminal.sayText(describe(revoked), { indent: 4 });
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
