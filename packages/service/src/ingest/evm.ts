/** Blocks of an EVM chain over JSON-RPC: everything by hash, and nothing believed that disagrees. */
import { toChainId } from '@sluice/kit/contract';
import type { BlockHeader } from '../store/store.ts';
import type { EvmBlock, EvmInternalTransaction, EvmLog, EvmTransaction } from '../match/block.ts';
import { bloomOf, covers } from './bloom.ts';
import { type Json, hex, list, object, optionalHex, toNumber } from './json.ts';
import { type RpcClient, createRpcClient } from './rpc.ts';
import { type Source, SourceError } from './source.ts';
import { fromCallTracer, fromTraceBlock } from './traces.ts';

export interface EvmSourceOptions {
  chain: string;
  /** One or more node URLs, tried in turn; `http:`, `https:`, `ws:` or `wss:`. */
  urls: readonly string[];
  /** Milliseconds between looks at the head. */
  pollMs: number;
}

/** A method is missing here: not found, or not offered to us. */
const NO_SUCH_METHOD = /-32601|not (found|supported|available|exist)|unsupported|unknown method/i;
/** Receipts asked for at once where a node gives them only one by one. */
const RECEIPTS_AT_ONCE = 16;

export function createEvmSource({ chain, urls, pollMs }: EvmSourceOptions): Source {
  const clients = urls.map(createRpcClient);
  let current = 0;
  /** Providers found not to offer `eth_getBlockReceipts`. */
  const withoutBlockReceipts = new Set<RpcClient>();
  /** How each provider traces a block, as far as it was tried. */
  const tracing = new Map<RpcClient, 'callTracer' | 'trace_block' | 'none'>();
  /** Providers whose chain id was checked. */
  const checked = new Set<RpcClient>();

  const client = (): RpcClient => clients[current]!;

  const provider = async (): Promise<RpcClient> => {
    const chosen = client();
    if (checked.has(chosen)) return chosen;
    const answer = await chosen.request('eth_chainId', []);
    const id = toChainId(answer);
    if (id !== chain) {
      throw new SourceError(
        'wrong-chain',
        `${chosen.name} serves chain ${id ?? JSON.stringify(answer)}, not ${chain}: correct --chain ${chain}=<rpcUrl>`,
      );
    }
    checked.add(chosen);
    return chosen;
  };

  const readReceipts = async (node: RpcClient, block: Json): Promise<unknown> => {
    const hashes = hashesOf(block);
    if (!withoutBlockReceipts.has(node)) {
      try {
        return await node.request('eth_getBlockReceipts', [block['hash']]);
      } catch (error) {
        if (!isNoSuchMethod(error)) throw error;
        withoutBlockReceipts.add(node);
      }
    }
    const receipts: unknown[] = [];
    for (let start = 0; start < hashes.length; start += RECEIPTS_AT_ONCE) {
      const some = hashes.slice(start, start + RECEIPTS_AT_ONCE);
      receipts.push(
        ...(await Promise.all(
          some.map((hash) => node.request('eth_getTransactionReceipt', [hash])),
        )),
      );
    }
    return receipts;
  };

  const readTracesOf = async (
    node: RpcClient,
    block: { hash: string; number: number; hashes: readonly string[] },
  ): Promise<EvmInternalTransaction[] | undefined> => {
    const known = tracing.get(node);
    const transactions = { hashes: block.hashes, blockHash: block.hash };
    if (known === undefined || known === 'callTracer') {
      try {
        const tracer = { tracer: 'callTracer' };
        const answer = await node.request('debug_traceBlockByHash', [block.hash, tracer]);
        tracing.set(node, 'callTracer');
        return fromCallTracer(answer, transactions);
      } catch (error) {
        if (known !== undefined || !isNoSuchMethod(error)) throw error;
      }
    }
    if (known === 'none') return undefined;
    try {
      const answer = await node.request('trace_block', [`0x${block.number.toString(16)}`]);
      tracing.set(node, 'trace_block');
      return fromTraceBlock(answer, transactions);
    } catch (error) {
      if (known !== undefined || !isNoSuchMethod(error)) throw error;
      tracing.set(node, 'none');
      return undefined;
    }
  };

  /** From the current provider, or from another of this chain that traces; empty where none does. */
  const readTraces = async (block: {
    hash: string;
    number: number;
    hashes: readonly string[];
  }): Promise<EvmInternalTransaction[]> => {
    if (block.hashes.length === 0) return [];
    for (const node of [client(), ...clients]) {
      const traces = await readTracesOf(node, block);
      if (traces !== undefined) return traces;
    }
    return [];
  };

  return {
    get lacksTraces() {
      return clients.every((each) => tracing.get(each) === 'none');
    },

    async readGenesisHash() {
      const node = await provider();
      const block = await node.request('eth_getBlockByNumber', ['0x0', false]);
      return toHeader(object(block, `${node.name}: block 0`)).hash;
    },

    async readHead() {
      const node = await provider();
      const block = await node.request('eth_getBlockByNumber', ['latest', false]);
      return toHeader(object(block, `${node.name}: the latest block`));
    },

    async readHeader(at) {
      const node = await provider();
      const block = await (typeof at === 'number'
        ? node.request('eth_getBlockByNumber', [`0x${at.toString(16)}`, false])
        : node.request('eth_getBlockByHash', [at, false]));
      return block === null ? undefined : toHeader(object(block, 'block'));
    },

    async readBlock(header, needs) {
      const node = await provider();
      const full = needs.transactions;
      const block = object(
        await node.request('eth_getBlockByHash', [header.hash, full]),
        `${node.name}: block ${header.number} ${header.hash}`,
      );
      const seen = toHeader(block);
      if (
        seen.hash !== header.hash ||
        seen.parentHash !== header.parentHash ||
        seen.number !== header.number
      ) {
        throw new SourceError(
          'inconsistent',
          `${node.name}: block ${header.number} was asked for by hash ${header.hash} and came as ${seen.number} ${seen.hash}`,
        );
      }
      const internalTransactions = needs.traces
        ? await readTraces({ ...seen, hashes: hashesOf(block) })
        : [];
      if (full) {
        const receipts = await readReceipts(node, block);
        return { ...assembleFull(node.name, block, seen, receipts), internalTransactions };
      }
      const logs = needs.logs
        ? list(await node.request('eth_getLogs', [{ blockHash: header.hash }]), 'logs')
        : undefined;
      return {
        ...seen,
        logs: logs === undefined ? [] : checkLogs(node.name, block, seen, logs),
        transactions: [],
        internalTransactions,
      };
    },

    async readFinalized() {
      const node = await provider();
      try {
        const block = await node.request('eth_getBlockByNumber', ['finalized', false]);
        return block === null ? undefined : toHeader(object(block, 'block')).number;
      } catch (error) {
        if (isNoSuchMethod(error)) return undefined;
        throw error;
      }
    },

    async requestAt(_, method, params) {
      return (await provider()).request(method, params);
    },

    watchHeads(onHint) {
      const timer = setInterval(onHint, pollMs);
      const stops = clients.map((each) => each.subscribeHeads(onHint));
      return () => {
        clearInterval(timer);
        for (const stop of stops) stop();
      };
    },

    tryNext() {
      current = (current + 1) % clients.length;
    },

    async stop() {
      await Promise.all(clients.map((each) => each.close()));
    },
  };
}

