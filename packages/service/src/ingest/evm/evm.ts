/** Reads the blocks of an EVM chain over JSON-RPC by hash, with consistency checks. */
import type { BlockNeeds, EvmBlock, EvmInternalTransaction } from '../../match/evm/block.ts';
import type { Log } from '../../base/log.ts';
import type { BlockHeader, BlockRef } from '../../store/blocks/contract.ts';
import { hashesOf } from './blockParts.ts';
import { isProvableChain, toHeader } from './header.ts';
import { createLogRanges } from './ranges/logRanges.ts';
import { type Json, object } from '../json.ts';
import { type Provider, createProvider } from './provider.ts';
import { createHeadPolling } from '../nodes/headPolling.ts';
import { type Providers, createProviders } from '../nodes/providers.ts';
import { createProofs } from './proof/proveBlock.ts';
import { type VerdictStore, createProver } from './proof/prover.ts';
import { createReceiptReader } from './receiptReader.ts';
import { type Source, SourceError, type TransactionPlace, isOfKind } from '../source.ts';
import { createVerifier } from './unverified.ts';
import { fromCallTracer, fromTraceBlock } from './traces.ts';

export interface EvmSourceOptions {
  chain: string;
  /** URLs of one or more nodes in order of preference; `http:`, `https:`, `ws:` or `wss:`. */
  urls: readonly string[];
  /** Milliseconds between polls of the head. Default: adapts to the chain's block time. */
  pollMs?: number | undefined;
  /** Accepts unverifiable data from a single node. Default: false. */
  acceptUnverified?: boolean | undefined;
  /**
   * Whether blocks must be proven. Default: on known chains, and on others if the verdict requires
   * it.
   */
  proof?: 'on' | 'off' | undefined;
  /** Storage for the verdict on an unknown chain. Without it, no verdict is determined. */
  verdicts?: VerdictStore | undefined;
  /**
   * Whether to read the header of every block in ranges that are searched by logs. Default: false.
   */
  verifyHeaders?: boolean | undefined;
  log: Log;
}

/** A header, or as much of it as is known before the block is read. */
type KnownHeader = BlockRef & Partial<Pick<BlockHeader, 'parentHash' | 'timestamp'>>;

export function createEvmSource({
  chain,
  urls,
  pollMs,
  acceptUnverified = false,
  proof,
  verdicts,
  verifyHeaders = false,
  log,
}: EvmSourceOptions): Source {
  const prover = createProver({
    ...{ chain, log },
    setting: proof,
    nodes: () => providers.all,
    store: verdicts,
  });
  const providers = createProviders({
    chain,
    urls,
    flag: '--chain',
    identity: 'block 0',
    log,
    create: (url, name, isAlone) => createProvider(chain, url, name, prover.headers, isAlone),
  });
  const polling = createHeadPolling(pollMs);
  const verify = createVerifier({
    ...{ chain, acceptUnverified, log },
    isStrict: () => isProvableChain(chain) || prover.isRequired(),
  });
  const receipts = createReceiptReader(prover);
  const traces = createTraceReader();

  /** Reads the block and checks that it matches what is known of its header. */
  const readBody = async (
    node: Provider,
    header: KnownHeader,
    needs: BlockNeeds,
  ): Promise<{ block: Json; seen: BlockHeader }> => {
    const what = `${node.name}: block ${header.number} ${header.hash}`;
    const block = object(
      await node.request('eth_getBlockByHash', [header.hash, needs.transactions]),
      what,
    );
    const seen = toHeader(block, prover.headers());
    if (
      seen.hash !== header.hash ||
      seen.number !== header.number ||
      (header.parentHash ?? seen.parentHash) !== seen.parentHash ||
      (header.timestamp ?? seen.timestamp) !== seen.timestamp
    ) {
      // Either this node or the provider of the header is wrong. Blaming only this node would let a
      // lying node with early headers discredit all others.
      providers.doubt(header.hash);
      throw new SourceError(
        'inconsistent',
        `${what} was returned as ${seen.number} ${seen.hash} on ${seen.parentHash} at ${seen.timestamp}`,
      );
    }
    return { block, seen };
  };

  /** Reads the block from one provider. Another one may supply a missing part by the same hash. */
  const readBlockOf = async (
    node: Provider,
    header: KnownHeader,
    wanted: BlockNeeds,
  ): Promise<EvmBlock> => {
    await prover.load();
    // A proof needs the complete block, even if only its logs are needed.
    const isProving = prover.isRequired() || prover.isJudging();
    const needs = { ...wanted, transactions: wanted.transactions || (wanted.logs && isProving) };
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
            // If versions are compared, each one must come from the node's own block.
            const body =
              from === node || isFirst ? block : (await readBody(from, header, needs)).block;
            if (!needs.transactions) return receipts.readLogs(from, body, seen);
            const { receipts: raw, ...parts } = await receipts.readAll(from, body, seen);
            if (wanted.proofs && prover.isRequired() && parts.doubts.length === 0) {
              parts.proofs = createProofs(body, raw);
            }
            if (wanted.transactions) return parts;
            // The search for a verdict must not delay a block of which only the logs are needed.
            return parts.doubts.length > 0 && !prover.isRequired()
              ? receipts.readLogs(from, body, seen)
              : { ...parts, transactions: [] };
          })
        : undefined;
    return { ...seen, logs: [], transactions: [], ...rest, internalTransactions };
  };

  const readBlock = async (header: KnownHeader, needs: BlockNeeds): Promise<EvmBlock> => {
    const block = await providers.ask((node) => readBlockOf(node, header, needs), {
      hash: header.hash,
    });
    return block!;
  };

  return {
    get lacksTraces() {
      return providers.all.every(traces.isMissingAt);
    },
    providers: providers.health,
    agreement: providers.agreement,
    proof: prover.health,
    readGenesisHash: providers.readGenesisHash,
    readHead: () => polling.poll(providers.readHead),
    readHeader: (at) =>
      typeof at === 'number' ? providers.readHeaderAt(at) : providers.readHeaderOf(at),
    doubt: providers.doubt,

    readBlock,
    openSearch: createLogRanges({
      ...{ chain, providers, verifyHeaders, log },
      headerProof: prover.headers,
    }),
    readFound: readBlock,

    findTransaction: (hash) => findTransaction(providers, hash),
    readFinalized: providers.readFinalized,
    readTagged: providers.readTagged,
    sizeOf,

    requestAt: createStateRequests(chain, providers),

    watchHeads(onHint) {
      const stops = [
        polling.start(onHint),
        providers.survey(polling.surveyMs),
        ...providers.all.map((each) => each.subscribeHeads(onHint)),
      ];
      return () => stops.forEach((stop) => stop());
    },

    stop: providers.close,
  };
}

