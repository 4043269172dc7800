/** Blocks of an EVM chain over JSON-RPC: everything by hash, and nothing believed that disagrees. */
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
  /** One or more node URLs, in the order of preference; `http:`, `https:`, `ws:` or `wss:`. */
  urls: readonly string[];
  /** Milliseconds between looks at the head. */
  pollMs: number;
  /** Accept what a single node gives although it can't be verified. Default false. */
  acceptUnverified?: boolean | undefined;
  log: Log;
}

/** Every provider is looked at once in so many polls, but no more rarely than `SURVEY_MAX_MS`. */
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

  /** The block's own answer, which must be that of its header. */
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
      // One of the two is wrong, this node or who gave the header: were this one alone to blame, a liar
      // that is first with its headers would discredit all who contradict it.
      providers.doubt(header.hash);
      throw new SourceError(
        'inconsistent',
        `${what} came as ${seen.number} ${seen.hash} on ${seen.parentHash} at ${seen.timestamp}`,
      );
    }
    return { block, seen };
  };

  /** The block as one provider knows it; a part that it lacks may come from another by the same hash. */
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
            // What is compared with another node's version is that node's own.
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
      return providers.all.every(traces.isLackedBy);
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

/** What a block takes in memory, near enough: its text, and what holds it together. */
function sizeOf(block: EvmBlock): number {
  let bytes = 1_000;
  for (const log of block.logs) bytes += 800 + 2 * log.data.length;
  for (const transaction of block.transactions) bytes += 1_500 + 2 * transaction.input.length;
  return bytes + 500 * block.internalTransactions.length;
}

export interface ReceiptReader {
  /** Transactions with their logs. */
  readAll(node: Provider, block: Json, header: BlockHeader): Promise<CheckedParts>;
  /** Logs alone, which most nodes list at less cost. */
  readLogs(node: Provider, block: Json, header: BlockHeader): Promise<CheckedParts>;
}

/** Receipts asked for at once where a node gives them only one by one. */
const RECEIPTS_AT_ONCE = 16;

/** Logs and transactions of a block out of its receipts, however a node gives them. */
function createReceiptReader(): ReceiptReader {
  /** Providers found not to offer `eth_getBlockReceipts`. */
  const withoutBlockReceipts = new Set<Provider>();

  /** Undefined where the node gives receipts only one by one. */
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
    // The same transaction may be in two blocks of a chain: its receipt is then that of the other one.
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
    // Receipts hold the same logs: all of them where the node gives only so many at once, and those
    // of transactions that its list leaves out.
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
   * Undefined where this node does not trace blocks.
   *
   * @param hashes of the block's transactions, in order
   */
  read(
    node: Provider,
    header: BlockHeader,
    hashes: readonly string[],
  ): Promise<EvmInternalTransaction[] | undefined>;
  /** Whether it is known that this node does not trace blocks. */
  isLackedBy(node: Provider): boolean;
}

/** Internal transactions of a block from whichever dialect of traces a node offers. */
function createTraceReader(): TraceReader {
  /** Of each provider, as far as it was tried. */
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
    isLackedBy: (node) => dialects.get(node) === 'none',
  };
}