const isNoSuchMethod = (error: unknown): boolean =>
  error instanceof SourceError && NO_SUCH_METHOD.test(error.message);

/** Hashes of a block's transactions, whether they came whole or as hashes. */
const hashesOf = (block: Json): string[] =>
  list(block['transactions'], 'transactions').map((item) =>
    typeof item === 'string' ? item : hex(object(item, 'transaction'), 'hash'),
  );

/** A block with transactions, each with its receipt, and the logs the receipts carry. */
function assembleFull(
  name: string,
  block: Json,
  header: BlockHeader,
  answer: unknown,
): Omit<EvmBlock, 'internalTransactions'> {
  const bodies = list(block['transactions'], 'transactions').map((item) =>
    object(item, 'transaction'),
  );
  if (!Array.isArray(answer) || answer.length !== bodies.length) {
    throw new SourceError(
      'missing',
      `${name}: block ${header.number} has ${bodies.length} transactions but ${
        Array.isArray(answer) ? answer.length : 'no'
      } receipts`,
    );
  }
  const rawLogs: unknown[] = [];
  const transactions = bodies.map((body, n): EvmTransaction => {
    const receipt = object(answer[n], `${name}: receipt ${n} of block ${header.number}`);
    if (receipt['transactionHash'] !== body['hash'] || receipt['blockHash'] !== header.hash) {
      throw new SourceError(
        'inconsistent',
        `${name}: receipt ${n} of block ${header.number} belongs to transaction ${String(
          receipt['transactionHash'],
        )} in block ${String(receipt['blockHash'])}`,
      );
    }
    rawLogs.push(...list(receipt['logs'], 'logs'));
    return toTransaction(body, receipt);
  });
  return { ...header, logs: checkLogs(name, block, header, rawLogs), transactions };
}

