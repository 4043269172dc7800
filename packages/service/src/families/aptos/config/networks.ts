/** The nodes and options of Aptos networks. */
import { APTOS_NETWORKS, type AptosNetwork } from '@sluice/kit/contract';
import {
  type AddedNode,
  NODE_OPTIONS,
  readNodeOptions,
  splitNodeOptions,
} from '../../../config/nodes.ts';
import { InvalidValue } from '../../../config/setting.ts';

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
  /** Whether to follow a restarted network instead of halting. Default: if its nodes are local. */
  resetWhenReplaced?: boolean | undefined;
}

/** Default polling interval; each poll reads all new blocks, of which there are many. */
export const APTOS_POLL_MS = 500;

/** The options of a node that Aptos networks have. */
export const APTOS_OPTIONS = { poll: NODE_OPTIONS.poll };

/**
 * Reads networks from texts with one provider each: the REST API of a fullnode, or an additional
 * gRPC transaction stream.
 */
export function readNetworks(texts: readonly string[]): AptosConfig[] {
  const networks = new Map<AptosNetwork, AptosConfig & { streams: string[] }>();
  for (const text of texts) {
    const separator = text.indexOf('=');
    const name = text.slice(0, Math.max(0, separator));
    const network = APTOS_NETWORKS.find((each) => each === name);
    const { url, options } = splitNodeOptions(text.slice(separator + 1));
    const isStream = /^grpcs?:/.test(url);
    if (network === undefined || !URL.canParse(url) || !(isStream || /^https?:/.test(url))) {
      throw new InvalidValue(
        text,
        `should be <network>=<url>[,poll=MS] with a network of ${APTOS_NETWORKS.join(', ')}, ` +
          'e.g. testnet=https://fullnode.example.org/v1; a transaction stream is grpcs://:KEY@host:port',
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
      throw new InvalidValue(
        text,
        `this URL is given twice for ${network}; each provider should be a different node`,
      );
    }
    urls.push(url);
    const { poll } = readNodeOptions(APTOS_OPTIONS, {
      text,
      options,
      foreign: 'does not apply to Aptos, where every block is final',
    });
    if (poll !== undefined) config.pollMs = poll;
    networks.set(network, config);
  }
  for (const { network, urls, streams } of networks.values()) {
    if (urls.length > 0) continue;
    const [stream = ''] = streams;
    throw new InvalidValue(
      texts.find((text) => text.startsWith(`${network}=${stream}`))!,
      `a transaction stream contains only transactions. Add a fullnode's REST API: ${network}=https://fullnode.example.org/v1`,
      `${network}=${new URL(stream).protocol}//…`,
    );
  }
  return [...networks.values()];
}
