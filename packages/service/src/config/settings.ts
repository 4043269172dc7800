/**
 * All settings of a service, a row each. From a row come the flag, the environment variable, the
 * field in `sluice.yaml` and its JSON Schema, the default, the checks, and the property of
 * `ServiceConfig`.
 */
import { DEFAULT_MAX_WEBHOOK_BYTES, toAnyChainId } from '@sluice/kit/contract';
import * as z from 'zod';
import { networkProblem } from '../base/cidr.ts';
import { hostNameProblem, originProblem } from '../base/hostNames.ts';
import { LOG_FORMATS } from '../base/log.ts';
import { APTOS_SETTINGS } from '../families/aptos/config/settings.ts';
import { EVM_SETTINGS } from '../families/evm/config/settings.ts';
import { ROLES, readRoles } from './roles.ts';
import {
  type Setting,
  type SettingTable,
  checkedText,
  httpUrl,
  offByDefault,
  textByChain,
} from './setting.ts';
import { readUrlsByChain } from './urlsByChain.ts';

const API_KEY_MIN_LENGTH = 16;

/** The number of proxies in front of the service, from 1 to 99, or their networks. */
const trustedProxies = z
  .array(z.union([z.string(), z.int()]).transform(String))
  .superRefine((texts, context) => {
    if (texts.length === 1 && /^[1-9]\d?$/.test(texts[0]!)) return;
    for (const [n, text] of texts.entries()) {
      const message = networkProblem(text);
      if (message !== undefined) context.addIssue({ code: 'custom', message, path: [n] });
    }
  })
  .default([]);

