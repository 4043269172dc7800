/** Defines, parses and checks the settings of a service. */
import type { ChainTrust } from '@sluice/kit/contract';
import { readFileSync } from 'node:fs';
import {
  APTOS_NETWORKS,
  type AptosNetwork,
  toAddress,
  toAptosChain,
  toChainId,
} from '@sluice/kit/contract';
import type { ServiceDetails } from '@sluice/kit/contract';
import { createCidrList } from './base/cidr.ts';
import { CallerError, configError } from './base/errors.ts';
import { checkHostNames } from './base/hostNames.ts';
import { LOG_FORMATS, type LogFormat, describeError } from './base/log.ts';

/** A node that was added while the service ran; see `secrets/addedUrls.ts`. */
export interface AddedNode {
  id: string;
  url: string;
}

export interface ChainConfig {
  /** Chain id in canonical hex. */
  id: string;
  /** URLs of nodes: `http:`, `https:`, `ws:` or `wss:`. Empty if all nodes were added. */
  urls: string[];
  /** Nodes that were added while the service ran. Default: none. */
  addedNodes?: readonly AddedNode[] | undefined;
  /**
   * Number of blocks that must follow before a match is confirmed, or `finalized` to wait until the
   * chain reports the block as finalized. Default: the contract's number of confirmations for the
   * chain.
   */
  confirmations?: number | 'finalized' | undefined;
  /** Milliseconds between polls of the head. Default: adapted to the chain's block time. */
  pollMs?: number | undefined;
  /** Whether to follow a restarted chain instead of halting. Default: if its nodes are local. */
  resetWhenReplaced?: boolean | undefined;
  /** The evidence that a block needs. Default: `evidence`. */
  trust?: ChainTrust | undefined;
  /** Operators of nodes by URL, if not evident from the host. Default: none. */
  operators?: Readonly<Record<string, string>> | undefined;
  /** Whether searches by logs also read the header of every block. Default: false. */
  verifyHeaders?: boolean | undefined;
  /** Messages about options that will be removed. Default: none. */
  warnings?: readonly string[] | undefined;
}

export interface AptosConfig {
  network: AptosNetwork;
  /** URLs of configured fullnode REST APIs, in order of preference; empty if all were added. */
  urls: string[];
  /** Fullnodes that were added while the service ran. Default: none. */
  addedNodes?: readonly AddedNode[] | undefined;
  /** URLs of gRPC transaction streams to read from, `grpc:` or `grpcs:`. Default: none. */
  streams?: string[] | undefined;
  /** Milliseconds between polls of the head. */
  pollMs: number;
  /** As for an EVM chain. */
  resetWhenReplaced?: boolean | undefined;
}

/** Roles of a process: reading chains, sending webhooks, serving the API. */
export const ROLES = ['ingest', 'deliver', 'api'] as const;
export type Role = (typeof ROLES)[number];

