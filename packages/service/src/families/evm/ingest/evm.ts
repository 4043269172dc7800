/** Reads the blocks of an EVM chain over JSON-RPC by hash, and accepts them on evidence. */
import type { BlockNeeds } from '../../../store/blocks/contract.ts';
import type { ChainProof, ChainTrust } from '@sluice/kit/contract';
import type { EvmBlock } from '../match/block.ts';
import type { Log } from '../../../base/log.ts';
import { createAcceptance } from './acceptance.ts';
import { createAnswers } from './answers.ts';
import { createBlockReading } from './blockReading.ts';
import { createHeaderProver } from './headerLayout.ts';
import { createHeaderRules, isStrict } from './headerRules.ts';
import { createLearnedFacts } from './learned.ts';
import { networkOf } from './networks.ts';
import { createChooseBest } from './bestAnswer.ts';
import { EVM_RECORDS } from './recordIds.ts';
import { createLogRanges } from './ranges/logRanges.ts';
import { toObject } from '../../../ingest/json.ts';
import { type Provider, createProvider, isReverted } from './provider.ts';
import { createHeadPolling } from '../../../ingest/nodes/headPolling.ts';
import {
  type AddedNodes,
  type Operators,
  type Providers,
  createProviders,
} from '../../../ingest/nodes/providers.ts';
import { createSettling } from './settling.ts';
import { SourceError, type TransactionPlace, isOfKind } from '../../../ingest/source.ts';
import type { EvmSource } from './source.ts';
import { createTraceReader } from './traces.ts';
import { createWays } from './ways.ts';
import { flagOf } from '../../../config/settings.ts';
import { EVM_SETTINGS } from '../config/settings.ts';

export interface EvmSourceOptions {
  chain: string;
  /** URLs of one or more nodes in order of preference; `http:`, `https:`, `ws:` or `wss:`. */
  urls: readonly string[];
  /** Milliseconds between polls of the head. Default: adapted to the chain's block time. */
  pollMs?: number | undefined;
  /** The evidence that a block needs. Default: `evidence`. */
  trust?: ChainTrust | undefined;
  /**
   * Milliseconds for which a single witness must return the same content of a block that is not
   * proven. Default: {@link DEFAULT_SETTLE_MS}.
   */
  settleMs?: number | undefined;
  /**
   * When a block with a failed check is read again: milliseconds after it was accepted. Default:
   * {@link READ_AGAIN_AFTER_MS}.
   */
  readAgainAfterMs?: readonly number[] | undefined;
  /** Operators of nodes by URL. Default: by the host of the URL. */
  operators?: Operators | undefined;
  /**
   * Whether to read the header of every block in ranges that are searched by logs. Default: false.
   */
  verifyHeaders?: boolean | undefined;
  /** Nodes that were added while the service ran. Default: none. */
  added?: AddedNodes | undefined;
  log: Log;
}

const DEFAULT_SETTLE_MS = EVM_SETTINGS.settle.type.parse(undefined) * 1_000;
/** 10 minutes, 1 hour and 1 day. */
const READ_AGAIN_AFTER_MS: readonly number[] = [600_000, 3_600_000, 86_400_000];

const NO_NEEDS: BlockNeeds = { logs: false, transactions: false, traces: false };
const LOGS: BlockNeeds = { ...NO_NEEDS, logs: true };

export function createEvmSource({
  chain,
  urls,
  pollMs,
  trust = 'evidence',
  settleMs = DEFAULT_SETTLE_MS,
  readAgainAfterMs = READ_AGAIN_AFTER_MS,
  operators,
  verifyHeaders = false,
  added,
  log,
}: EvmSourceOptions): EvmSource {
  const network = networkOf(chain);
  const learned = createLearnedFacts();
  const headers = createHeaderRules({ trust, network, prover: createHeaderProver(), learned });
  const ways = createWays<Provider>();
  const providers = createProviders<Provider>({
    chain,
    urls,
    added,
    operators,
    flag: flagOf('chains'),
    identity: 'block 0',
    isExpected: isReverted,
    log,
    create: (url, { name, isAlone, connect }) =>
      createProvider(chain, url, name, headers, isAlone, connect),
  });
  const polling = createHeadPolling(pollMs);
  const traces = createTraceReader(ways);

  /** The needs of the last block, for blocks that are read ahead while it settles. */
  let needs = NO_NEEDS;
  const settling = createSettling((number) => reading.readAt(number, needs));
  const hasWitnesses = (): boolean =>
    providers.all.some((each) => providers.witnesses(each).length > 0);
  const reading = createBlockReading({
    providers,
    traces,
    answers: createAnswers({ network, learned, ways }),
    accept: createAcceptance({
      chain,
      trust,
      network,
      settleMs,
      settling,
      log,
      nodes: providers,
    }),
    chooseBest: createChooseBest({ network, nodes: providers }),
    readAgainInMs: readAgainAfterMs[0],
    isChecked: trust !== 'node',
    readsRoots: () =>
      isStrict(trust, network) || (hasWitnesses() && learned.areRootsWorthReading()),
  });
  const read: typeof reading.read = (header, wanted) => {
    needs = wanted;
    return reading.read(header, wanted);
  };

  return {
    get lacksTraces() {
      return providers.all.every(traces.isMissingAt);
    },
    providers: providers.health,
    agreement: providers.agreement,
    trust,
    proof: () => learned.proof() ?? describeUnread(trust),
    readGenesisHash: providers.readGenesisHash,
    async readHead() {
      const head = await polling.poll(providers.readHead);
      settling.followHead(head.number);
      return head;
    },
    readHeader: (at) =>
      typeof at === 'number' ? providers.readHeaderAt(at) : providers.readHeaderOf(at),
    doubt: providers.doubt,

    readBlock: read,
    readBlockAt: (number, wanted) => {
      needs = wanted;
      return reading.readAt(number, wanted);
    },
    // With `strict`, every block is read, because logs of a range prove nothing.
    ...(trust !== 'strict' && {
      openSearch: createLogRanges({
        chain,
        providers,
        readLogsOf: async (block) => (await reading.read(block, LOGS)).logs,
        isCompared: trust !== 'node',
        isVerified: verifyHeaders,
        log,
      }),
    }),
    later: { afterMs: readAgainAfterMs, records: EVM_RECORDS, read: reading.readAgain },

    findTransaction: (hash) => findTransaction(providers, hash),
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

    async stop() {
      settling.stop();
      await providers.close();
    },
  };
}

/** Describes why blocks are not proven before a complete block was read. */
const describeUnread = (trust: ChainTrust): ChainProof => ({
  isProven: false,
  reason:
    trust === 'node'
      ? 'trust=node'
      : 'no complete block was read yet: with a single node, only the logs are read if no stream needs more',
});

function createStateRequests(
  chain: string,
  providers: Pick<Providers<Provider>, 'ask'>,
): EvmSource['requestAt'] {
  return async (block, method, params, given) => {
    let lacking: SourceError | undefined;
    const result = await providers.ask(
      async (node) => {
        const isKnown = node.knows(block.hash) || (await node.readHeaderOf(block.hash));
        if (!isKnown) return undefined;
        try {
          const how = { order: 'aside', isOptional: true, ...given } as const;
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
    return answer === null ? undefined : toObject(answer, `${node.name}: transaction ${hash}`);
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
  for (const call of block.calls ?? []) bytes += 800 + 2 * call.input.length;
  return bytes + 500 * block.internalTransactions.length;
}
