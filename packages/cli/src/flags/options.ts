/** The flags of all commands that start a service, with their environment variables. */
import { type Command, Option } from 'commander';
import { DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import {
  configError,
  type ServiceConfig,
  parseAbiUrls,
  parseAptos,
  parseChains,
  parseExplorers,
  parseLogFormat,
  parseRoles,
  readSpamLists,
} from '@sluice/service';
import { findConsole } from '../package/packaged.ts';

export interface ServiceOptions {
  role: string[];
  port: string;
  host: string;
  data: string;
  databaseUrl?: string;
  apiKey?: string;
  secret?: string;
  masterKeyFile?: string;
  trustProxy: string[];
  allowHost: string[];
  corsOrigin: string[];
  rateLimit: string;
  chain: string[];
  aptos: string[];
  spamList: string[];
  abiUrl: string[];
  explorer: string[];
  allowCidr: string[];
  allowPrivateEndpoints: boolean;
  egressProxy?: string;
  maxPerHost?: string;
  hideSecrets: boolean;
  testWebhook: boolean;
  fastRetry: boolean;
  keepDelivered: string;
  keepUndelivered: string;
  terminateAfter?: string;
  notifyUrl?: string;
  minFreeMib: string;
  maxWebhookBytes: string;
  logFormat: string;
}

const option = (flags: string, description: string, variable?: string): Option => {
  const made = new Option(flags, description);
  return variable === undefined ? made : made.env(variable);
};

/** A repeatable flag. Its variable contains the values, separated by spaces. */
export const repeatable = (
  flags: string,
  description: string,
  variable?: string,
  shownDefault = 'none',
): Option =>
  option(flags, description, variable)
    .default([], shownDefault)
    .argParser((value: string, before: string[] | undefined) => [
      ...(before ?? []),
      ...value.split(/\s+/).filter(Boolean),
    ]);

/** Flags for address, ledger and roles of the process. */
const processOptions = (dataFolder: string): Option[] => [
  option('--port <port>', 'Port to listen on; 0 for any free port', 'SLUICE_PORT').default('4400'),
  option('--host <host>', 'Address to listen on', 'SLUICE_HOST').default('127.0.0.1'),
  option('--data <dir>', 'Folder of the ledger', 'SLUICE_DATA').default(dataFolder),
  option('--database-url <url>', 'Use PostgreSQL instead of SQLite', 'SLUICE_DATABASE_URL'),
  repeatable(
    '--role <role>',
    'Role of this process: ingest, deliver, api or all; repeatable; a subset requires --database-url',
    'SLUICE_ROLE',
    'all',
  ),
];

/** Flags for access: keys, secrets, proxies and limits. */
const accessOptions = (): Option[] => [
  option(
    '--api-key <key>',
    'API key, at least 16 characters; default: generated',
    'SLUICE_API_KEY',
  ),
  option(
    '--secret <secret>',
    'Streams secret, which signs webhooks; default: generated',
    'SLUICE_SECRET',
  ),
  option(
    '--master-key-file <file>',
    'File with the key that encrypts secrets in the ledger; default: SLUICE_MASTER_KEY, or a key generated in the data folder',
    'SLUICE_MASTER_KEY_FILE',
  ),
  repeatable(
    '--trust-proxy <n|network>',
    'Number of trusted proxies in front of the service, or their networks; repeatable',
    'SLUICE_TRUST_PROXY',
  ),
  repeatable(
    '--allow-host <name>',
    'Accept requests for this host name; repeatable',
    'SLUICE_ALLOW_HOST',
    'loopback names on loopback, otherwise any',
  ),
  repeatable(
    '--cors-origin <origin>',
    'Let web pages of this origin call the API with a key; repeatable',
    'SLUICE_CORS_ORIGIN',
  ),
  option(
    '--rate-limit <n>',
    'Calls per second for each API key; 0 for unlimited',
    'SLUICE_RATE_LIMIT',
  ).default('500'),
];

/** Flags for chains, spam lists and ABI sources. */
const chainOptions = (): Option[] => [
  repeatable(
    '--chain <id=url>',
    'EVM chain as <hexId>=<rpcUrl>[,confirmations=N|finalized][,poll=MS][,accept=unverified][,proof=on|off][,verify=headers]; repeatable; repeat an ID to add a provider',
    'SLUICE_CHAIN',
  ),
  repeatable(
    '--aptos <network=url>',
    'Aptos fullnode as <network>=<url>[,poll=MS]; repeatable; repeat a network to add a provider, or a transaction stream as grpcs://:KEY@host:port',
    'SLUICE_APTOS',
  ),
  repeatable(
    '--spam-list <id=file>',
    'File of spam contracts of a chain, one address per line; repeatable',
    'SLUICE_SPAM_LIST',
  ),
  repeatable(
    '--abi-url <id=url>',
    'Source of verified ABIs for a chain, with {address} as the placeholder; repeatable',
    'SLUICE_ABI_URL',
  ),
  repeatable(
    '--explorer <id=url>',
    'Block explorer of a chain, as <hexId>=<url> or aptos:<network>=<url>; repeatable',
    'SLUICE_EXPLORER',
    'those of known chains',
  ),
];

/** Flags for sending webhooks, and the hosts that they may reach. */
const webhookOptions = (): Option[] => [
  repeatable(
    '--allow-cidr <network>',
    'Allow webhooks to this private network; repeatable',
    'SLUICE_ALLOW_CIDR',
  ),
  option(
    '--allow-private-endpoints',
    'Allow webhooks to all networks, including loopback and private ones',
    ALLOW_PRIVATE,
  ).default(false),
  option(
    '--egress-proxy <url>',
    'Send webhooks through this HTTP or HTTPS proxy, which then decides which hosts are allowed; default: none',
    'SLUICE_EGRESS_PROXY',
  ),
  option(
    '--max-per-host <n>',
    'Maximum number of webhooks per second to one host, across all streams of this process; default: unlimited',
    'SLUICE_MAX_PER_HOST',
  ),
  option('--hide-secrets', 'Never return signing secrets except at creation', HIDE_SECRETS).default(
    false,
  ),
  option(
    '--no-test-webhook',
    'Accept webhook URLs that do not respond to the test webhook',
    NO_TEST_WEBHOOK,
  ),
  option(
    '--no-fast-retry',
    'Skip the quick first retry; use only the standard schedule',
    NO_FAST_RETRY,
  ),
];

/** Flags for retention, alerts, size limits and the log. */
const keepingOptions = (): Option[] => [
  option(
    '--keep-delivered <days>',
    'Days to keep delivered webhooks',
    'SLUICE_KEEP_DELIVERED',
  ).default('7'),
  option(
    '--keep-undelivered <days>',
    'Days to keep undelivered webhooks',
    'SLUICE_KEEP_UNDELIVERED',
  ).default('30'),
  option(
    '--terminate-after <hours>',
    'Hours in error after which a stream is terminated; default: never',
    'SLUICE_TERMINATE_AFTER',
  ),
  option('--notify-url <url>', 'POST alerts to this URL; default: none', 'SLUICE_NOTIFY_URL'),
  option(
    '--min-free-mib <n>',
    'Minimum free disk space for the ledger, in MiB; with less, no blocks are read',
    'SLUICE_MIN_FREE_MIB',
  ).default('512'),
  option(
    '--max-webhook-bytes <n>',
    'Maximum size of a webhook in bytes; a larger one is sent in parts',
    'SLUICE_MAX_WEBHOOK_BYTES',
  ).default(String(DEFAULT_MAX_WEBHOOK_BYTES)),
  option('--log-format <format>', 'Log format: text or json', 'SLUICE_LOG_FORMAT').default('text'),
];

export function addServiceOptions(command: Command, dataFolder: string): Command {
  // For a boolean flag, Commander treats any value of the variable as true.
  for (const variable of [ALLOW_PRIVATE, HIDE_SECRETS, NO_TEST_WEBHOOK, NO_FAST_RETRY]) {
    if (/^(|0|no|false|off)$/i.test(process.env[variable] ?? '')) delete process.env[variable];
  }
  const options = [
    ...processOptions(dataFolder),
    ...accessOptions(),
    ...chainOptions(),
    ...webhookOptions(),
    ...keepingOptions(),
  ];
  for (const each of options) command.addOption(each);
  return command;
}

/** Parses a number of at least `least`. Throws a CallerError that names the flag. */
function toNumber(flag: string, text: string, least: number): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least) return number;
  throw configError(`${flag} ${text}: should be a number of at least ${least}`);
}