export interface ServiceConfig {
  /**
   * Roles of the process. Default: all. A subset requires `databaseUrl`, because a SQLite ledger
   * belongs to one process.
   */
  roles?: readonly Role[] | undefined;
  /** The environment that the console shows, to distinguish services. Default: prod. */
  environment?: ServiceDetails['environment'] | undefined;
  /** Port to listen on; 0 for any free port. */
  port: number;
  host: string;
  /** Folder of the SQLite ledger, and of the master key if none is given. */
  dataFolder: string;
  /** `postgres://…` URL of the ledger. Default: SQLite in `dataFolder`. */
  databaseUrl?: string | undefined;
  /**
   * API key of at least 16 characters. If none is given or stored, a process with the role `api`
   * generates and prints one.
   */
  apiKey?: string | undefined;
  /** The streams secret that signs webhooks. It is generated and stored if none is given. */
  secret?: string | undefined;
  /**
   * One or more master keys that encrypt the secrets in the ledger, in the format of
   * `parseMasterKeys`. Default: a key that is created in the data folder.
   */
  masterKey?: string | undefined;
  /** File with the master keys. It takes precedence over `masterKey`. */
  masterKeyFile?: string | undefined;
  /** Trusted proxies: their number, from 1 to 99, or their networks. Default: none. */
  trustProxy?: readonly string[] | undefined;
  /**
   * Host names, without port, that requests may use. Default: only loopback names if the service
   * listens on loopback, otherwise any name.
   */
  allowHosts?: readonly string[] | undefined;
  /** Origins whose pages may call the API with a key, e.g. `https://app.example`. Default: none. */
  corsOrigins?: readonly string[] | undefined;
  /** Average calls per second that one API key may make; 0 for no limit. Default: 500. */
  rateLimit?: number | undefined;
  chains: ChainConfig[];
  /**
   * Milliseconds for which a single witness must return the same content of a block that is not
   * proven. Default: `DEFAULT_SETTLE_MS`.
   */
  settleMs?: number | undefined;
  /**
   * When a block with a failed check is read again: milliseconds after it was accepted. Default:
   * `READ_AGAIN_AFTER_MS`.
   */
  readAgainAfterMs?: readonly number[] | undefined;
  aptos: AptosConfig[];
  /** Addresses of possible spam contracts by chain, in lowercase. */
  spamLists?: Readonly<Record<string, ReadonlySet<string>>> | undefined;
  /** URLs by chain that return the ABI of a verified contract; `{address}` is replaced. */
  abiUrls?: Readonly<Record<string, string>> | undefined;
  /** Base URLs of block explorers by chain; they extend or replace the built-in ones. */
  explorers?: Readonly<Record<string, string>> | undefined;
  /**
   * Networks that are not public, but that webhooks, added nodes and added alert URLs may reach.
   * Default: none.
   */
  allowCidrs?: readonly string[] | undefined;
  /**
   * Proxy for webhooks, test webhooks and alerts to added URLs: `http://[login@]host:port` or
   * `https://…`. The proxy decides which networks they may reach. Default: none.
   */
  egressProxy?: string | undefined;
  /** Files with a certificate and its key, for receivers that request one. Default: none. */
  clientCertFile?: string | undefined;
  clientKeyFile?: string | undefined;
  /** Whether webhook URLs must start with `https:`. Default: false. */
  httpsOnly?: boolean | undefined;
  /**
   * Maximum number of webhooks per second that this process sends to one host, across all streams.
   * Default: no limit.
   */
  maxPerHost?: number | undefined;
  /** Whether signing secrets are returned only when they are created. Default: false. */
  hideSecrets?: boolean | undefined;
  /** Whether `settings:admin` keys may add and remove nodes and alert URLs. Default: false. */
  allowNodeChanges?: boolean | undefined;
  /**
   * Whether every network is allowed, including loopback and private ones, as if `allowCidrs`
   * listed it.
   */
  allowPrivateEndpoints: boolean;
  /** Whether a new webhook URL must accept a test webhook first. Default: true. */
  testWebhook?: boolean | undefined;
  /** URL to which alerts are sent. Default: none. */
  notifyUrl?: string | undefined;
  /** Number of hours in `error` after which a stream is terminated. Default: never. */
  terminateAfterHours?: number | undefined;
  retention?: RetentionConfig | undefined;
  /**
   * Maximum size of a webhook body in bytes; a larger match is split across several webhooks.
   * Default: `DEFAULT_MAX_WEBHOOK_BYTES`.
   */
  maxWebhookBytes?: number | undefined;
  /**
   * Whether EVM webhooks omit `triggered_by` and `transactionFee`, which hosted webhooks have since
   * 2025. Default: false.
   */
  omitRecentFields?: boolean | undefined;
  /** Format of the log on standard error. Default: `text`. */
  logFormat?: LogFormat | undefined;
  consoleFolder?: string | undefined;
  docsFolder?: string | undefined;
  /** Waits between attempts in milliseconds. Default: the standard schedule. */
  schedule?: readonly number[] | undefined;
  /**
   * Whether to retry once before the schedule: 5 s after a first attempt that got a 5xx or no
   * response. Default: true.
   */
  fastRetry?: boolean | undefined;
}

/** Retention of deliveries, and the disk space that must stay free. */
export interface RetentionConfig {
  /**
   * Number of days for which deliveries that succeeded or were canceled are kept, counted from
   * their creation. Default: 7.
   */
  deliveredDays?: number | undefined;
  /**
   * Number of days for which all other deliveries are kept, counted from their creation. Default:
   * 30.
   */
  undeliveredDays?: number | undefined;
  /** Minimum free bytes for a SQLite ledger; below it, no block is committed. Default: 512 MiB. */
  minFreeBytes?: number | undefined;
}

