import { toLongAddress, toShortAddress } from '../ledger/aptosAddress.ts';
import { newAccount, resourceTypes } from '../ledger/aptosResources.ts';
import { type AptosNodeView, refusePruned, stateVersionOf, toLedgerInfo } from './aptosNodeView.ts';
import { toCanonicalType, toModuleName } from '../ledger/aptosState.ts';
import type { AptosRoute } from './aptosTrouble.ts';
import { type AptosViewCall, answerView } from '../ledger/aptosViews.ts';
import { RestRefusal } from './restRefusal.ts';
import type { RestBlock, RestTransaction } from './restShapes.ts';
import type { ScriptedAptosBlock } from '../ledger/aptosHistory.ts';

export interface AptosRequest {
  route: AptosRoute;
  /** Decoded parameters of the path. */
  parameters: readonly string[];
  query: URLSearchParams;
  contentType: string;
  body: string;
}

/** Maximum number of transactions in a page, or in a response with a block, as on mainnet. */
const largestPage = 100;
const defaultPage = 25;

/** Parses a request. Its route is `unknown` if no route matches. */
export function toAptosRequest(
  method: string,
  url: string,
  rest: Pick<AptosRequest, 'contentType' | 'body'>,
): AptosRequest {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost');
  for (const [route, routeMethod, pattern] of routes) {
    const match = method === routeMethod && pattern.exec(pathname.replace(/\/$/, ''));
    if (match) return { route, parameters: match.slice(1).map(decode), query, ...rest };
  }
  return { route: 'unknown', parameters: [], query, ...rest };
}

/**
 * Decodes URL escapes. Returns text with invalid escapes unchanged, so that the route rejects it.
 */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const routes: readonly (readonly [AptosRoute, 'GET' | 'POST', RegExp])[] = [
  ['ledger', 'GET', /^\/v1$/],
  ['transactions', 'GET', /^\/v1\/transactions$/],
  ['transactionByVersion', 'GET', /^\/v1\/transactions\/by_version\/([^/]+)$/],
  ['transactionByHash', 'GET', /^\/v1\/transactions\/by_hash\/([^/]+)$/],
  ['blockByHeight', 'GET', /^\/v1\/blocks\/by_height\/([^/]+)$/],
  ['blockByVersion', 'GET', /^\/v1\/blocks\/by_version\/([^/]+)$/],
  ['account', 'GET', /^\/v1\/accounts\/([^/]+)$/],
  ['resources', 'GET', /^\/v1\/accounts\/([^/]+)\/resources$/],
  ['resource', 'GET', /^\/v1\/accounts\/([^/]+)\/resource\/([^/]+)$/],
  ['modules', 'GET', /^\/v1\/accounts\/([^/]+)\/modules$/],
  ['view', 'POST', /^\/v1\/view$/],
  ['healthy', 'GET', /^\/v1\/-\/healthy$/],
];

/**
 * Returns the JSON value with which a fullnode responds to the request.
 *
 * @throws RestRefusal if the fullnode rejects the request.
 */
export function answerAptosRequest(request: AptosRequest, view: AptosNodeView): unknown {
  return answers[request.route](request, view);
}

type Answer = (request: AptosRequest, view: AptosNodeView) => unknown;

