/** Reads the blocks of an EVM chain over JSON-RPC: everything by hash, with consistency checks. */
import type { BlockNeeds, EvmBlock, EvmInternalTransaction } from '../../match/evm/block.ts';
import type { Log } from '../../base/log.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { hashesOf, type CheckedParts, assemble, checkLogs, withoutReceipt } from './blockParts.ts';
import { toHeader } from './header.ts';
import { type Json, object, list } from '../json.ts';
import { type Provider, createProvider } from './provider.ts';
import { createProviders } from '../nodes/providers.ts';
import { type Source, SourceError, isOfKind } from '../source.ts';
import { createVerifier } from './unverified.ts';
import { fromCallTracer, fromTraceBlock } from './traces.ts';

export interface EvmSourceOptions {
  chain: string;
  /** One or more node URLs in order of preference; `http:`, `https:`, `ws:` or `wss:`. */
  urls: readonly string[];
  /** Milliseconds between polls of the head. */
  pollMs: number;
  /** Accept unverifiable data from a single node. Default false. */
  acceptUnverified?: boolean | undefined;
  log: Log;
}

/** Every provider is checked once per this many polls, at least every `SURVEY_MAX_MS`. */
const POLLS_PER_SURVEY = 10;
const SURVEY_MAX_MS = 15_000;

export function createEvmSource({
  chain,
  urls,
  pollMs,
  acceptUnverified = false,
  log,
}: EvmSourceOptions): Source {
  const providers = createProviders({
    chain,
    urls,
    flag: '--chain',
    identity: 'block 0',
    log,
    create: (url, name) => createProvider(chain, url, name),
  });
  const verify = createVerifier({ chain, acceptUnverified, log });
  const receipts = createReceiptReader();
  const traces = createTraceReader();

  /** Reads the block and checks that it matches the header. */
  const readBody = async (
    node: Provider,
    header: BlockHeader,
    needs: BlockNeeds,
  ): Promise<{ block: Json; seen: BlockHeader }> => {
    const what = `${node.name}: block ${header.number} ${header.hash}`;
    const block = object(
      await node.request('eth_getBlockByHash', [header.hash, needs.transactions]),
      what,
    );
    const seen = toHeader(chain, block);
    if (
      seen.hash !== header.hash ||
      seen.parentHash !== header.parentHash ||
      seen.number !== header.number ||
      seen.timestamp !== header.timestamp
    ) {
      // Either this node or the provider of the header is wrong. Blaming only this node would let a
      // liar with early headers discredit everyone who contradicts it.
      providers.doubt(header.hash);
      throw new SourceError(
        'inconsistent',
        `${what} was returned as ${seen.number} ${seen.hash} on ${seen.parentHash} at ${seen.timestamp}`,
      );
    }
    return { block, seen };
  };

  /** Reads the block from one provider; another may supply a missing part, by the same hash. */
  const readBlockOf = async (
    node: Provider,
    header: BlockHeader,
    needs: BlockNeeds,
  ): Promise<EvmBlock> => {
    const { block, seen } = await readBody(node, header, needs);
    const part = <T>(read: (from: Provider) => Promise<T | undefined>): Promise<T | undefined> =>
      providers.ask(read, { hash: header.hash, first: node });
    const hashes = hashesOf(block);
    const internalTransactions =
      needs.traces && hashes.length > 0
        ? ((await part((from) => traces.read(from, seen, hashes))) ?? [])
        : [];
    const rest =
      needs.transactions || needs.logs
        ? await verify(header, part, async (from, isFirst) => {
            // When versions are compared, each must be made from the node's own block.
            const body =
              from === node || isFirst ? block : (await readBody(from, header, needs)).block;
            return needs.transactions
              ? receipts.readAll(from, body, seen)
              : receipts.readLogs(from, body, seen);
          })
        : undefined;
    return { ...seen, logs: [], transactions: [], ...rest, internalTransactions };
  };

  return {
    get lacksTraces() {
      return providers.all.every(traces.isMissingAt);
    },
    providers: providers.health,
    agreement: providers.agreement,
    readGenesisHash: providers.readGenesisHash,
    readHead: providers.readHead,
    readHeader: (at) =>
      typeof at === 'number' ? providers.readHeaderAt(at) : providers.readHeaderOf(at),
    doubt: providers.doubt,

    async readBlock(header, needs) {
      const block = await providers.ask((node) => readBlockOf(node, header, needs), {
        hash: header.hash,
      });
      return block!;
    },

    async findTransaction(hash) {
      const found = await providers.ask(async (node) => {
        const answer = await node.request('eth_getTransactionByHash', [hash], {
          order: 'aside',
        });
        return answer === null ? undefined : object(answer, `${node.name}: transaction ${hash}`);
      });
      if (found === undefined) return undefined;
      const at = found['blockHash'];
      return typeof at === 'string' ? { at } : 'pending';
    },

    readFinalized: providers.readFinalized,
    readTagged: providers.readTagged,
    sizeOf,

    async requestAt(block, method, params, maxBytes) {
      const result = await providers.ask(
        async (node) => {
          const isKnown = node.knows(block.hash) || (await node.readHeaderOf(block.hash));
          if (!isKnown) return undefined;
          return { value: await node.request(method, params, { order: 'aside', maxBytes }) };
        },
        { hash: block.hash },
      );
      if (result !== undefined) return result.value;
      throw new SourceError(
        'missing',
        `no node of ${chain} has block ${block.number} ${block.hash}`,
      );
    },

    watchHeads(onHint) {
      const timer = setInterval(onHint, pollMs);
      const stops = providers.all.map((each) => each.subscribeHeads(onHint));
      const stopSurvey = providers.survey(Math.min(pollMs * POLLS_PER_SURVEY, SURVEY_MAX_MS));
      return () => {
        clearInterval(timer);
        stopSurvey();
        for (const stop of stops) stop();
      };
    },

    stop: providers.close,
  };
}