/** Polling interval for WebSocket nodes. They push heads, so polling serves only as a watchdog. */
const WEB_SOCKET_POLL_MS = 5_000;
/** Default polling interval for Aptos; each poll reads all new blocks, of which there are many. */
export const APTOS_POLL_MS = 500;
const MIN_POLL_MS = 20;

/** Parses `--chain <hexId>=<rpcUrl>[,option=value]`, one flag per provider. */
export function parseChains(texts: readonly string[]): ChainConfig[] {
  const chains = new Map<string, ChainConfig>();
  for (const text of texts) {
    const separator = text.indexOf('=');
    const id = toChainId(text.slice(0, Math.max(0, separator)));
    if (separator < 0 || id === undefined) {
      throw configError(
        `--chain ${text}: should be <hexId>=<rpcUrl>[,confirmations=N|finalized][,poll=MS][,trust=evidence|strict|node][,operator=NAME][,ranges=verified], e.g. --chain 0x1=https://rpc.example.org`,
      );
    }
    const { url, options } = splitNodeOptions(text.slice(separator + 1));
    if (!URL.canParse(url) || !/^(https?|wss?):$/.test(new URL(url).protocol)) {
      throw configError(
        `--chain ${text}: ${JSON.stringify(url)} should be an http://, https://, ws:// or wss:// URL`,
      );
    }
    if (chains.get(id)?.urls.includes(url) === true) {
      throw configError(
        `--chain ${text}: this URL is given twice for ${id}; each provider should be a different node`,
      );
    }
    const chain = chains.get(id) ?? startChain(id, url);
    chain.urls.push(url);
    for (const [name, value] of options) {
      const problem = OPTIONS[name](chain, value, url);
      if (problem !== undefined) {
        throw configError(`--chain ${text}: ${name}=${value} ${problem}`);
      }
    }
    chains.set(id, chain);
  }
  return [...chains.values()];
}

type NodeOption =
  | 'confirmations'
  | 'poll'
  | 'trust'
  | 'operator'
  | 'ranges'
  | 'accept'
  | 'proof'
  | 'verify';

const toWhole = (value: string): number | undefined =>
  /^\d{1,15}$/.test(value) ? Number(value) : undefined;

/** Applies the replacement of an option, and adds a warning. */
const renamed =
  (name: string, values: Readonly<Record<string, string>>, apply: NodeOption) =>
  (chain: ChainConfig, value: string, url: string): string | undefined => {
    const replacement = values[value];
    if (replacement === undefined) {
      return `should be ${name}=${Object.keys(values).join(` or ${name}=`)}`;
    }
    const text = `--chain ${chain.id}: ${name}=${value} is now ${apply}=${replacement}; the old option will be removed in the next release`;
    chain.warnings = [...(chain.warnings ?? []), text];
    return OPTIONS[apply](chain, replacement, url);
  };

/** Apply an option of `--chain`. Each returns what the value should be, if it is invalid. */
const OPTIONS: Readonly<
  Record<NodeOption, (chain: ChainConfig, value: string, url: string) => string | undefined>
> = {
  confirmations(chain, value) {
    const blocks = value === 'finalized' ? value : toWhole(value);
    if (blocks === undefined) return 'should be a whole number, or finalized';
    chain.confirmations = blocks;
    return undefined;
  },
  poll(chain, value) {
    const ms = toWhole(value);
    if (ms === undefined) return 'should be a whole number';
    if (ms < MIN_POLL_MS) return `should be at least ${MIN_POLL_MS} (milliseconds)`;
    chain.pollMs = ms;
    return undefined;
  },
  trust(chain, value) {
    if (value !== 'evidence' && value !== 'strict' && value !== 'node') {
      return 'should be trust=evidence, trust=strict or trust=node';
    }
    chain.trust = value;
    return undefined;
  },
  operator(chain, value, url) {
    if (value === '') return 'should name the operator of the node';
    chain.operators = { ...chain.operators, [url]: value };
    return undefined;
  },
  ranges(chain, value) {
    if (value !== 'verified') return 'should be ranges=verified';
    chain.verifyHeaders = true;
    return undefined;
  },
  accept: renamed('accept', { unverified: 'evidence' }, 'trust'),
  proof: renamed('proof', { on: 'strict', off: 'node' }, 'trust'),
  verify: renamed('verify', { headers: 'verified' }, 'ranges'),
};

