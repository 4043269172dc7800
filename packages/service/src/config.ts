/** The settings of a service, which are read once. Each setting has a working default. */
import { readFileSync } from 'node:fs';
import {
  APTOS_NETWORKS,
  type AptosNetwork,
  toAddress,
  toAptosChain,
  toChainId,
} from '@sluice/kit/contract';
import type { About } from '@sluice/kit/contract';
import { createCidrList } from './base/cidr.ts';
import { configError } from './base/errors.ts';
import { isHostName, isOrigin } from './base/hostNames.ts';
import { LOG_FORMATS, type LogFormat, describeError } from './base/log.ts';

export interface ChainConfig {
  /** Chain id in canonical hex. */
  id: string;
  /** URLs of one or more nodes; `http:`, `https:`, `ws:` or `wss:`. */
  urls: string[];
  /** Number of blocks that must follow, or `finalized` for the finality that the chain reports. */
  confirmations?: number | 'finalized' | undefined;
  /** Milliseconds between polls of the head. Default: adapts to the chain's block time. */
  pollMs?: number | undefined;
  /** Starts over when the chain was replaced; for local development chains. */
  resetWhenReplaced?: boolean | undefined;
  /** Accepts blocks of a single node that cannot be fully verified. Default: false. */
  acceptUnverified?: boolean | undefined;
  /** Whether blocks must be proven from their headers. Default: see `docs/nodes.md`. */
  proof?: 'on' | 'off' | undefined;
  /** Whether to read the header of every block that is searched by its logs. Default: false. */
  verifyHeaders?: boolean | undefined;
}

export interface AptosConfig {
  network: AptosNetwork;
  /** URLs of one or more fullnode REST APIs, in order of preference. */
  urls: string[];
  /** URLs of gRPC transaction streams to read from, `grpc:` or `grpcs:`. Default: none. */
  streams?: string[] | undefined;
  /** Milliseconds between polls of the head. */
  pollMs: number;
  /** Starts over when the chain was replaced; for local development chains. */
  resetWhenReplaced?: boolean | undefined;
}

/** Roles of a process: reading chains, sending webhooks, serving the API. */
export const ROLES = ['ingest', 'deliver', 'api'] as const;
export type Role = (typeof ROLES)[number];

