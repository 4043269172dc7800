import type { Hex } from 'viem';
import type { RpcBlock, RpcLog, RpcReceipt } from './rpcShapes.ts';

/**
 * A failure or a wrong response of a node, until `heal` or for `times` calls. It affects the
 * methods listed with it unless `methods` is set; `newHeads` counts as a method.
 */
export type Trouble = TroubleScope & TroubleKind;

export interface TroubleScope {
  /** Default: the methods of this kind; all methods for connection failures. */
  methods?: readonly string[];
  /**
   * Number of calls that it affects, not counting calls without anything to change, such as logs to
   * hide. Default: all until `heal`.
   */
  times?: number;
  /**
   * Affects every nth call; 2 simulates a load balancer that alternates between a good node and a
   * bad one. Default: 1.
   */
  every?: number;
}

export type TroubleKind =
  /** The node never responds, and the connection stays open. */
  | { kind: 'hang' }
  /** The response is delayed. */
  | { kind: 'delay'; delayMs: number }
  /** HTTP 429 with Retry-After, and error -32005; over WebSocket the error alone. */
  | { kind: 'rateLimit'; retryAfterSeconds?: number }
  /** An HTTP status of a proxy before the node, such as 502, with a page of HTML. HTTP only. */
  | { kind: 'httpError'; status: number }
  /** The JSON of the response is truncated. */
  | { kind: 'malformedJson' }
  /** A JSON-RPC error. Default: -32000, "internal error". */
  | { kind: 'error'; code?: number; message?: string }
  /** The responding node behind a load balancer lags by `blocks`. Default: `eth_getLogs`. */
  | { kind: 'lag'; blocks: number }
  /**
   * `eth_getLogs` rejects ranges of more than `blocks` blocks with error -32005. In the message,
   * `$blocks` is that number, and `$from` and `$to` are the ends of a range that it allows.
   */
  | { kind: 'rangeLimit'; blocks: number; message?: string }
  /** `eth_getLogs` rejects ranges with more than `logs` logs; the message as for `rangeLimit`. */
  | { kind: 'resultLimit'; logs: number; message?: string }
  /** HTTP 429 for calls above this rate. The calls of one second may come at once. */
  | { kind: 'rateCap'; perSecond: number }
  /** Batches of more than `calls` calls get one error instead of a list of responses. */
  | { kind: 'batchLimit'; calls: number }
  /** The node does not know the tags `finalized` and `safe`, as nodes of some chains do not. */
  | { kind: 'unknownTags' }
  /** A block is null. Default: only `eth_getBlockByHash`, so that it is known by number. */
  | { kind: 'withhold' }
  /** `eth_getBlockReceipts` and `eth_getTransactionReceipt` return null. */
  | { kind: 'nullReceipts' }
  /** `eth_getLogs` returns an empty list. */
  | { kind: 'emptyLogs' }
  /** The last receipt is missing from `eth_getBlockReceipts`. */
  | { kind: 'truncatedReceipts' }
  /** The first log is missing from `eth_getLogs` and `eth_getBlockReceipts`; indices reveal it. */
  | { kind: 'missingFirstLog' }
  /** Log indices after the first are higher by `by`, as on chains that count omitted logs. */
  | { kind: 'gappedIndices'; by: number }
  /** These fields of transactions and receipts are null. */
  | { kind: 'nullFields'; fields: readonly string[] }
  /** Headers have an empty bloom, which does not match their hash. */
  | { kind: 'emptyBloom' }
  /** Blocks have a wrong hash. */
  | { kind: 'wrongHash' }
  /** The last log is missing from `eth_getLogs` and `eth_getBlockReceipts`, but not from blooms. */
  | { kind: 'missingLog' }
  /** The logs of both name another block's hash. */
  | { kind: 'foreignLogs' }
  /** Blocks and `newHeads` name a parent that does not exist. */
  | { kind: 'wrongParentHash' }
  /** `eth_chainId` and `net_version` name a different chain. */
  | { kind: 'wrongChainId'; chainId: number }
  /** `newHeads` subscriptions stay open but send nothing. */
  | { kind: 'silentHeads' }
  /** Open and new WebSocket connections are dropped; `times` counts only new ones. */
  | { kind: 'dropWebSockets' };

