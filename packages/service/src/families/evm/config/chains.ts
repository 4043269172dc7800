/** The nodes and options of EVM chains. */
import { type ChainTrust, toChainId } from '@sluice/kit/contract';
import {
  type AddedNode,
  NODE_OPTIONS,
  readNodeOptions,
  splitNodeOptions,
} from '../../../config/nodes.ts';
import { InvalidValue } from '../../../config/setting.ts';

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
  /** Operators of nodes by URL, where the host of the URL does not tell. Default: none. */
  operators?: Readonly<Record<string, string>> | undefined;
  /** Whether searches by logs also read the header of every block. Default: false. */
  verifyHeaders?: boolean | undefined;
  /** Messages about options that will be removed. Default: none. */
  warnings?: readonly string[] | undefined;
}

/** Polling interval for WebSocket nodes. They push heads, so polling serves only as a watchdog. */
const WEB_SOCKET_POLL_MS = 5_000;

/** Options that will be removed, with their replacements. */
const RENAMED = {
  'accept=unverified': ['trust', 'evidence'],
  'proof=on': ['trust', 'strict'],
  'proof=off': ['trust', 'node'],
  'verify=headers': ['ranges', 'verified'],
} as const;

/** Returns the default settings, without nodes, of a chain whose first node has this URL. */
export const startChain = (id: string, url: string): ChainConfig => ({
  id,
  urls: [],
  ...(/^wss?:/.test(url) && { pollMs: WEB_SOCKET_POLL_MS }),
});

/** Reads chains from texts with one node each. */
export function readChains(texts: readonly string[]): ChainConfig[] {
  const chains = new Map<string, ChainConfig>();
  for (const text of texts) {
    const separator = text.indexOf('=');
    const id = toChainId(text.slice(0, Math.max(0, separator)));
    if (separator < 0 || id === undefined) {
      throw new InvalidValue(
        text,
        'should be <hexId>=<rpcUrl>[,confirmations=N|finalized][,poll=MS][,trust=evidence|strict|node][,operator=NAME][,ranges=verified], e.g. 0x1=https://rpc.example.org',
      );
    }
    const { url, options } = splitNodeOptions(text.slice(separator + 1));
    if (!URL.canParse(url) || !/^(https?|wss?):$/.test(new URL(url).protocol)) {
      throw new InvalidValue(
        text,
        `${JSON.stringify(url)} should be an http://, https://, ws:// or wss:// URL`,
      );
    }
    const chain = chains.get(id) ?? startChain(id, url);
    if (chain.urls.includes(url)) {
      throw new InvalidValue(
        text,
        `this URL is given twice for ${id}; each provider should be a different node`,
      );
    }
    chain.urls.push(url);
    applyOptions(chain, { url, text, options });
    chains.set(id, chain);
  }
  return [...chains.values()];
}

function applyOptions(
  chain: ChainConfig,
  { url, text, options }: ReturnType<typeof splitNodeOptions> & { text: string },
): void {
  const current = options.map(([name, value]): (typeof options)[number] => {
    const replacement = RENAMED[`${name}=${value}` as keyof typeof RENAMED];
    if (replacement === undefined) return [name, value];
    const warning = `${chain.id}: ${name}=${value} is now ${replacement.join('=')}; the old option will be removed in the next release`;
    chain.warnings = [...(chain.warnings ?? []), warning];
    return [...replacement];
  });
  const { confirmations, poll, trust, operator, ranges } = readNodeOptions(NODE_OPTIONS, {
    text,
    options: current,
    foreign: 'is not an option of a chain',
  });
  if (confirmations !== undefined) chain.confirmations = confirmations;
  if (poll !== undefined) chain.pollMs = poll;
  if (trust !== undefined) chain.trust = trust;
  if (operator !== undefined) chain.operators = { ...chain.operators, [url]: operator };
  if (ranges !== undefined) chain.verifyHeaders = true;
}