const ALLOW_PRIVATE = 'SLUICE_ALLOW_PRIVATE_ENDPOINTS';
const HIDE_SECRETS = 'SLUICE_HIDE_SECRETS';
const NO_TEST_WEBHOOK = 'SLUICE_NO_TEST_WEBHOOK';
const NO_FAST_RETRY = 'SLUICE_NO_FAST_RETRY';

/** Converts the flags to settings. Throws a CallerError that names the flag and the fix. */
export function toServiceConfig(options: ServiceOptions): ServiceConfig {
  return {
    roles: parseRoles(options.role),
    port: /^\d+$/.test(options.port) ? Number(options.port) : Number.NaN,
    host: options.host,
    dataFolder: options.data,
    databaseUrl: options.databaseUrl,
    apiKey: options.apiKey,
    secret: options.secret,
    masterKey: process.env['SLUICE_MASTER_KEY'],
    masterKeyFile: options.masterKeyFile,
    trustProxy: options.trustProxy,
    allowHosts: options.allowHost,
    corsOrigins: options.corsOrigin,
    rateLimit: toNumber('--rate-limit', options.rateLimit, 0),
    chains: parseChains(options.chain),
    aptos: parseAptos(options.aptos),
    spamLists: readSpamLists(options.spamList),
    abiUrls: parseAbiUrls(options.abiUrl),
    explorers: parseExplorers(options.explorer),
    allowCidrs: options.allowCidr,
    allowPrivateEndpoints: options.allowPrivateEndpoints,
    egressProxy: options.egressProxy,
    maxPerHost:
      options.maxPerHost === undefined
        ? undefined
        : toNumber('--max-per-host', options.maxPerHost, 0.01),
    hideSecrets: options.hideSecrets,
    testWebhook: options.testWebhook,
    fastRetry: options.fastRetry,
    retention: {
      deliveredDays: toNumber('--keep-delivered', options.keepDelivered, 0.01),
      undeliveredDays: toNumber('--keep-undelivered', options.keepUndelivered, 0.01),
      minFreeBytes: toNumber('--min-free-mib', options.minFreeMib, 0) * 1024 * 1024,
    },
    maxWebhookBytes: toNumber('--max-webhook-bytes', options.maxWebhookBytes, 1024),
    notifyUrl: options.notifyUrl,
    terminateAfterHours:
      options.terminateAfter === undefined
        ? undefined
        : toNumber('--terminate-after', options.terminateAfter, 0.01),
    logFormat: parseLogFormat(options.logFormat),
    consoleFolder: findConsole(),
  };
}
