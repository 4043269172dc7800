import type { Hex } from 'viem';
import type { RpcBlock, RpcLog, RpcReceipt } from './rpcShapes.ts';

/**
 * A failure or a wrong response of a node, until `heal` or for `times` calls. An announced head
 * counts as a call to the method `newHeads`.
 */
export type Trouble = TroubleScope & TroubleKind;

export interface TroubleScope {
  /**
   * The methods that the trouble affects. Default: the methods of its kind in `defaultMethods`,
   * or all methods if its kind has none there.
   */
  methods?: readonly string[];
  /**
   * Number of calls that the trouble affects. Most kinds that hide or change data count only the
   * calls whose result they change. Default: all until `heal`.
   */
  times?: number;
  /**
   * The trouble affects only every nth call. 2 simulates a load balancer that alternates between a
   * good node and a bad one. Default: 1.
   */
  every?: number;
}

export type TroubleKind =
  /** The node never responds, and the connection stays open. */
  | { kind: 'hang' }
  | { kind: 'delay'; delayMs: number }
  /**
   * Calls fail with error -32005. Over HTTP, the response has status 429 and a Retry-After header
   * (default: 1 s).
   */
  | { kind: 'rateLimit'; retryAfterSeconds?: number }
  /**
   * A proxy in front of the node responds with this status, such as 502, and an HTML page. Over
   * WebSocket, only the page is sent.
   */
  | { kind: 'httpError'; status: number }
  /** The JSON of the response is truncated. */
  | { kind: 'malformedJson' }
  /** The call returns a JSON-RPC error. Default: code -32000 and message `internal error`. */
  | { kind: 'error'; code?: number; message?: string }
  /**
   * Calls do not see the newest `blocks` blocks, as if a load balancer sent them to a lagging node.
   * By default, this affects only `eth_getLogs`.
   */
  | { kind: 'lag'; blocks: number }
  /**
   * `eth_getLogs` rejects ranges of more than `blocks` blocks. `$blocks` in the refusal is replaced
   * with that number, `$from` and `$to` with the ends of an allowed range in hex, and `$fromNumber`
   * and `$toNumber` with the same in decimal.
   */
  | ({ kind: 'rangeLimit'; blocks: number } & RangeRefusal)
  /**
   * `eth_getLogs` rejects ranges with more than `logs` logs. The refusal has the same placeholders
   * as for `rangeLimit`, but `$blocks` is half of the requested range.
   */
  | ({ kind: 'resultLimit'; logs: number } & RangeRefusal)
  /**
   * Calls above this rate get the response of `rateLimit`. A burst of `perSecond` calls is allowed.
   */
  | { kind: 'rateCap'; perSecond: number }
  /** Batches of more than `calls` calls get a single error instead of a list of responses. */
  | { kind: 'batchLimit'; calls: number }
  /** `eth_getBlockByNumber` rejects the tags `finalized` and `safe`, as nodes of some chains do. */
  | { kind: 'unknownTags' }
  /** `eth_getBlockByHash` returns null, although the block can be read by number. */
  | { kind: 'withhold' }
  /** `eth_getBlockReceipts` and `eth_getTransactionReceipt` return null. */
  | { kind: 'nullReceipts' }
  /** `eth_getLogs` returns an empty list. */
  | { kind: 'emptyLogs' }
  /** `debug_traceBlockByHash` has an error instead of the last trace. */
  | { kind: 'missingTrace' }
  /** The last receipt is missing from `eth_getBlockReceipts`. */
  | { kind: 'truncatedReceipts' }
  /**
   * The first log is missing from `eth_getLogs` and `eth_getBlockReceipts`, which the indices of
   * the other logs reveal.
   */
  | { kind: 'missingFirstLog' }
  /**
   * Log indices other than 0 are increased by `by`, as on chains that also count logs that they do
   * not return.
   */
  | { kind: 'gappedIndices'; by: number }
  /** These fields are null in each block, transaction and receipt that has them. */
  | { kind: 'nullFields'; fields: readonly string[] }
  /** Blocks have an empty bloom, so that their hash does not match. */
  | { kind: 'emptyBloom' }
  /** Blocks have a wrong hash. */
  | { kind: 'wrongHash' }
  /**
   * The last log is missing from `eth_getLogs` and `eth_getBlockReceipts`, but blooms still cover
   * it.
   */
  | { kind: 'missingLog' }
  /** Logs of `eth_getLogs` and `eth_getBlockReceipts` have a block hash that does not exist. */
  | { kind: 'foreignLogs' }
  /** Blocks and announced heads have a parent hash that does not exist. */
  | { kind: 'wrongParentHash' }
  /** `eth_chainId` and `net_version` return a different chain id. */
  | { kind: 'wrongChainId'; chainId: number }
  /** `newHeads` subscriptions stay open but send nothing. */
  | { kind: 'silentHeads' }
  /** Open and new WebSocket connections are dropped; `times` counts only new ones. */
  | { kind: 'dropWebSockets' };