export type TroubleOf<Kind extends Trouble['kind']> = Extract<Trouble, { kind: Kind }>;

/** The troubles that a node has now. */
export interface Troubles {
  add(trouble: Trouble): void;
  heal(): void;
  /** Returns the oldest trouble of this kind that affects the call, and uses one of its times. */
  take<Kind extends Trouble['kind']>(
    kind: Kind,
    method: string,
    strikes?: (trouble: TroubleOf<Kind>) => boolean,
  ): TroubleOf<Kind> | undefined;
  /** Applies the troubles of a method to its result. */
  distort(method: string, result: unknown): unknown;
}

export function createTroubles(): Troubles {
  let active: { trouble: Trouble; timesLeft: number; calls: number }[] = [];

  const find = (kind: Trouble['kind'], method: string) =>
    active.find((each) => {
      const { trouble, timesLeft } = each;
      if (trouble.kind !== kind || timesLeft <= 0 || !methodsOf(trouble).includes(method)) {
        return false;
      }
      each.calls += 1;
      return each.calls % (trouble.every ?? 1) === 0;
    });

  return {
    add: (trouble) => {
      active.push({ trouble, timesLeft: trouble.times ?? Infinity, calls: 0 });
    },
    heal: () => {
      active = [];
    },
    take: (kind, method, strikes = () => true) => {
      const found = find(kind, method);
      const trouble = found?.trouble as TroubleOf<typeof kind> | undefined;
      if (!found || !trouble || !strikes(trouble)) return undefined;
      found.timesLeft -= 1;
      return trouble;
    },
    distort: (method, result) => {
      let distorted = result;
      for (const { kind, apply } of distortions) {
        const found = find(kind, method);
        const changed = found && apply(distorted, found.trouble);
        if (!found || changed === undefined) continue;
        found.timesLeft -= 1;
        distorted = changed;
      }
      return distorted;
    },
  };
}

/** Methods that a kind affects by default; missing if it affects all methods. */
const defaultMethods: Partial<Record<Trouble['kind'], readonly string[]>> = {
  lag: ['eth_getLogs'],
  rangeLimit: ['eth_getLogs'],
  resultLimit: ['eth_getLogs'],
  unknownTags: ['eth_getBlockByNumber'],
  withhold: ['eth_getBlockByHash'],
  nullReceipts: ['eth_getBlockReceipts', 'eth_getTransactionReceipt'],
  emptyLogs: ['eth_getLogs'],
  truncatedReceipts: ['eth_getBlockReceipts'],
  missingFirstLog: ['eth_getLogs', 'eth_getBlockReceipts'],
  gappedIndices: ['eth_getLogs', 'eth_getBlockReceipts', 'eth_getTransactionReceipt'],
  nullFields: ['eth_getBlockByHash', 'eth_getBlockReceipts', 'eth_getTransactionReceipt'],
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
  /** Distorts the result; undefined if there is nothing to distort. */
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
    apply: (result) => (result ? { ...(result as RpcBlock), hash: nobodysHash } : undefined),
  },
  { kind: 'missingLog', apply: (result) => withoutLog(result, 'last') },
  { kind: 'foreignLogs', apply: (result) => withForeignHash(result) },
  {
    kind: 'wrongParentHash',
    apply: (result) => (result ? { ...(result as RpcBlock), parentHash: nobodysHash } : undefined),
  },
  {
    kind: 'wrongChainId',
    apply: (result, trouble) => {
      const { chainId } = trouble as TroubleOf<'wrongChainId'>;
      return (result as string).startsWith('0x') ? `0x${chainId.toString(16)}` : String(chainId);
    },
  },
];

const nobodysHash: Hex = `0x${'bad0'.repeat(16)}`;

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
    ? { ...result, transactions: withNulls(result.transactions, fields) }
    : { ...result, ...nulls };
}

function withForeignHash(result: unknown): unknown {
  const items = (result ?? []) as (RpcLog | RpcReceipt)[];
  if (!items.some((item) => !('logs' in item) || item.logs.length > 0)) return undefined;
  const foreign = (log: RpcLog): RpcLog => ({ ...log, blockHash: nobodysHash });
  return items.map((item) =>
    'logs' in item ? { ...item, logs: item.logs.map(foreign) } : foreign(item),
  );
}
