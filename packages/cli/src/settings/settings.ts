/**
 * All settings of a service, each declared once. The flags, the environment variables, the settings
 * file, its JSON Schema and `sluice config print` are derived from this declaration.
 */
import { APTOS_NETWORKS, DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import { LOG_FORMATS, ROLES } from '@sluice/service';

/** A JSON Schema of one value. */
export type ValueSchema = Readonly<Record<string, unknown>>;

export interface Setting {
  /**
   * The flag and its placeholder, such as `--port <port>`. A switch that starts with `--no-` turns
   * its field off.
   */
  readonly flags: string;
  readonly description: string;
  /** Environment variable for the same setting; the items of a list are separated by spaces. */
  readonly variable: string;
  /** Default of a single value; a list is empty by default. */
  readonly default?: string;
  /** Default of a list, as shown in help; `none` if omitted. */
  readonly shownDefault?: string;
  readonly shape: Shape;
  /** Whether the complete value is a secret. Secrets in URLs are detected automatically. */
  readonly isSecret?: true;
}

/**
 * Shape of a setting in the settings file. On the command line, every value except a switch is a
 * string.
 */
export type Shape =
  | { readonly kind: 'switch' }
  | { readonly kind: 'number'; readonly least: number; readonly most?: number; isWhole?: true }
  /** A string. With `isPath`, a path; in the settings file, it is relative to the file's folder. */
  | { readonly kind: 'text'; readonly schema?: ValueSchema; readonly isPath?: true }
  | { readonly kind: 'list'; readonly schema?: ValueSchema }
  /** A string per chain; on the command line, `<chain>=<text>`. */
  | { readonly kind: 'byChain'; readonly isPath?: true }
  /** Nodes and options per chain; on the command line, `<chain>=<url>[,option=value]`. */
  | {
      readonly kind: 'nodes';
      readonly chains?: readonly string[];
      readonly options: Readonly<Record<string, ValueSchema>>;
    };

const POLL = {
  type: 'integer',
  minimum: 20,
  description: 'Milliseconds between polls of the head',
} as const;

/** All settings, by their field in the settings file. */
export const SETTINGS = {
  port: {
    flags: '--port <port>',
    description: 'Port to listen on; 0 for any free port',
    variable: 'SLUICE_PORT',
    default: '4400',
    shape: { kind: 'number', least: 0, most: 65_535, isWhole: true },
  },
  host: {
    flags: '--host <host>',
    description: 'Address to listen on',
    variable: 'SLUICE_HOST',
    default: '127.0.0.1',
    shape: { kind: 'text' },
  },
  data: {
    flags: '--data <dir>',
    description: 'Data folder, for the SQLite ledger and the generated master key',
    variable: 'SLUICE_DATA',
    default: '.sluice/data',
    shape: { kind: 'text', isPath: true },
  },
  databaseUrl: {
    flags: '--database-url <url>',
    description: 'URL of a PostgreSQL database to use instead of SQLite',
    variable: 'SLUICE_DATABASE_URL',
    shape: { kind: 'text' },
  },
  roles: {
    flags: '--role <role>',
    description:
      'Role of this process: ingest, deliver, api or all; repeatable; a subset requires --database-url',
    variable: 'SLUICE_ROLE',
    shownDefault: 'all',
    shape: { kind: 'list', schema: { enum: [...ROLES, 'all'] } },
  },
  apiKey: {
    flags: '--api-key <key>',
    description: 'API key, at least 16 characters; default: generated',
    variable: 'SLUICE_API_KEY',
    shape: { kind: 'text' },
    isSecret: true,
  },
  secret: {
    flags: '--secret <secret>',
    description: 'Streams secret, which signs webhooks; default: generated',
    variable: 'SLUICE_SECRET',
    shape: { kind: 'text' },
    isSecret: true,
  },
  masterKeyFile: {
    flags: '--master-key-file <file>',
    description:
      'File with the key that encrypts secrets in the ledger; default: SLUICE_MASTER_KEY, or a key generated in the data folder',
    variable: 'SLUICE_MASTER_KEY_FILE',
    shape: { kind: 'text', isPath: true },
  },
  trustProxy: {
    flags: '--trust-proxy <n|network>',
    description: 'Number of trusted proxies in front of the service, or their networks; repeatable',
    variable: 'SLUICE_TRUST_PROXY',
    shape: { kind: 'list', schema: { type: ['string', 'integer'] } },
  },
  allowHosts: {
    flags: '--allow-host <name>',
    description: 'Accept requests for this host name; repeatable',
    variable: 'SLUICE_ALLOW_HOST',
    shownDefault: 'loopback names on loopback, otherwise any',
    shape: { kind: 'list' },
  },
  corsOrigins: {
    flags: '--cors-origin <origin>',
    description: 'Let web pages of this origin call the API with a key; repeatable',
    variable: 'SLUICE_CORS_ORIGIN',
    shape: { kind: 'list' },
  },
  rateLimit: {
    flags: '--rate-limit <n>',
    description:
      'Average calls per second allowed for each API key; without a key, each address gets a fifth; 0 for unlimited',
    variable: 'SLUICE_RATE_LIMIT',
    default: '500',
    shape: { kind: 'number', least: 0 },
  },
  chains: {
    flags: '--chain <id=url>',
    description:
      'EVM chain as <hexId>=<rpcUrl>[,confirmations=N|finalized][,poll=MS][,trust=evidence|strict|node][,operator=NAME][,ranges=verified]; repeatable; repeat an ID to add a node',
    variable: 'SLUICE_CHAIN',
    shape: {
      kind: 'nodes',
      options: {
        confirmations: {
          anyOf: [{ type: 'integer', minimum: 0 }, { const: 'finalized' }],
          description:
            'Number of blocks that must follow before a match is confirmed, or "finalized" for the finality that the chain reports',
        },
        poll: POLL,
        trust: {
          enum: ['evidence', 'strict', 'node'],
          description:
            'The evidence that a block needs: what the nodes offer (default), proofs, or the word of a node',
        },
        operator: {
          type: 'string',
          minLength: 1,
          description:
            'The operator of this node; nodes of one operator count as one witness. Default: the domain of the URL',
        },
        accept: {
          const: 'unverified',
          deprecated: true,
          description: 'Now trust: evidence',
        },
        proof: {
          enum: ['on', 'off'],
          deprecated: true,
          description: 'Now trust: strict, or trust: node',
        },
        verify: { const: 'headers', deprecated: true, description: 'Now ranges: verified' },
        ranges: {
          const: 'verified',
          description: 'Verifies log searches by reading the header of every searched block',
        },
      },
    },
  },
  settle: {
    flags: '--settle <s>',
    description:
      'Seconds for which a single node must return the same content of a block that is not proven, before it is accepted',
    variable: 'SLUICE_SETTLE',
    default: '120',
    shape: { kind: 'number', least: 0 },
  },
  aptos: {
    flags: '--aptos <network=url>',
    description:
      'Aptos fullnode as <network>=<url>[,poll=MS]; repeatable; repeat a network to add a fullnode, or a transaction stream as grpcs://:KEY@host:port',
    variable: 'SLUICE_APTOS',
    shape: { kind: 'nodes', chains: APTOS_NETWORKS, options: { poll: POLL } },
  },
  spamLists: {
    flags: '--spam-list <id=file>',
    description: 'File with the spam contracts of a chain, one address per line; repeatable',
    variable: 'SLUICE_SPAM_LIST',
    shape: { kind: 'byChain', isPath: true },
  },
  abiUrls: {
    flags: '--abi-url <id=url>',
    description: "URL of a chain's ABI source, with {address} in place of the contract; repeatable",
    variable: 'SLUICE_ABI_URL',
    shape: { kind: 'byChain' },
  },
  explorers: {
    flags: '--explorer <id=url>',
    description: 'Block explorer of a chain, as <hexId>=<url> or aptos:<network>=<url>; repeatable',
    variable: 'SLUICE_EXPLORER',
    shownDefault: 'those of known chains',
    shape: { kind: 'byChain' },
  },
  allowCidrs: {
    flags: '--allow-cidr <network>',
    description:
      'Allow webhooks, token requests, added nodes and added alert URLs in this private network; repeatable',
    variable: 'SLUICE_ALLOW_CIDR',
    shape: { kind: 'list' },
  },
  allowPrivateEndpoints: {
    flags: '--allow-private-endpoints',
    description:
      'Allow webhooks, token requests and added alert URLs in all networks, including loopback and private ones, and added nodes in all except link-local ones and metadata services',
    variable: 'SLUICE_ALLOW_PRIVATE_ENDPOINTS',
    shape: { kind: 'switch' },
  },
  allowNodeChanges: {
    flags: '--allow-node-changes',
    description: 'Allow keys with settings:admin to add and remove nodes and alert URLs',
    variable: 'SLUICE_ALLOW_NODE_CHANGES',
    shape: { kind: 'switch' },
  },
  egressProxy: {
    flags: '--egress-proxy <url>',
    description:
      'Send webhooks, token requests, and alerts to added URLs through this HTTP or HTTPS proxy, which then resolves names and connects; default: none',
    variable: 'SLUICE_EGRESS_PROXY',
    shape: { kind: 'text' },
  },
  clientCert: {
    flags: '--client-cert <file>',
    description:
      'Certificate in PEM for receivers that request one (mutual TLS), read again when it changes; default: none',
    variable: 'SLUICE_CLIENT_CERT',
    shape: { kind: 'text', isPath: true },
  },
  clientKey: {
    flags: '--client-key <file>',
    description: 'Key of --client-cert in PEM, not encrypted',
    variable: 'SLUICE_CLIENT_KEY',
    shape: { kind: 'text', isPath: true },
  },
  httpsOnly: {
    flags: '--https-only',
    description:
      'Allow only https: for webhook URLs, token URLs and added alert URLs; deliveries to http: URLs are kept but not sent',
    variable: 'SLUICE_HTTPS_ONLY',
    shape: { kind: 'switch' },
  },
  maxPerHost: {
    flags: '--max-per-host <n>',
    description:
      'Maximum number of webhooks per second to one host, across all streams of this process; default: unlimited',
    variable: 'SLUICE_MAX_PER_HOST',
    shape: { kind: 'number', least: 0.01 },
  },
  hideSecrets: {
    flags: '--hide-secrets',
    description: 'Never return signing secrets except at creation',
    variable: 'SLUICE_HIDE_SECRETS',
    shape: { kind: 'switch' },
  },
  testWebhook: {
    flags: '--no-test-webhook',
    description: 'Accept webhook URLs without sending a test webhook',
    variable: 'SLUICE_NO_TEST_WEBHOOK',
    shape: { kind: 'switch' },
  },
  fastRetry: {
    flags: '--no-fast-retry',
    description: 'Skip the fast first retry; use only the standard schedule',
    variable: 'SLUICE_NO_FAST_RETRY',
    shape: { kind: 'switch' },
  },
  keepDelivered: {
    flags: '--keep-delivered <days>',
    description: 'Days to keep deliveries that succeeded or were canceled',
    variable: 'SLUICE_KEEP_DELIVERED',
    default: '7',
    shape: { kind: 'number', least: 0.01 },
  },
  keepUndelivered: {
    flags: '--keep-undelivered <days>',
    description: 'Days to keep deliveries that neither succeeded nor were canceled',
    variable: 'SLUICE_KEEP_UNDELIVERED',
    default: '30',
    shape: { kind: 'number', least: 0.01 },
  },
  terminateAfter: {
    flags: '--terminate-after <hours>',
    description: 'Hours in error after which a stream is terminated; default: never',
    variable: 'SLUICE_TERMINATE_AFTER',
    shape: { kind: 'number', least: 0.01 },
  },
  notifyUrl: {
    flags: '--notify-url <url>',
    description: 'POST alerts to this URL; default: none',
    variable: 'SLUICE_NOTIFY_URL',
    shape: { kind: 'text' },
  },
  minFreeMib: {
    flags: '--min-free-mib <n>',
    description:
      'Minimum free disk space for a SQLite ledger, in MiB; with less, no blocks are read',
    variable: 'SLUICE_MIN_FREE_MIB',
    default: '512',
    shape: { kind: 'number', least: 0 },
  },
  maxWebhookBytes: {
    flags: '--max-webhook-bytes <n>',
    description: 'Maximum size of a webhook in bytes; a larger one is sent in parts',
    variable: 'SLUICE_MAX_WEBHOOK_BYTES',
    default: String(DEFAULT_MAX_WEBHOOK_BYTES),
    shape: { kind: 'number', least: 1024 },
  },
  omitRecentFields: {
    flags: '--omit-recent-fields',
    description:
      'Send EVM webhooks without triggered_by and transactionFee, as the hosted service did before 2025',
    variable: 'SLUICE_OMIT_RECENT_FIELDS',
    shape: { kind: 'switch' },
  },
  logFormat: {
    flags: '--log-format <format>',
    description: 'Log format: text or json',
    variable: 'SLUICE_LOG_FORMAT',
    default: 'text',
    shape: { kind: 'text', schema: { enum: LOG_FORMATS } },
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type Field = keyof typeof SETTINGS;
export const FIELDS = Object.keys(SETTINGS) as Field[];
export const settingOf = (field: Field): Setting => SETTINGS[field];

type ValueOf<S extends Setting> = S['shape']['kind'] extends 'switch'
  ? boolean
  : S['shape']['kind'] extends 'text' | 'number'
    ? S extends { default: string }
      ? string
      : string | undefined
    : string[];

/**
 * Values of all settings in the form of the command line: strings, lists of strings, or booleans
 * for switches.
 */
export type SettingValues = { [F in Field]: ValueOf<(typeof SETTINGS)[F]> };
