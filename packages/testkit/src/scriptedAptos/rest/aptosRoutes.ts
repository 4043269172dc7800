import { toCanonicalType, toLongAddress, toShortAddress } from '../ledger/aptosAddress.ts';
import type { RestTransaction } from '../ledger/restTransaction.ts';
import type { ScriptedAptosBlock, ScriptedAptosLedger } from '../ledger/scriptedAptosLedger.ts';
import type { AptosRoute } from './aptosTrouble.ts';

export interface AptosRequest {
  route: AptosRoute;
  /** Decoded parameters of the path. */
  parameters: readonly string[];
  query: URLSearchParams;
}

/** The ledger as one node knows it, possibly without the newest or oldest blocks. */
export interface AptosNodeView {
  readonly ledger: ScriptedAptosLedger;
  readonly chainId: number;
  /** The newest block that the node knows. */
  readonly head: ScriptedAptosBlock;
  /** The oldest version that the node has not pruned. */
  readonly oldestVersion: bigint;
  /** Height of the oldest complete block on the node. */
  readonly oldestHeight: bigint;
}

/** A rejected request, with the fields of its error response. */
export class RestRefusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  toBody() {
    return { message: this.message, error_code: this.code, vm_error_code: null };
  }
}

/** Maximum number of transactions in a page, or in a response with a block, as on mainnet. */
const largestPage = 100n;

/** Parses a GET request. Its route is `unknown` if no route matches. */
export function toAptosRequest(url: string): AptosRequest {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost');
  for (const [route, pattern] of routes) {
    const match = pattern.exec(pathname.replace(/\/$/, ''));
    if (match) return { route, parameters: match.slice(1).map(decodeURIComponent), query };
  }
  return { route: 'unknown', parameters: [], query };
}

const routes: readonly (readonly [AptosRoute, RegExp])[] = [
  ['ledger', /^\/v1$/],
  ['transactions', /^\/v1\/transactions$/],
  ['transactionByHash', /^\/v1\/transactions\/by_hash\/([^/]+)$/],
  ['blockByHeight', /^\/v1\/blocks\/by_height\/([^/]+)$/],
  ['blockByVersion', /^\/v1\/blocks\/by_version\/([^/]+)$/],
  ['resource', /^\/v1\/accounts\/([^/]+)\/resource\/([^/]+)$/],
];

/**
 * Returns the JSON value with which a fullnode responds to the request.
 *
 * @throws RestRefusal if the fullnode rejects the request.
 */
export function answerAptosRequest(request: AptosRequest, view: AptosNodeView): unknown {
  return answers[request.route](request, view);
}

const answers: Record<AptosRoute, (request: AptosRequest, view: AptosNodeView) => unknown> = {
  ledger: (_, view) => toLedgerInfo(view),

  transactions: ({ query }, view) => {
    const { lastVersion } = view.head;
    const limit = numberIn(query, 'limit') ?? 25n;
    const count = limit < largestPage ? limit : largestPage;
    const last = lastVersion + 1n - count;
    const start = numberIn(query, 'start') ?? (last > 0n ? last : 0n);
    if (start > lastVersion) {
      const message = `Given start value (${start}) is higher than the current ledger version, it must be < ${lastVersion}`;
      throw new RestRefusal(400, 'invalid_input', message);
    }
    refusePruned(start, view);
    const page: RestTransaction[] = [];
    for (let version = start; version < start + count && version <= lastVersion; version += 1n) {
      page.push(view.ledger.transactionAt(version)!);
    }
    return page;
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
    return toRestBlock(block, query);
  },

  blockByVersion: ({ parameters: [text], query }, view) => {
    const block = view.ledger.blockOfVersion(knownVersion(toNumber('version', text), view))!;
    refusePrunedBlock(block.height, view);
    return toRestBlock(block, query);
  },

  resource: ({ parameters: [address = '', text = ''], query }, view) => {
    const version = knownVersion(numberIn(query, 'ledger_version') ?? view.head.lastVersion, view);
    const type = toCanonicalType(text);
    const data = view.ledger.readResource(toLongAddress(address), type, version);
    if (data !== undefined) return { type, data };
    const message = `Resource not found by Address(${toShortAddress(address)}), Struct tag(${type}) and Ledger version(${version})`;
    throw new RestRefusal(404, 'resource_not_found', message);
  },

  unknown: () => {
    throw new RestRefusal(404, 'web_framework_error', 'not found');
  },
};

function toLedgerInfo({ chainId, head, oldestVersion, oldestHeight }: AptosNodeView) {
  return {
    chain_id: chainId,
    epoch: '1',
    ledger_version: String(head.lastVersion),
    oldest_ledger_version: String(oldestVersion),
    ledger_timestamp: String(head.timestampUsecs),
    node_role: 'full_node',
    oldest_block_height: String(oldestHeight),
    block_height: String(head.height),
    git_hash: '5c21ed1bed000000000000000000000000000000',
  };
}

function toRestBlock(block: ScriptedAptosBlock, query: URLSearchParams) {
  return {
    block_height: String(block.height),
    block_hash: block.hash,
    block_timestamp: String(block.timestampUsecs),
    first_version: String(block.firstVersion),
    last_version: String(block.lastVersion),
    // Clients must read the remaining transactions of a larger block by version.
    transactions:
      query.get('with_transactions') === 'true'
        ? block.transactions.slice(0, Number(largestPage))
        : null,
  };
}

/**
 * Returns the version if the node has its state.
 *
 * @throws RestRefusal if the node has pruned the version or does not know it yet.
 */
function knownVersion(version: bigint, view: AptosNodeView): bigint {
  refusePruned(version, view);
  if (version <= view.head.lastVersion) return version;
  const message = `Ledger version not found by Ledger version(${version})`;
  throw new RestRefusal(404, 'version_not_found', message);
}

function refusePruned(version: bigint, view: AptosNodeView): void {
  if (version >= view.oldestVersion) return;
  throw new RestRefusal(410, 'version_pruned', `Ledger version(${version}) has been pruned`);
}

function refusePrunedBlock(height: bigint, view: AptosNodeView): void {
  if (height >= view.oldestHeight) return;
  throw new RestRefusal(410, 'block_pruned', `Block(${height}) has been pruned`);
}

function numberIn(query: URLSearchParams, name: string): bigint | undefined {
  const text = query.get(name);
  return text === null ? undefined : toNumber(name, text);
}

function toNumber(name: string, text = ''): bigint {
  if (/^\d{1,20}$/.test(text)) return BigInt(text);
  const message = `failed to parse parameter \`${name}\`: ${JSON.stringify(text)}`;
  throw new RestRefusal(400, 'web_framework_error', message);
}