/** How a node rejects a range. Default: error -32005 with a message and HTTP status 200. */
export interface RangeRefusal {
  code?: number;
  message?: string;
  /** The `data` of the error. */
  data?: unknown;
  /** HTTP status of the response, unless the call is in a batch. */
  status?: number;
  /** If true, the body is the message alone. */
  isPlain?: boolean;
}

export type TroubleOf<Kind extends Trouble['kind']> = Extract<Trouble, { kind: Kind }>;

export interface Troubles {
  add(trouble: Trouble): void;
  heal(): void;
  /**
   * Returns the oldest trouble of this kind that affects the call and that `strikes` accepts, and
   * counts the call toward the trouble's `times`. Returns undefined if there is none.
   */
  take<Kind extends Trouble['kind']>(
    kind: Kind,
    method: string,
    strikes?: (trouble: TroubleOf<Kind>) => boolean,
  ): TroubleOf<Kind> | undefined;
  /** Returns the result with the changes of the troubles that affect the method. */
  distort(method: string, result: unknown): unknown;
}

export function createTroubles(): Troubles {
  let active: { trouble: Trouble; timesLeft: number; calls: number }[] = [];

  /** Yields the troubles that affect the call, oldest first. */
  function* affecting(kind: Trouble['kind'], method: string) {
    for (const each of active) {
      const { trouble, timesLeft } = each;
      if (trouble.kind !== kind || timesLeft <= 0 || !methodsOf(trouble).includes(method)) continue;
      each.calls += 1;
      if (each.calls % (trouble.every ?? 1) === 0) yield each;
    }
  }

  return {
    add: (trouble) => {
      active.push({ trouble, timesLeft: trouble.times ?? Infinity, calls: 0 });
    },
    heal: () => {
      active = [];
    },
    take: (kind, method, strikes = () => true) => {
      for (const each of affecting(kind, method)) {
        const trouble = each.trouble as TroubleOf<typeof kind>;
        if (!strikes(trouble)) continue;
        each.timesLeft -= 1;
        return trouble;
      }
      return undefined;
    },
    distort: (method, result) => {
      let distorted = result;
      for (const { kind, apply } of distortions) {
        const [found] = affecting(kind, method);
        const changed = found && apply(distorted, found.trouble);
        if (!found || changed === undefined) continue;
        found.timesLeft -= 1;
        distorted = changed;
      }
      return distorted;
    },
  };
}

/** Methods that a kind affects by default. A kind that is missing here affects all methods. */
const defaultMethods: Partial<Record<Trouble['kind'], readonly string[]>> = {
  lag: ['eth_getLogs'],
  rangeLimit: ['eth_getLogs'],
  resultLimit: ['eth_getLogs'],
  unknownTags: ['eth_getBlockByNumber'],
  withhold: ['eth_getBlockByHash'],
  nullReceipts: ['eth_getBlockReceipts', 'eth_getTransactionReceipt'],
  emptyLogs: ['eth_getLogs'],
  missingTrace: ['debug_traceBlockByHash'],
  truncatedReceipts: ['eth_getBlockReceipts'],
  missingFirstLog: ['eth_getLogs', 'eth_getBlockReceipts'],
  gappedIndices: ['eth_getLogs', 'eth_getBlockReceipts', 'eth_getTransactionReceipt'],
  nullFields: [
    'eth_getBlockByHash',
    'eth_getBlockByNumber',
    'eth_getBlockReceipts',
    'eth_getTransactionReceipt',
  ],
  emptyBloom: ['eth_getBlockByNumber', 'eth_getBlockByHash'],
  wrongHash: ['eth_getBlockByNumber', 'eth_getBlockByHash'],
  missingLog: ['eth_getLogs', 'eth_getBlockReceipts'],
  foreignLogs: ['eth_getLogs', 'eth_getBlockReceipts'],
  wrongParentHash: ['eth_getBlockByNumber', 'eth_getBlockByHash', 'newHeads'],
  wrongChainId: ['eth_chainId', 'net_version'],
};

function methodsOf(trouble: Trouble): { includes(method: string): boolean } {
  return trouble.methods ?? defaultMethods[trouble.kind] ?? { includes: () => true };
}