const answers: Record<AptosRoute, Answer> = {
  ledger: (_, view) => toLedgerInfo(view),
  healthy: () => ({ message: 'aptos-node:ok' }),

  transactions: ({ query }, view) => {
    const { lastVersion } = view.head;
    const limit = numberIn(query, 'limit') ?? BigInt(defaultPage);
    if (limit === 0n) {
      throw new RestRefusal(400, 'invalid_input', 'Given limit value (0) must not be zero');
    }
    const count = limit < largestPage ? limit : BigInt(largestPage);
    const last = lastVersion + 1n - count;
    const start = numberIn(query, 'start') ?? (last > 0n ? last : 0n);
    if (start > lastVersion) {
      const message = `Given start value (${start}) is higher than the current ledger version, it must be < ${lastVersion}`;
      throw new RestRefusal(400, 'invalid_input', message);
    }
    refusePruned(start, view);
    return readTransactions(start, count, view);
  },

  transactionByVersion: ({ parameters: [text] }, view) => {
    const version = toNumber('txn_version', text);
    refusePruned(version, view);
    const [transaction] = readTransactions(version, 1n, view);
    if (transaction) return transaction;
    const message = `Transaction not found by Ledger version(${version})`;
    throw new RestRefusal(404, 'transaction_not_found', message);
  },

  transactionByHash: ({ parameters: [hash = ''] }, view) => {
    const transaction = view.ledger.transactionOf(hash);
    const version = BigInt(transaction?.version ?? -1);
    if (version >= view.oldestVersion && version <= view.head.lastVersion) return transaction;
    const message = `Transaction not found by Transaction hash(${hash})`;
    throw new RestRefusal(404, 'transaction_not_found', message);
  },

  blockByHeight: ({ parameters: [text], query }, view) => {
    const height = toNumber('block_height', text);
    refusePrunedBlock(height, view);
    const block = view.ledger.blockAt(height);
    if (!block || height > view.head.height) {
      throw new RestRefusal(404, 'block_not_found', `Block not found by Block height(${height})`);
    }
    return toRestBlock(block, query, view);
  },

  blockByVersion: ({ parameters: [text], query }, view) => {
    const version = stateVersionOf(toNumber('version', text), view);
    return toRestBlock(view.ledger.blockOfVersion(version) as ScriptedAptosBlock, query, view);
  },

  account: (request, view) => {
    const { address, version } = stateOf(request, view);
    const account = view.ledger.readResource(address, resourceTypes.account, version);
    // Nodes return a new account for an address without one.
    const { sequence_number, authentication_key } = (account ?? newAccount(address)) as Record<
      string,
      unknown
    >;
    return { sequence_number, authentication_key };
  },

  resources: (request, view) => {
    const { address, version } = stateOf(request, view);
    return [...view.ledger.listResources(address, version)]
      .filter(([type]) => toModuleName(type) === undefined)
      .map(([type, data]) => ({ type, data }));
  },

  resource: (request, view) => {
    const { address, version } = stateOf(request, view);
    const type = toCanonicalType(request.parameters[1] ?? '');
    const data = view.ledger.readResource(address, type, version);
    if (data !== undefined) return { type, data };
    const message = `Resource not found by Address(${toShortAddress(address)}), Struct tag(${type}) and Ledger version(${version})`;
    throw new RestRefusal(404, 'resource_not_found', message);
  },

  modules: (request, view) => {
    const { address, version } = stateOf(request, view);
    return [...view.ledger.listResources(address, version)]
      .filter(([type]) => toModuleName(type) !== undefined)
      .map(([, module]) => module);
  },

  view: ({ contentType, body, query }, view) => {
    if (!contentType.startsWith('application/json')) {
      const message = `The scripted node accepts views in JSON, not in ${contentType}`;
      throw new RestRefusal(415, 'bcs_not_supported', message);
    }
    const version = stateVersionOf(numberIn(query, 'ledger_version'), view);
    return answerView(parseViewCall(body), version, view);
  },

  unknown: () => {
    throw new RestRefusal(404, 'web_framework_error', 'not found');
  },
};

function readTransactions(start: bigint, count: bigint, view: AptosNodeView): RestTransaction[] {
  const read: RestTransaction[] = [];
  for (let version = start; version < start + count; version += 1n) {
    const transaction = view.ledger.transactionAt(version);
    if (!transaction || version > view.head.lastVersion) break;
    read.push(transaction);
  }
  return read;
}

function toRestBlock(
  block: ScriptedAptosBlock,
  query: URLSearchParams,
  view: AptosNodeView,
): RestBlock {
  refusePrunedBlock(block.height, view);
  return {
    block_height: String(block.height),
    block_hash: block.hash,
    block_timestamp: String(block.timestampUsecs),
    first_version: String(block.firstVersion),
    last_version: String(block.lastVersion),
    // Clients must read the remaining transactions of a larger block by version.
    transactions:
      query.get('with_transactions') === 'true' ? block.transactions.slice(0, largestPage) : null,
  };
}

function refusePrunedBlock(height: bigint, view: AptosNodeView): void {
  if (height >= view.oldestHeight) return;
  throw new RestRefusal(410, 'block_pruned', `Block(${height}) has been pruned`);
}

function stateOf({ parameters: [text = ''], query }: AptosRequest, view: AptosNodeView) {
  const version = stateVersionOf(numberIn(query, 'ledger_version'), view);
  try {
    return { address: toLongAddress(text), version };
  } catch {
    throw unparsable('address', text);
  }
}

function numberIn(query: URLSearchParams, name: string): bigint | undefined {
  const text = query.get(name);
  return text === null ? undefined : toNumber(name, text);
}

function toNumber(name: string, text = ''): bigint {
  if (!/^\d{1,20}$/.test(text)) throw unparsable(name, text);
  return BigInt(text);
}

function unparsable(name: string, text: string): RestRefusal {
  const message = `failed to parse parameter \`${name}\`: ${JSON.stringify(text)}`;
  return new RestRefusal(400, 'web_framework_error', message);
}

function parseViewCall(body: string): AptosViewCall {
  try {
    const call = JSON.parse(body) as AptosViewCall | null;
    if (typeof call?.function === 'string') return call;
  } catch {
    // Invalid JSON is reported below, like JSON that is not a call.
  }
  throw unparsable('payload', body.slice(0, 100));
}