function createStateRequests(
  chain: string,
  providers: Pick<Providers<Provider>, 'ask'>,
): Source['requestAt'] {
  return async (block, method, params, maxBytes) => {
    let lacking: SourceError | undefined;
    const result = await providers.ask(
      async (node) => {
        const isKnown = node.knows(block.hash) || (await node.readHeaderOf(block.hash));
        if (!isKnown) return undefined;
        try {
          const how = { order: 'aside', isOptional: true, maxBytes } as const;
          return { value: await node.request(method, params, how) };
        } catch (error) {
          // Few nodes keep old states, so the lack of one does not count against a node.
          if (!isOfKind(error, 'missing', 'pruned')) throw error;
          lacking = error;
          return undefined;
        }
      },
      { hash: block.hash },
    );
    if (result !== undefined) return result.value;
    if (lacking !== undefined) throw lacking;
    throw new SourceError('missing', `no node of ${chain} has block ${block.number} ${block.hash}`);
  };
}

async function findTransaction(
  providers: Pick<Providers<Provider>, 'ask'>,
  hash: string,
): Promise<TransactionPlace | undefined> {
  const found = await providers.ask(async (node) => {
    const answer = await node.request('eth_getTransactionByHash', [hash], { order: 'aside' });
    return answer === null ? undefined : object(answer, `${node.name}: transaction ${hash}`);
  });
  if (found === undefined) return undefined;
  const at = found['blockHash'];
  return typeof at === 'string' ? { at } : 'pending';
}

/** Estimates the memory size of a block: its text and an overhead. */
function sizeOf(block: EvmBlock): number {
  let bytes = 1_000;
  for (const log of block.logs) bytes += 800 + 2 * log.data.length;
  for (const transaction of block.transactions) bytes += 1_500 + 2 * transaction.input.length;
  return bytes + 500 * block.internalTransactions.length;
}

export interface TraceReader {
  /**
   * Returns the internal transactions; undefined if this node does not trace blocks.
   *
   * @param hashes hashes of the block's transactions, in order
   */
  read(
    node: Provider,
    header: BlockHeader,
    hashes: readonly string[],
  ): Promise<EvmInternalTransaction[] | undefined>;
  /** Returns whether this node is known not to trace blocks. */
  isMissingAt(node: Provider): boolean;
}

/** Reads the internal transactions of a block in the trace dialect that a node offers. */
function createTraceReader(): TraceReader {
  /** Dialect of each provider that was tried. */
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