/** Returns the default settings, without nodes, of a chain whose first node has this URL. */
export const startChain = (id: string, url: string): ChainConfig => ({
  id,
  urls: [],
  ...(/^wss?:/.test(url) && { pollMs: WEB_SOCKET_POLL_MS }),
});

/** Splits comma-separated options from the end of the URL, which may itself contain commas. */
export function splitNodeOptions(text: string): {
  url: string;
  options: [NodeOption, string][];
} {
  const options: [NodeOption, string][] = [];
  let url = text;
  for (;;) {
    const at = url.lastIndexOf(',');
    const found = /^,(confirmations|poll|trust|operator|ranges|accept|proof|verify)=([^=]*)$/.exec(
      at < 0 ? '' : url.slice(at),
    );
    if (found === null) return { url, options: options.reverse() };
    url = url.slice(0, at);
    options.push([found[1] as NodeOption, found[2]!]);
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
    const { url, options } = splitNodeOptions(text.slice(separator + 1));
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
        `--aptos ${text}: this URL is given twice for ${network}; each provider should be a different node`,
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
 * Reads the files of `--spam-list <hexId>=<file>`, which have one contract address per line; `#`
 * begins a comment. Lists for the same chain are merged.
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

/** Checks of settings, alone and together. Each throws a `CallerError` with code `usage`. */
const CHECKS: readonly ((config: ServiceConfig) => void)[] = [
  ({ port }) => {
    if (Number.isInteger(port) && port >= 0 && port <= 65_535) return;
    throw configError(`--port ${port}: should be a whole number from 0 (any free port) to 65535`);
  },
  ({ apiKey }) => {
    if (apiKey === undefined || apiKey.length >= API_KEY_MIN_LENGTH) return;
    throw configError(
      `--api-key: should have at least ${API_KEY_MIN_LENGTH} characters; this one has ${apiKey.length}`,
    );
  },
  ({ secret }) => {
    if (secret !== '') return;
    throw configError('--secret: should not be empty; leave it out to have one generated');
  },
  ({ allowCidrs = [] }) => checkNetworks('--allow-cidr', () => createCidrList(allowCidrs)),
  ({ trustProxy = [] }) => checkNetworks('--trust-proxy', () => checkTrustProxy(trustProxy)),
  checkHostNames,
  ({ roles = ROLES, databaseUrl }) => {
    if (roles.length === ROLES.length || databaseUrl !== undefined) return;
    throw configError(
      `--role ${roles.join(' --role ')}: needs --database-url, because a SQLite ledger belongs to one process, which needs all roles`,
    );
  },
  (config) => {
    const { roles = ROLES } = config;
    const readsOnly = !roles.includes('deliver') && !roles.includes('api');
    if (!readsOnly || hasChains(config) || config.allowNodeChanges === true) return;
    throw configError(
      '--role ingest: needs a chain to read; pass --chain, --aptos or --allow-node-changes',
    );
  },
  ({ notifyUrl }) => checkHttpUrl('--notify-url', notifyUrl),
  ({ egressProxy }) => checkHttpUrl('--egress-proxy', egressProxy),
  ({ databaseUrl }) => {
    if (databaseUrl === undefined || /^postgres(ql)?:\/\//.test(databaseUrl)) return;
    throw configError(
      '--database-url: should be a postgres:// URL; leave it out for SQLite in the data folder',
    );
  },
];

/** Returns the errors of all checks that fail, in a fixed order. */
export const findConfigErrors = (config: ServiceConfig): CallerError[] =>
  CHECKS.flatMap((check) => {
    try {
      check(config);
      return [];
    } catch (error) {
      if (error instanceof CallerError) return [error];
      throw error;
    }
  });

/** Throws a `CallerError` with code `usage` for the first invalid setting. */
export function checkConfig(config: ServiceConfig): void {
  const [first] = findConfigErrors(config);
  if (first !== undefined) throw first;
}

function checkHttpUrl(flag: string, url: string | undefined): void {
  if (url === undefined || (URL.canParse(url) && /^https?:/i.test(url))) return;
  throw configError(`${flag} ${url}: should be an absolute http:// or https:// URL`);
}

function checkNetworks(flag: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw configError(`${flag}: ${describeError(error)}`);
  }
}

const hasChains = ({ chains, aptos }: ServiceConfig): boolean => chains.length + aptos.length > 0;