export interface ServiceConfig {
  /**
   * Default: all. Fewer roles require `databaseUrl`, because a SQLite ledger belongs to one
   * process.
   */
  roles?: readonly Role[] | undefined;
  /** The environment that the console shows, to distinguish services. Default: prod. */
  environment?: About['environment'] | undefined;
  /** Port; 0 for any free port. */
  port: number;
  host: string;
  /** Folder of the SQLite ledger, and of the master key if none is given. */
  dataFolder: string;
  /** `postgres://…` instead of SQLite. */
  databaseUrl?: string | undefined;
  /**
   * API key of at least 16 characters. It is generated and printed once if none is given or stored.
   */
  apiKey?: string | undefined;
  /** The streams secret that signs webhooks. It is generated and stored if none is given. */
  secret?: string | undefined;
  /**
   * Key that encrypts the secrets in the ledger; see `parseMasterKeys`. Default: a key that is
   * created in the data folder.
   */
  masterKey?: string | undefined;
  /** A file with the master key, instead of `masterKey`. */
  masterKeyFile?: string | undefined;
  /** The number of proxies in front of the service, or their networks. Default: none. */
  trustProxy?: readonly string[] | undefined;
  /**
   * Allowed `Host` names, without port. Default: loopback names on loopback, elsewhere any name.
   */
  allowHosts?: readonly string[] | undefined;
  /**
   * Origins of pages that may call with a key, such as `https://app.example.com`. Default: none.
   */
  corsOrigins?: readonly string[] | undefined;
  /** Long-term calls per second of one API key; 0 for no limit. Default: 500. */
  rateLimit?: number | undefined;
  chains: ChainConfig[];
  /** Aptos networks that are read. */
  aptos: AptosConfig[];
  /** Contracts of possible spam by chain, in lowercase. */
  spamLists?: Readonly<Record<string, ReadonlySet<string>>> | undefined;
  /** URLs by chain that return the ABIs of verified contracts, with the placeholder `{address}`. */
  abiUrls?: Readonly<Record<string, string>> | undefined;
  /** Base URLs of block explorers by chain, in addition to those of known chains. */
  explorers?: Readonly<Record<string, string>> | undefined;
  /** Networks that webhooks may reach although they are not public. Default: none. */
  allowCidrs?: readonly string[] | undefined;
  /**
   * A proxy for webhooks and test webhooks, `http://[login@]host:port` or `https://…`; default:
   * none. It decides which networks webhooks may reach.
   */
  egressProxy?: string | undefined;
  /** Webhooks per second that this process sends to one host, for all streams. Default: no limit. */
  maxPerHost?: number | undefined;
  /** Never returns signing secrets except at creation. Default: false. */
  hideSecrets?: boolean | undefined;
  /** Lets webhooks reach every network, including loopback and private networks. */
  allowPrivateEndpoints: boolean;
  /**
   * Whether a stream's URL must accept a test webhook before the stream is accepted. Default: true.
   */
  testWebhook?: boolean | undefined;
  /** URL for alerts about streams, deliveries and chains. Default: none. */
  notifyUrl?: string | undefined;
  /**
   * Number of hours for which a stream may be in `error` before it is terminated. Default: never.
   */
  terminateAfterHours?: number | undefined;
  retention?: RetentionConfig | undefined;
  /** Size in bytes above which a body is sent in parts. Default: `DEFAULT_MAX_WEBHOOK_BYTES`. */
  maxWebhookBytes?: number | undefined;
  /** Format of the log on standard error. Default: `text`. */
  logFormat?: LogFormat | undefined;
  consoleFolder?: string | undefined;
  /** Waits between attempts in milliseconds. Default: the standard schedule. */
  schedule?: readonly number[] | undefined;
  /** Retries once before the schedule, 5 s after a connection error or a 5xx. Default: true. */
  fastRetry?: boolean | undefined;
}

/** Retention; see `store/upkeep/retentionWrites.ts`. */
export interface RetentionConfig {
  /**
   * Number of days for which deliveries are kept after they succeeded or were canceled. Default: 7.
   */
  deliveredDays?: number | undefined;
  /** Number of days for which undelivered deliveries are kept. Default: 30. */
  undeliveredDays?: number | undefined;
  /** Minimum free bytes on the ledger's disk; below it, no blocks are read. Default: 512 MiB. */
  minFreeBytes?: number | undefined;
}

/** WebSocket nodes push heads, so polling serves only as a watchdog. */
const WEB_SOCKET_POLL_MS = 5_000;
/** Aptos has several blocks per second, and each poll reads all new ones. */
const APTOS_POLL_MS = 500;
const MIN_POLL_MS = 20;