/** Estimates the memory that a block takes: its text plus overhead. */
function sizeOf(block: EvmBlock): number {
  let bytes = 1_000;
  for (const log of block.logs) bytes += 800 + 2 * log.data.length;
  for (const transaction of block.transactions) bytes += 1_500 + 2 * transaction.input.length;
  return bytes + 500 * block.internalTransactions.length;
}

export interface ReceiptReader {
  /** Reads transactions with their receipts and logs. */
  readAll(node: Provider, block: Json, header: BlockHeader): Promise<CheckedParts>;
  /** Reads only the logs, which is cheaper on most nodes. */
  readLogs(node: Provider, block: Json, header: BlockHeader): Promise<CheckedParts>;
}

/** Concurrent requests on nodes that return receipts only one by one. */
const RECEIPTS_AT_ONCE = 16;

/** Reads the logs and transactions of a block from its receipts, in whichever way a node offers. */
function createReceiptReader(): ReceiptReader {
  /** Providers known not to support `eth_getBlockReceipts`. */
  const withoutBlockReceipts = new Set<Provider>();

  /** Undefined when the node returns receipts only one by one. */
  const listReceipts = async (node: Provider, block: Json): Promise<unknown> => {
    if (withoutBlockReceipts.has(node)) return undefined;
    try {
      return await node.request('eth_getBlockReceipts', [block['hash']]);
    } catch (error) {
      if (isOfKind(error, 'unsupported')) withoutBlockReceipts.add(node);
      else if (!isOfKind(error, 'too-large')) throw error;
      return undefined;
    }
  };

  const readReceipts = async (node: Provider, block: Json): Promise<unknown> => {
    const listed = await listReceipts(node, block);
    if (listed !== undefined && !Array.isArray(listed)) return listed;
    const receipts: unknown[] = listed ?? [];
    const others = await readOneByOne(node, withoutReceipt(block, receipts));
    // A transaction may be in two blocks of a chain; its receipt then belongs to the other block.
    return [...receipts, ...others.filter((receipt) => isOfBlock(receipt, block))];
  };

  const readAll: ReceiptReader['readAll'] = async (node, block, header) =>
    assemble(node.name, block, header, await readReceipts(node, block));

  const readLogs: ReceiptReader['readLogs'] = async (node, block, header) => {
    try {
      const answer = await node.request('eth_getLogs', [{ blockHash: header.hash }]);
      const raw = list(answer, `${node.name}: logs`);
      const checked = checkLogs(node.name, block, header, raw, { miscounted: true });
      if (checked.doubts.length === 0) return { ...checked, transactions: [] };
    } catch (error) {
      if (!isOfKind(error, 'too-large', 'missing')) throw error;
    }
    // Receipts contain the same logs, including those that the node's log list omits or is too
    // small for.
    return readAll(node, block, header);
  };

  return { readAll, readLogs };
}

async function readOneByOne(node: Provider, hashes: readonly string[]): Promise<unknown[]> {
  const receipts: unknown[] = [];
  for (let start = 0; start < hashes.length; start += RECEIPTS_AT_ONCE) {
    const some = hashes.slice(start, start + RECEIPTS_AT_ONCE);
    receipts.push(
      ...(await Promise.all(some.map((hash) => node.request('eth_getTransactionReceipt', [hash])))),
    );
  }
  return receipts;
}

const isOfBlock = (receipt: unknown, block: Json): boolean =>
  typeof receipt === 'object' &&
  receipt !== null &&
  (receipt as Json)['blockHash'] === block['hash'];

export interface TraceReader {
  /**
   * Returns undefined if this node does not trace blocks.
   *
   * @param hashes hashes of the block's transactions, in order
   */
  read(
    node: Provider,
    header: BlockHeader,
    hashes: readonly string[],
  ): Promise<EvmInternalTransaction[] | undefined>;
  /** Whether this node is known not to trace blocks. */
  isMissingAt(node: Provider): boolean;
}

/** Reads the internal transactions of a block in the trace dialect that a node offers. */
function createTraceReader(): TraceReader {
  /** The dialect of each provider that was tried. */
  const dialects = new Map<Provider, 'callTracer' | 'trace_block' | 'none'>();

  return {
    async read(node, { number, hash }, hashes) {
      const known = dialects.get(node);
      const transactions = { hashes, blockHash: hash };
      if (known === undefined || known === 'callTracer') {
        try {
          const tracer = { tracer: 'callTracer' };
          const answer = await node.request('debug_traceBlockByHash', [hash, tracer]);
          dialects.set(node, 'callTracer');
          return fromCallTracer(answer, transactions);
        } catch (error) {
          if (known !== undefined || !isOfKind(error, 'unsupported')) throw error;
        }
      }
      if (known === 'none') return undefined;
      try {
        const answer = await node.request('trace_block', [`0x${number.toString(16)}`]);
        dialects.set(node, 'trace_block');
        return fromTraceBlock(answer, transactions);
      } catch (error) {
        if (known !== undefined || !isOfKind(error, 'unsupported')) throw error;
        dialects.set(node, 'none');
        return undefined;
      }
    },
    isMissingAt: (node) => dialects.get(node) === 'none',
  };
}