/**
 * Logs of a block are believed when each says it is of that block, their indices count up from 0, and
 * together they set every bit of the header's bloom: a node that lags or a lost log shows there.
 */
function checkLogs(
  name: string,
  block: Json,
  header: BlockHeader,
  raw: readonly unknown[],
): EvmLog[] {
  const logs = raw.map((item) => {
    const log = object(item, 'log');
    if (log['blockHash'] !== header.hash) {
      throw new SourceError(
        'inconsistent',
        `${name}: a log of block ${header.number} says it is of block ${String(log['blockHash'])}`,
      );
    }
    return toLog(log);
  });
  logs.sort((a, b) => a.logIndex - b.logIndex);
  if (logs.some((log, n) => log.logIndex !== n)) {
    throw new SourceError(
      'inconsistent',
      `${name}: the logs of block ${header.number} have a hole`,
    );
  }
  const bloom = Buffer.from(hex(block, 'logsBloom').slice(2), 'hex');
  if (!covers(bloomOf(logs), bloom)) {
    throw new SourceError(
      'missing',
      `${name}: the bloom of block ${header.number} names logs that did not come (${logs.length} did)`,
    );
  }
  return logs;
}

function toHeader(block: Json): BlockHeader {
  return {
    number: toNumber(hex(block, 'number')),
    hash: hex(block, 'hash'),
    parentHash: hex(block, 'parentHash'),
    timestamp: toNumber(hex(block, 'timestamp')),
  };
}

function toLog(log: Json): EvmLog {
  return {
    logIndex: toNumber(hex(log, 'logIndex')),
    transactionHash: hex(log, 'transactionHash'),
    transactionIndex: toNumber(hex(log, 'transactionIndex')),
    address: hex(log, 'address').toLowerCase(),
    topics: list(log['topics'], 'topics').map((topic) => String(topic).toLowerCase()),
    data: hex(log, 'data'),
  };
}

function toTransaction(body: Json, receipt: Json): EvmTransaction {
  return {
    hash: hex(body, 'hash'),
    transactionIndex: toNumber(hex(body, 'transactionIndex')),
    from: hex(body, 'from').toLowerCase(),
    to: optionalHex(body, 'to')?.toLowerCase() ?? null,
    value: hex(body, 'value'),
    gas: hex(body, 'gas'),
    gasPrice: optionalHex(body, 'gasPrice'),
    nonce: hex(body, 'nonce'),
    input: hex(body, 'input'),
    type: optionalHex(body, 'type'),
    v: optionalHex(body, 'v'),
    r: optionalHex(body, 'r'),
    s: optionalHex(body, 's'),
    receipt: {
      cumulativeGasUsed: hex(receipt, 'cumulativeGasUsed'),
      gasUsed: hex(receipt, 'gasUsed'),
      contractAddress: optionalHex(receipt, 'contractAddress')?.toLowerCase() ?? null,
      root: optionalHex(receipt, 'root'),
      status: optionalHex(receipt, 'status'),
    },
  };
}