/** Parses `--chain <hexId>=<rpcUrl>[,option=value]`, one flag per provider. */
export function parseChains(texts: readonly string[]): ChainConfig[] {
  const chains = new Map<string, ChainConfig>();
  for (const text of texts) {
    const separator = text.indexOf('=');
    const id = toChainId(text.slice(0, Math.max(0, separator)));
    if (separator < 0 || id === undefined) {
      throw configError(
        `--chain ${text}: should be <hexId>=<rpcUrl>[,confirmations=N|finalized][,poll=MS][,accept=unverified][,proof=on|off][,verify=headers], e.g. --chain 0x1=https://rpc.example.org`,
      );
    }
    const { url, options } = splitOptions(text.slice(separator + 1));
    if (!URL.canParse(url) || !/^(https?|wss?):$/.test(new URL(url).protocol)) {
      throw configError(
        `--chain ${text}: ${JSON.stringify(url)} should be an http://, https://, ws:// or wss:// URL`,
      );
    }
    if (chains.get(id)?.urls.includes(url) === true) {
      throw configError(
        `--chain ${text}: this URL is given twice for ${id}; a second provider is another node`,
      );
    }
    const chain = chains.get(id) ?? startChain(id, url);
    chain.urls.push(url);
    for (const [name, value] of options) {
      if (name === 'confirmations' && value === 'finalized') {
        chain.confirmations = value;
        continue;
      }
      if (name === 'accept') {
        if (value !== 'unverified') {
          throw configError(`--chain ${text}: accept=${value} should be accept=unverified`);
        }
        chain.acceptUnverified = true;
        continue;
      }
      if (name === 'proof') {
        if (value !== 'on' && value !== 'off') {
          throw configError(`--chain ${text}: proof=${value} should be proof=on or proof=off`);
        }
        chain.proof = value;
        continue;
      }
      if (name === 'verify') {
        if (value !== 'headers') {
          throw configError(`--chain ${text}: verify=${value} should be verify=headers`);
        }
        chain.verifyHeaders = true;
        continue;
      }
      const number = Number(value);
      if (!Number.isSafeInteger(number) || number < 0) {
        throw configError(
          `--chain ${text}: ${name}=${value} should be a whole number${name === 'confirmations' ? ', or finalized' : ''}`,
        );
      }
      if (name === 'confirmations') chain.confirmations = number;
      else if (number >= MIN_POLL_MS) chain.pollMs = number;
      else
        throw configError(
          `--chain ${text}: poll=${value} should be at least ${MIN_POLL_MS} (milliseconds)`,
        );
    }
    chains.set(id, chain);
  }
  return [...chains.values()];
}

const startChain = (id: string, url: string): ChainConfig => ({
  id,
  urls: [],
  ...(/^wss?:/.test(url) && { pollMs: WEB_SOCKET_POLL_MS }),
});

/** Splits comma-separated options from the end of the URL, which may itself contain commas. */
function splitOptions(text: string): { url: string; options: [string, string][] } {
  const options: [string, string][] = [];
  let url = text;
  for (;;) {
    const at = url.lastIndexOf(',');
    const found = /^,(confirmations|poll|accept|proof|verify)=([^=]*)$/.exec(
      at < 0 ? '' : url.slice(at),
    );
    if (found === null) return { url, options: options.reverse() };
    url = url.slice(0, at);
    options.push([found[1]!, found[2]!]);
  }
}

/**
 * Parses `--aptos <network>=<url>[,poll=MS]`, one flag per provider: the REST API of a fullnode, or
 * an additional gRPC transaction stream.
 */
export function parseAptos(texts: readonly string[]): AptosConfig[] {
  const networks = new Map<AptosNetwork, AptosConfig & { streams: string[] }>();
  for (const text of texts) {
    const separator = text.indexOf('=');
    const name = text.slice(0, Math.max(0, separator));
    const network = APTOS_NETWORKS.find((each) => each === name);
    const { url, options } = splitOptions(text.slice(separator + 1));
    const isStream = /^grpcs?:/.test(url);
    if (network === undefined || !URL.canParse(url) || !(isStream || /^https?:/.test(url))) {
      throw configError(
        `--aptos ${text}: should be <network>=<url>[,poll=MS] with a network of ${APTOS_NETWORKS.join(', ')}, ` +
          'e.g. --aptos testnet=https://fullnode.example.org/v1; a transaction stream is grpcs://:KEY@host:port',
      );
    }
    const config = networks.get(network) ?? {
      network,
      urls: [],
      streams: [],
      pollMs: APTOS_POLL_MS,
    };
    const urls = isStream ? config.streams : config.urls;
    if (urls.includes(url)) {
      throw configError(
        `--aptos ${text}: this URL is given twice for ${network}; a second provider is another node`,
      );
    }
    urls.push(url);
    for (const [option, value] of options) {
      const pollMs = Number(value);
      if (option !== 'poll' || !Number.isSafeInteger(pollMs) || pollMs < MIN_POLL_MS) {
        throw configError(
          option === 'poll'
            ? `--aptos ${text}: poll=${value} should be at least ${MIN_POLL_MS} (milliseconds)`
            : `--aptos ${text}: ${option} does not apply to Aptos, where every block is final`,
        );
      }
      config.pollMs = pollMs;
    }
    networks.set(network, config);
  }
  for (const { network, urls, streams } of networks.values()) {
    if (urls.length > 0) continue;
    throw configError(
      `--aptos ${network}=${new URL(streams[0]!).protocol}//…: a transaction stream contains only transactions. ` +
        `Add a fullnode's REST API: --aptos ${network}=https://fullnode.example.org/v1`,
    );
  }
  return [...networks.values()];
}

