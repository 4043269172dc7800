/** The flags of a service, the same for every command that starts one, each with its variable. */
import { type Command, Option } from 'commander';
import { DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import {
  configError,
  type ServiceConfig,
  parseAbiUrls,
  parseAptos,
  parseChains,
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

/** A flag that may be repeated; in its variable the values stand with spaces between. */
export const repeatable = (flags: string, description: string, variable?: string): Option =>
  option(flags, description, variable)
    .default([], 'none')
    .argParser((value: string, before: string[] | undefined) => [
      ...(before ?? []),
      ...value.split(/\s+/).filter(Boolean),
    ]);

/** The process: where it listens, where its ledger is, what it does. */
const processOptions = (dataFolder: string): Option[] => [
  option('--port <port>', 'port to listen on, 0 for any', 'SLUICE_PORT').default('4400'),
  option('--host <host>', 'address to listen on', 'SLUICE_HOST').default('127.0.0.1'),
  option('--data <dir>', 'folder of the ledger', 'SLUICE_DATA').default(dataFolder),
  option('--database-url <url>', 'PostgreSQL instead of SQLite', 'SLUICE_DATABASE_URL'),
  repeatable(
    '--role <role>',
    'what this process does: ingest, deliver, api or all, repeatable; fewer than all need --database-url; default: all',
    'SLUICE_ROLE',
  ),
];

/** Who may call: keys, secrets, proxies and limits. */
const accessOptions = (): Option[] => [
  option('--api-key <key>', 'at least 16 characters; default: one is made', 'SLUICE_API_KEY'),
  option('--secret <secret>', 'streams secret; default: one is made', 'SLUICE_SECRET'),
  option(
    '--master-key-file <file>',
    'seals the secrets in the ledger; default: SLUICE_MASTER_KEY, or one made in the data folder',
    'SLUICE_MASTER_KEY_FILE',
  ),
  repeatable(
    '--trust-proxy <n|network>',
    'how many proxies stand in front, or their networks, repeatable',
    'SLUICE_TRUST_PROXY',
  ),
  repeatable(
    '--allow-host <name>',
    'a host name that requests may name, repeatable; default: on loopback its own, elsewhere any',
    'SLUICE_ALLOW_HOST',
  ),
  repeatable(
    '--cors-origin <origin>',
    'let pages of this origin call with a key, repeatable',
    'SLUICE_CORS_ORIGIN',
  ),
  option(
    '--rate-limit <n>',
    'calls per second of one API key; 0: no limits',
    'SLUICE_RATE_LIMIT',
  ).default('500'),
];

/** Chains, and what is read about their contracts. */
const chainOptions = (): Option[] => [
  repeatable(
    '--chain <id=url>',
    '<hexId>=<rpcUrl>[,confirmations=N|finalized][,poll=MS][,accept=unverified], repeatable; again for one id: another provider',
    'SLUICE_CHAIN',
  ),
  repeatable(
    '--aptos <network=url>',
    '<network>=<url>[,poll=MS], an Aptos fullnode, repeatable; again for one network: another provider, or a transaction stream, grpcs://:KEY@host:port',
    'SLUICE_APTOS',
  ),
  repeatable(
    '--spam-list <id=file>',
    'spam contracts of a chain, one address a line, repeatable',
    'SLUICE_SPAM_LIST',
  ),
  repeatable(
    '--abi-url <id=url>',
    'where ABIs of verified contracts of a chain are asked for, {address} in the place of the address, repeatable',
    'SLUICE_ABI_URL',
  ),
];

/** How webhooks are sent, and to which hosts. */
const webhookOptions = (): Option[] => [
  repeatable(
    '--allow-cidr <network>',
    'let webhooks reach this private network, repeatable',
    'SLUICE_ALLOW_CIDR',
  ),
  option(
    '--allow-private-endpoints',
    'let webhooks reach every network, loopback and private ones too',
    ALLOW_PRIVATE,
  ).default(false),
  option(
    '--egress-proxy <url>',
    'send webhooks through this proxy, http:// or https://, whose policy applies; default: none',
    'SLUICE_EGRESS_PROXY',
  ),
  option(
    '--max-per-host <n>',
    'webhooks per second to one host, of all streams of this process; default: any number',
    'SLUICE_MAX_PER_HOST',
  ),
  option(
    '--hide-secrets',
    'tell the secrets that sign webhooks to nobody, but a new one to who makes it',
    HIDE_SECRETS,
  ).default(false),
  option('--no-test-webhook', 'accept URLs that do not answer the test webhook', NO_TEST_WEBHOOK),
  option(
    '--no-fast-retry',
    "retry by the contract's schedule alone, without the quick retry before it",
    NO_FAST_RETRY,
  ),
];

/** Retention, alerts and the log. */
const keepingOptions = (): Option[] => [
  option(
    '--keep-delivered <days>',
    'how long delivered webhooks are kept',
    'SLUICE_KEEP_DELIVERED',
  ).default('7'),
  option(
    '--keep-undelivered <days>',
    'how long webhooks are kept that could not be delivered',
    'SLUICE_KEEP_UNDELIVERED',
  ).default('30'),
  option(
    '--terminate-after <hours>',
    'end streams that are in error for so long; default: never',
    'SLUICE_TERMINATE_AFTER',
  ),
  option(
    '--notify-url <url>',
    'where streams, deliveries and chains in trouble are told of; default: nowhere',
    'SLUICE_NOTIFY_URL',
  ),
  option(
    '--min-free-mib <n>',
    'free space on the disk of the ledger below which no blocks are taken in',
    'SLUICE_MIN_FREE_MIB',
  ).default('512'),
  option(
    '--max-webhook-bytes <n>',
    'largest webhook; a larger one is sent in parts',
    'SLUICE_MAX_WEBHOOK_BYTES',
  ).default(String(DEFAULT_MAX_WEBHOOK_BYTES)),
  option('--log-format <format>', 'text or json', 'SLUICE_LOG_FORMAT').default('text'),
];

export function addServiceOptions(command: Command, dataFolder: string): Command {
  // Commander takes any value of a flag's variable for yes.
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

/** A number of at least `least`; a CallerError that names the flag otherwise. */
function toNumber(flag: string, text: string, least: number): number {
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least) return number;
  throw configError(`${flag} ${text}: should be a number of at least ${least}`);
}

const ALLOW_PRIVATE = 'SLUICE_ALLOW_PRIVATE_ENDPOINTS';
const HIDE_SECRETS = 'SLUICE_HIDE_SECRETS';
const NO_TEST_WEBHOOK = 'SLUICE_NO_TEST_WEBHOOK';
const NO_FAST_RETRY = 'SLUICE_NO_FAST_RETRY';

/** The settings these flags stand for. Throws a CallerError that names the flag and the fix. */
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
