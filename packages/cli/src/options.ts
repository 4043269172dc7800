/** The flags of a service, the same for every command that starts one, each with its variable. */
import { type Command, Option } from 'commander';
import { type ServiceConfig, parseAptos, parseChains, readSpamLists } from '@sluice/service';
import { findConsole } from './console.ts';

export interface ServiceOptions {
  port: string;
  host: string;
  data: string;
  databaseUrl?: string;
  apiKey?: string;
  secret?: string;
  chain: string[];
  aptos: string[];
  spamList: string[];
  allowPrivateEndpoints: boolean;
}

const option = (flags: string, description: string, variable: string): Option =>
  new Option(flags, description).env(variable);

/** A flag that may be repeated; in its variable the values stand with spaces between. */
const repeatable = (flags: string, description: string, variable: string): Option =>
  option(flags, description, variable)
    .default([], 'none')
    .argParser((value: string, before: string[] | undefined) => [
      ...(before ?? []),
      ...value.split(/\s+/).filter(Boolean),
    ]);

export function addServiceOptions(command: Command, dataFolder: string): Command {
  // Commander takes any value of a flag's variable for yes, and this flag opens a door.
  if (/^(|0|no|false|off)$/i.test(process.env[ALLOW_PRIVATE] ?? ''))
    delete process.env[ALLOW_PRIVATE];
  return command
    .addOption(
      option('--port <port>', 'port to listen on, 0 for any', 'SLUICE_PORT').default('4400'),
    )
    .addOption(option('--host <host>', 'address to listen on', 'SLUICE_HOST').default('127.0.0.1'))
    .addOption(option('--data <dir>', 'folder of the ledger', 'SLUICE_DATA').default(dataFolder))
    .addOption(
      option('--database-url <url>', 'PostgreSQL instead of SQLite', 'SLUICE_DATABASE_URL'),
    )
    .addOption(
      option('--api-key <key>', 'at least 16 characters; default: one is made', 'SLUICE_API_KEY'),
    )
    .addOption(option('--secret <secret>', 'streams secret; default: one is made', 'SLUICE_SECRET'))
    .addOption(
      repeatable(
        '--chain <id=url>',
        '<hexId>=<rpcUrl>[,confirmations=N][,poll=MS], repeatable',
        'SLUICE_CHAIN',
      ),
    )
    .addOption(repeatable('--aptos <network=url>', 'Aptos fullnode, repeatable', 'SLUICE_APTOS'))
    .addOption(
      repeatable(
        '--spam-list <id=file>',
        'spam contracts of a chain, one address a line, repeatable',
        'SLUICE_SPAM_LIST',
      ),
    )
    .addOption(
      option(
        '--allow-private-endpoints',
        'let webhooks reach loopback and private addresses',
        ALLOW_PRIVATE,
      ).default(false),
    );
}

const ALLOW_PRIVATE = 'SLUICE_ALLOW_PRIVATE_ENDPOINTS';

/** The settings these flags stand for. Throws a ConfigError that names the flag and the fix. */
export function toServiceConfig(options: ServiceOptions): ServiceConfig {
  return {
    port: /^\d+$/.test(options.port) ? Number(options.port) : Number.NaN,
    host: options.host,
    dataFolder: options.data,
    databaseUrl: options.databaseUrl,
    apiKey: options.apiKey,
    secret: options.secret,
    chains: parseChains(options.chain),
    aptos: parseAptos(options.aptos),
    spamLists: readSpamLists(options.spamList),
    allowPrivateEndpoints: options.allowPrivateEndpoints,
    consoleFolder: findConsole(),
  };
}
