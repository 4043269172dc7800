/** Reads the blocks of an EVM chain over JSON-RPC by hash, with consistency checks. */
import type { EvmBlock } from '../../match/evm/block.ts';
import type { Log } from '../../base/log.ts';
import { createBlockReading } from './blockReading.ts';
import { isProvableChain } from './header.ts';
import { createLogRanges } from './ranges/logRanges.ts';
import { object } from '../json.ts';
import { type Provider, createProvider } from './provider.ts';
import { createHeadPolling } from '../nodes/headPolling.ts';
import { type AddedNodes, type Providers, createProviders } from '../nodes/providers.ts';
import { type VerdictStore, createProver } from './proof/prover.ts';
import { createReceiptReader } from './receiptReader.ts';
import { type Source, SourceError, type TransactionPlace, isOfKind } from '../source.ts';
import { createVerifier } from './unverified.ts';
import { createTraceReader } from './traces.ts';

export interface EvmSourceOptions {
  chain: string;
  /** URLs of one or more nodes in order of preference; `http:`, `https:`, `ws:` or `wss:`. */
  urls: readonly string[];
  /** Milliseconds between polls of the head. Default: adapted to the chain's block time. */
  pollMs?: number | undefined;
  /** Whether to accept unverifiable data that only one node returned. Default: false. */
  acceptUnverified?: boolean | undefined;
  /**
   * Whether blocks must be proven. Default: on for known chains, and for other chains once a
   * verdict requires proofs.
   */
  proof?: 'on' | 'off' | undefined;
  /** Storage for the verdict on a chain that is not known; if omitted, there is no verdict. */
  verdicts?: VerdictStore | undefined;
  /**
   * Whether to read the header of every block in ranges that are searched by logs. Default: false.
   */
  verifyHeaders?: boolean | undefined;
  /** Nodes that were added while the service ran. Default: none. */
  added?: AddedNodes | undefined;
  log: Log;
}

export function createEvmSource({
  chain,
  urls,
  pollMs,
  acceptUnverified = false,
  proof,
  verdicts,
  verifyHeaders = false,
  added,
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
    added,
    flag: '--chain',
    identity: 'block 0',
    log,
    create: (url, { name, isAlone, connect }) =>
      createProvider(chain, url, name, prover.headers, isAlone, connect),
  });
  const polling = createHeadPolling(pollMs);
  const traces = createTraceReader();

  const blocks = createBlockReading({
    ...{ providers, prover, traces },
    receipts: createReceiptReader(prover),
    verify: createVerifier({
      ...{ chain, acceptUnverified, log },
      isStrict: () => isProvableChain(chain) || prover.isRequired(),
    }),
  });

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

    readBlock: blocks.read,
    readBlockAt: blocks.readAt,
    openSearch: createLogRanges({
      ...{ chain, providers, verifyHeaders, log },
      headerProof: prover.headers,
    }),
    readFound: blocks.read,

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
          // Few nodes keep old states, so a missing state does not count against a node.
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

/** Estimates the memory size of a block in bytes: its text and an overhead. */
function sizeOf(block: EvmBlock): number {
  let bytes = 1_000;
  for (const log of block.logs) bytes += 800 + 2 * log.data.length;
  for (const transaction of block.transactions) bytes += 1_500 + 2 * transaction.input.length;
  return bytes + 500 * block.internalTransactions.length;
}