/** All settings, by their field in `sluice.yaml`. */
export const SETTINGS = {
  port: {
    flags: '--port <port>',
    description: 'Port to listen on; 0 for any free port',
    type: z.int().min(0).max(65_535).default(4400),
  },
  host: {
    flags: '--host <host>',
    description: 'Address to listen on',
    type: z.string().default('127.0.0.1'),
  },
  data: {
    flags: '--data <dir>',
    description: 'Data folder, for the SQLite ledger and the generated master key',
    type: z.string().default('.sluice/data'),
    isPath: true,
  },
  databaseUrl: {
    flags: '--database-url <url>',
    description: 'URL of a PostgreSQL database to use instead of SQLite',
    type: checkedText((url) =>
      /^postgres(ql)?:\/\//.test(url)
        ? undefined
        : 'should be a postgres:// URL; leave it out for SQLite in the data folder',
    ).optional(),
  },
  roles: {
    flags: '--role <role>',
    description:
      'Role of this process: ingest, deliver, api or all; repeatable; a subset requires --database-url',
    type: z.array(z.enum([...ROLES, 'all'])).default([]),
    read: readRoles,
    shownDefault: 'all',
  },
  apiKey: {
    flags: '--api-key <key>',
    description: 'API key, at least 16 characters; default: generated',
    type: checkedText((key) =>
      key.length >= API_KEY_MIN_LENGTH
        ? undefined
        : `should have at least ${API_KEY_MIN_LENGTH} characters; this one has ${key.length}`,
    ).optional(),
    isSecret: true,
  },
  secret: {
    flags: '--secret <secret>',
    description: 'Streams secret, which signs webhooks; default: generated',
    type: z.string().min(1, 'should not be empty; leave it out to have one generated').optional(),
    isSecret: true,
  },
  masterKeyFile: {
    flags: '--master-key-file <file>',
    description:
      'File with the key that encrypts secrets in the ledger; default: SLUICE_MASTER_KEY, or a key generated in the data folder',
    type: z.string().optional(),
    isPath: true,
  },
  trustProxy: {
    flags: '--trust-proxy <n|network>',
    description: 'Number of trusted proxies in front of the service, or their networks; repeatable',
    type: trustedProxies,
  },
  allowHosts: {
    flags: '--allow-host <name>',
    description: 'Accept requests for this host name; repeatable',
    type: z.array(checkedText(hostNameProblem)).default([]),
    shownDefault: 'loopback names on loopback, otherwise any',
  },
  corsOrigins: {
    flags: '--cors-origin <origin>',
    description: 'Let web pages of this origin call the API with a key; repeatable',
    type: z.array(checkedText(originProblem)).default([]),
  },
  rateLimit: {
    flags: '--rate-limit <n>',
    description:
      'Average calls per second allowed for each API key; without a key, each address gets a fifth; 0 for unlimited',
    type: z.number().min(0).default(500),
  },
  ...EVM_SETTINGS,
  ...APTOS_SETTINGS,
  explorers: {
    flags: '--explorer <id=url>',
    description: 'Block explorer of a chain, as <hexId>=<url> or aptos:<network>=<url>; repeatable',
    type: textByChain,
    read: (texts: readonly string[]) =>
      readUrlsByChain(texts, {
        toId: toAnyChainId,
        form: '<hexId>=<http or https URL> or aptos:<network>=<URL>, e.g. 0x1=https://eth.blockscout.com',
      }),
    shownDefault: 'those of known chains',
  },
  allowCidrs: {
    flags: '--allow-cidr <network>',
    description:
      'Allow webhooks, token requests, added nodes and added alert URLs in this private network; repeatable',
    type: z.array(checkedText(networkProblem)).default([]),
  },
  allowPrivateEndpoints: {
    flags: '--allow-private-endpoints',
    description:
      'Allow webhooks, token requests and added alert URLs in all networks, including loopback and private ones, and added nodes in all except link-local ones and metadata services',
    type: offByDefault,
  },
  allowNodeChanges: {
    flags: '--allow-node-changes',
    description: 'Allow keys with settings:admin to add and remove nodes and alert URLs',
    type: offByDefault,
  },
  egressProxy: {
    flags: '--egress-proxy <url>',
    description:
      'Send webhooks, token requests, and alerts to added URLs through this HTTP or HTTPS proxy, which then resolves names and connects; default: none',
    type: httpUrl.optional(),
  },
  clientCert: {
    flags: '--client-cert <file>',
    description:
      'Certificate in PEM for receivers that request one (mutual TLS), read again when it changes; default: none',
    type: z.string().optional(),
    isPath: true,
  },
  clientKey: {
    flags: '--client-key <file>',
    description: 'Key of --client-cert in PEM, not encrypted',
    type: z.string().optional(),
    isPath: true,
  },
  httpsOnly: {
    flags: '--https-only',
    description:
      'Allow only https: for webhook URLs, token URLs and added alert URLs; deliveries to http: URLs are kept but not sent',
    type: offByDefault,
  },
  maxPerHost: {
    flags: '--max-per-host <n>',
    description:
      'Maximum number of webhooks per second to one host, across all streams of this process; default: unlimited',
    type: z.number().min(0.01).optional(),
  },
  maxTimeoutSeconds: {
    flags: '--max-timeout-seconds <n>',
    description: 'Maximum time for an attempt of a webhook in seconds, whatever its stream sets',
    type: z.number().min(1).max(60).default(60),
  },
  hideSecrets: {
    flags: '--hide-secrets',
    description: 'Never return signing secrets except at creation',
    type: offByDefault,
  },
  testWebhook: {
    flags: '--no-test-webhook',
    description: 'Accept webhook URLs without sending a test webhook',
    type: z.boolean().default(true),
  },
  fastRetry: {
    flags: '--no-fast-retry',
    description: 'Skip the fast first retry; use only the standard schedule',
    type: z.boolean().default(true),
  },
  keepDelivered: {
    flags: '--keep-delivered <days>',
    description: 'Days to keep deliveries that succeeded or were canceled',
    type: z.number().min(0.01).default(7),
  },
  keepUndelivered: {
    flags: '--keep-undelivered <days>',
    description: 'Days to keep deliveries that neither succeeded nor were canceled',
    type: z.number().min(0.01).default(30),
  },
  terminateAfter: {
    flags: '--terminate-after <hours>',
    description: 'Hours in error after which a stream is terminated; default: never',
    type: z.number().min(0.01).optional(),
  },
  notifyUrl: {
    flags: '--notify-url <url>',
    description: 'POST alerts to this URL; default: none',
    type: httpUrl.optional(),
  },
  minFreeMib: {
    flags: '--min-free-mib <n>',
    description:
      'Minimum free disk space for a SQLite ledger, in MiB; with less, no blocks are read',
    type: z.number().min(0).default(512),
  },
  maxWebhookBytes: {
    flags: '--max-webhook-bytes <n>',
    description: 'Maximum size of a webhook in bytes; a larger one is sent in parts',
    type: z.number().min(1024).default(DEFAULT_MAX_WEBHOOK_BYTES),
  },
  logFormat: {
    flags: '--log-format <format>',
    description: 'Log format: text or json',
    type: z.enum(LOG_FORMATS, `should be one of ${LOG_FORMATS.join(', ')}`).default('text'),
  },
} as const satisfies SettingTable;

export type Field = keyof typeof SETTINGS;
export const FIELDS = Object.keys(SETTINGS) as Field[];

/** The value of a setting, as the service uses it. */
export type SettingValue<F extends Field> = (typeof SETTINGS)[F] extends {
  read(texts: readonly string[]): infer Value;
}
  ? Value
  : z.output<(typeof SETTINGS)[F]['type']>;

export const settingOf = (field: Field): Setting => SETTINGS[field];

/** Returns the flag of a setting, such as `--port`, for messages to operators. */
export const flagOf = (field: Field): string => SETTINGS[field].flags.split(' ', 1)[0]!;

/** Returns the environment variable of a setting, such as `SLUICE_PORT`. */
export const variableOf = (field: Field): string =>
  `SLUICE_${flagOf(field).slice('--'.length).replaceAll('-', '_').toUpperCase()}`;