/**
 * Reads `--spam-list <hexId>=<file>`: a contract address per line; `#` begins a comment. Lists for
 * the same chain are merged.
 */
export function readSpamLists(texts: readonly string[]): Record<string, Set<string>> {
  const lists: Record<string, Set<string>> = {};
  for (const text of texts) {
    const separator = text.indexOf('=');
    const id = toChainId(text.slice(0, Math.max(0, separator)));
    if (id === undefined) {
      throw configError(
        `--spam-list ${text}: should be <hexId>=<file>, e.g. --spam-list 0x1=spam.txt`,
      );
    }
    const list = (lists[id] ??= new Set());
    const lines = readLines(text, text.slice(separator + 1));
    for (const [n, line] of lines.entries()) {
      const entry = line.replace(/#.*/, '').trim();
      if (entry === '') continue;
      const address = toAddress(entry);
      if (address === undefined) {
        throw configError(
          `--spam-list ${text}: line ${n + 1}, ${JSON.stringify(entry)}, should be an address: 0x and 40 hex digits`,
        );
      }
      list.add(address);
    }
  }
  return lists;
}

function readLines(flag: string, path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch (error) {
    throw configError(`--spam-list ${flag}: cannot be read: ${describeError(error)}`);
  }
}

/** Parses `--abi-url <hexId>=<url with {address}>`. */
export const parseAbiUrls = (texts: readonly string[]): Record<string, string> =>
  parseUrlsByChain(texts, {
    flag: '--abi-url',
    toId: toChainId,
    isRight: (url) => url.includes('{address}'),
    form: '<hexId>=<http or https URL with {address}>, e.g. --abi-url 0x1=https://sourcify.dev/server/v2/contract/1/{address}?fields=abi',
  });

/** Parses `--explorer <hexId>=<url>` and `--explorer aptos:<network>=<url>`. */
export const parseExplorers = (texts: readonly string[]): Record<string, string> =>
  parseUrlsByChain(texts, {
    flag: '--explorer',
    toId: (text) =>
      APTOS_NETWORKS.some((network) => toAptosChain(network) === text) ? text : toChainId(text),
    isRight: () => true,
    form: '<hexId>=<http or https URL> or aptos:<network>=<URL>, e.g. --explorer 0x1=https://eth.blockscout.com',
  });

function parseUrlsByChain(
  texts: readonly string[],
  {
    flag,
    toId,
    isRight,
    form,
  }: {
    flag: string;
    toId(text: string): string | undefined;
    isRight(url: string): boolean;
    /** Expected form of the flag, with an example. */
    form: string;
  },
): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const text of texts) {
    const separator = Math.max(0, text.indexOf('='));
    const id = toId(text.slice(0, separator));
    const url = text.slice(separator + 1);
    const protocol = URL.parse(url)?.protocol;
    if (id === undefined || !isRight(url) || !/^https?:$/.test(protocol ?? '')) {
      // The message omits the URL, which may contain a key.
      throw configError(`${flag} ${id ?? text.slice(0, separator)}=…: should be ${form}`);
    }
    if (urls[id] !== undefined) throw configError(`${flag} ${id}=…: is given twice`);
    urls[id] = url;
  }
  return urls;
}

