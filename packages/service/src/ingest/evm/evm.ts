/** Blocks of an EVM chain over JSON-RPC: everything by hash, and nothing believed that disagrees. */
import type { BlockNeeds, EvmBlock } from '../../match/evm/block.ts';
import type { Log } from '../../base/log.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { hashesOf } from './blockParts.ts';
import { toHeader } from './header.ts';
import { type Json, object } from '../json.ts';
import { type Provider, createProvider } from './provider.ts';
import { createProviders } from '../nodes/providers.ts';
import { createReceiptReader } from './receipts.ts';
import { type Source, SourceError } from '../source.ts';
import { createTraceReader } from './traceReader.ts';
import { createVerifier } from './unverified.ts';

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