interface Distortion {
  kind: Trouble['kind'];
  /** Returns the changed result, or undefined if there is nothing to change. */
  apply: (result: unknown, trouble: Trouble) => unknown;
}

const distortions: readonly Distortion[] = [
  { kind: 'withhold', apply: (result) => (result === null ? undefined : null) },
  { kind: 'nullReceipts', apply: (result) => (result === null ? undefined : null) },
  { kind: 'emptyLogs', apply: (result) => ((result as RpcLog[]).length > 0 ? [] : undefined) },
  {
    kind: 'truncatedReceipts',
    apply: (result) => {
      const receipts = (result ?? []) as RpcReceipt[];
      return receipts.length > 0 ? receipts.slice(0, -1) : undefined;
    },
  },
  { kind: 'missingTrace', apply: (result) => withoutTrace(result) },
  { kind: 'missingFirstLog', apply: (result) => withoutLog(result, 'first') },
  {
    kind: 'gappedIndices',
    apply: (result, trouble) => withGap(result, (trouble as TroubleOf<'gappedIndices'>).by),
  },
  {
    kind: 'nullFields',
    apply: (result, trouble) => withNulls(result, (trouble as TroubleOf<'nullFields'>).fields),
  },
  {
    kind: 'emptyBloom',
    apply: (result) =>
      result ? { ...(result as RpcBlock), logsBloom: `0x${'00'.repeat(256)}` } : undefined,
  },
  {
    kind: 'wrongHash',
    apply: (result) => (result ? { ...(result as RpcBlock), hash: unknownHash } : undefined),
  },
  { kind: 'missingLog', apply: (result) => withoutLog(result, 'last') },
  { kind: 'foreignLogs', apply: (result) => withForeignHash(result) },
  {
    kind: 'wrongParentHash',
    apply: (result) => (result ? { ...(result as RpcBlock), parentHash: unknownHash } : undefined),
  },
  {
    kind: 'wrongChainId',
    apply: (result, trouble) => {
      const { chainId } = trouble as TroubleOf<'wrongChainId'>;
      return (result as string).startsWith('0x') ? `0x${chainId.toString(16)}` : String(chainId);
    },
  },
];

const unknownHash: Hex = `0x${'bad0'.repeat(16)}`;

function withoutLog(result: unknown, which: 'first' | 'last'): unknown {
  const items = (result ?? []) as (RpcLog | RpcReceipt)[];
  const hasLog = (item: RpcLog | RpcReceipt) => !('logs' in item) || item.logs.length > 0;
  const at = which === 'first' ? items.findIndex(hasLog) : items.findLastIndex(hasLog);
  if (at < 0) return undefined;
  return items.flatMap((item, index) => {
    if (index !== at) return [item];
    if (!('logs' in item)) return [];
    return [{ ...item, logs: which === 'first' ? item.logs.slice(1) : item.logs.slice(0, -1) }];
  });
}

function withoutTrace(result: unknown): unknown {
  const traces = (result ?? []) as { txHash: Hex }[];
  const last = traces.at(-1);
  return last && [...traces.slice(0, -1), { txHash: last.txHash, error: 'execution timeout' }];
}

function withGap(result: unknown, by: number): unknown {
  const raise = (log: RpcLog): RpcLog => ({
    ...log,
    logIndex:
      Number(log.logIndex) === 0 ? log.logIndex : `0x${(Number(log.logIndex) + by).toString(16)}`,
  });
  const change = (item: RpcLog | RpcReceipt) =>
    'logs' in item ? { ...item, logs: item.logs.map(raise) } : raise(item);
  if (result === null) return undefined;
  return Array.isArray(result)
    ? (result as (RpcLog | RpcReceipt)[]).map(change)
    : change(result as RpcReceipt);
}

function withNulls(result: unknown, fields: readonly string[]): unknown {
  if (typeof result !== 'object' || result === null) return undefined;
  if (Array.isArray(result)) return result.map((item: unknown) => withNulls(item, fields) ?? item);
  const nulls = Object.fromEntries(
    fields.filter((field) => field in result).map((field) => [field, null]),
  );
  return 'transactions' in result
    ? { ...result, ...nulls, transactions: withNulls(result.transactions, fields) }
    : { ...result, ...nulls };
}

function withForeignHash(result: unknown): unknown {
  const items = (result ?? []) as (RpcLog | RpcReceipt)[];
  if (!items.some((item) => !('logs' in item) || item.logs.length > 0)) return undefined;
  const foreign = (log: RpcLog): RpcLog => ({ ...log, blockHash: unknownHash });
  return items.map((item) =>
    'logs' in item ? { ...item, logs: item.logs.map(foreign) } : foreign(item),
  );
}