/** Parses `--role ingest|deliver|api|all`, which may be repeated. Default: all. */
export function parseRoles(texts: readonly string[]): Role[] {
  const roles = texts.flatMap((text) => {
    if (text === 'all') return ROLES;
    const role = ROLES.find((each) => each === text);
    if (role !== undefined) return role;
    throw configError(`--role ${text}: should be one of ${ROLES.join(', ')}, all`);
  });
  return ROLES.filter((role) => roles.length === 0 || roles.includes(role));
}

export function parseLogFormat(text: string): LogFormat {
  const format = LOG_FORMATS.find((each) => each === text);
  if (format !== undefined) return format;
  throw configError(`--log-format ${text}: should be one of ${LOG_FORMATS.join(', ')}`);
}

const API_KEY_MIN_LENGTH = 16;

/** @throws RangeError for a value that is neither a number of proxies nor a network. */
function checkTrustProxy(texts: readonly string[]): void {
  if (texts.length === 1 && /^[1-9]\d?$/.test(texts[0]!)) return;
  createCidrList(texts);
}

/** Throws a `CallerError` with code `usage` for the first invalid setting. */
export function checkConfig(config: ServiceConfig): void {
  if (!Number.isInteger(config.port) || config.port < 0 || config.port > 65_535) {
    throw configError(
      `--port ${config.port}: should be a whole number from 0 (any free port) to 65535`,
    );
  }
  if (config.apiKey !== undefined && config.apiKey.length < API_KEY_MIN_LENGTH) {
    throw configError(
      `--api-key: should have at least ${API_KEY_MIN_LENGTH} characters, this one has ${config.apiKey.length}`,
    );
  }
  if (config.secret !== undefined && config.secret === '') {
    throw configError('--secret: should not be empty; leave it out to have one generated');
  }
  checkNetworks('--allow-cidr', () => createCidrList(config.allowCidrs ?? []));
  checkNetworks('--trust-proxy', () => checkTrustProxy(config.trustProxy ?? []));
  for (const text of config.allowHosts ?? []) {
    if (isHostName(text)) continue;
    throw configError(
      `--allow-host ${text}: should be a host name or IP address alone, without scheme and port, such as sluice.example.com`,
    );
  }
  for (const text of config.corsOrigins ?? []) {
    if (isOrigin(text)) continue;
    throw configError(
      `--cors-origin ${text}: should be an origin as a browser names it, scheme, host and port alone, such as https://app.example.com`,
    );
  }
  const roles = config.roles ?? ROLES;
  if (roles.length < ROLES.length && config.databaseUrl === undefined) {
    throw configError(
      `--role ${roles.join(' --role ')}: needs --database-url: a SQLite ledger belongs to one process, which does everything`,
    );
  }
  if (!roles.includes('deliver') && !roles.includes('api') && !hasChains(config)) {
    throw configError('--role ingest: needs a --chain or --aptos to read');
  }
  for (const [flag, url] of [
    ['--notify-url', config.notifyUrl],
    ['--egress-proxy', config.egressProxy],
  ] as const) {
    if (url === undefined || (URL.canParse(url) && /^https?:/i.test(url))) continue;
    throw configError(`${flag} ${url}: should be an absolute http:// or https:// URL`);
  }
  if (config.databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(config.databaseUrl)) {
    throw configError(
      '--database-url: should be a postgres:// URL; leave it out for SQLite in the data folder',
    );
  }
}

function checkNetworks(flag: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw configError(`${flag}: ${describeError(error)}`);
  }
}

const hasChains = ({ chains, aptos }: ServiceConfig): boolean => chains.length + aptos.length > 0;
