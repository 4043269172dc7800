/**
 * Reads the final blocks of an Aptos chain in order and without gaps. Transactions come from a gRPC
 * transaction stream if one is available, otherwise from the REST API of a fullnode. Everything
 * else comes from the REST API.
 */
import type { AptosNetwork } from '@sluice/kit/contract';
import type { AptosBlock, AptosTransaction } from '../match/block.ts';
import type { Log } from '../../../base/log.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { type AptosPage, CHAIN_IDS, createAptosProvider } from './provider.ts';
import { createAptosRuns } from './runs.ts';
import { createAptosStores } from './stores.ts';
import { createAptosStream } from './stream.ts';
import { type AddedNodes, createProviders, nameOf } from '../../../ingest/nodes/providers.ts';
import { createStateLog } from '../../../ingest/nodes/survey.ts';
import { type ChainSource, SourceError, headerOf } from '../../../ingest/source.ts';
import { flagOf } from '../../../config/settings.ts';

export interface AptosSourceOptions {
  network: AptosNetwork;
  /** URLs of one or more REST APIs, in order of preference. */
  urls: readonly string[];
  /** URLs of gRPC transaction streams, `grpc:` or `grpcs:`. Default: none. */
  streams?: readonly string[] | undefined;
  /** Milliseconds between polls of the head. */
  pollMs: number;
  /** Nodes that were added while the service ran. Default: none. */
  added?: AddedNodes | undefined;
  log: Log;
}

export interface AptosSource extends ChainSource<AptosBlock> {
  /**
   * Returns the height of the block with this ledger version; undefined if no node has the version.
   */
  readHeightOf(version: number): Promise<number | undefined>;
  /**
   * Reads the current data of a resource; undefined if a node that has reached block `since` has
   * none.
   */
  readResource(address: string, type: string, since: number): Promise<unknown>;
}

/** Maximum number of heads to keep; enough to keep each one until its block is read. */
const MAX_HEADS = 256;
const POLLS_PER_SURVEY = 10;
const SURVEY_MAX_MS = 15_000;

const lacksPayload = ({ type, payload }: AptosTransaction): boolean =>
  type === 'user_transaction' && payload === undefined;

export function createAptosSource({
  network,
  urls,
  streams: streamUrls = [],
  pollMs,
  added,
  log,
}: AptosSourceOptions): AptosSource {
  const chain = `aptos:${network}`;
  const providers = createProviders({
    chain,
    urls,
    added,
    flag: flagOf('aptos'),
    identity: 'chain ID',
    log,
    create: (url, { name, connect }) => createAptosProvider(network, url, name, connect),
  });
  let chainId = CHAIN_IDS[network]?.toString();
  const streams = streamUrls.map((url, n) =>
    createAptosStream(url, nameOf(streamUrls, n), () => chainId),
  );
  const logStates = createStateLog(chain, log);
  /**
   * Reads a page from the best stream that has it, or from a fullnode if no stream has it or if the
   * stream lacks the payload of a transaction, as it may for encrypted ones.
   */
  const readPage = async (start: number, limit: number): Promise<AptosPage> => {
    const usable = streams.filter(({ score }) => score !== undefined);
    for (const stream of usable.toSorted((a, b) => a.score! - b.score!)) {
      try {
        const page = await stream.readPage(start, limit);
        if (!page.transactions.some(lacksPayload)) return page;
        break;
      } catch (error) {
        if (!(error instanceof SourceError)) throw error;
      } finally {
        logStates(streams);
      }
    }
    const page = await providers.ask((provider) => provider.readPage(start, limit));
    if (page !== undefined) return page;
    throw new SourceError('missing', `no node of ${chain} has version ${start}`);
  };
  const readResource: AptosSource['readResource'] = (address, type, since) =>
    providers.ask(async (provider) => {
      const data = await provider.readResource(address, type, undefined);
      if (data !== undefined || (await provider.readHead()).number >= since) return data;
      throw new SourceError('missing', `${provider.name}: block ${since} is not available yet`);
    });
  const stores = createAptosStores((address, type, version) =>
    providers.ask((provider) => provider.readResource(address, type, version)),
  );
  /** Hashes of observed heads, by height. Blocks that are read later must have these hashes. */
  const heads = new Map<number, string>();
  const readAgreedHead = async (): Promise<BlockHeader> => {
    const head = await providers.readHead();
    heads.delete(head.number);
    heads.set(head.number, head.hash);
    if (heads.size > MAX_HEADS) heads.delete(heads.keys().next().value!);
    return head;
  };
  const ledgerVersion = (): number =>
    Math.max(0, ...providers.all.map((provider) => provider.ledger()?.version ?? 0));

  const runs = createAptosRuns({
    readBounds: (height) => providers.ask((provider) => provider.readBounds(height)),
    readPage,
    hashAt: (number) => heads.get(number),
    ledgerVersion,
  });

  const readAt = async (height: number): Promise<AptosBlock | undefined> => {
    const block = await runs.read(height);
    if (block !== undefined) return block;
    // The block may have arrived since the last read of the head.
    await readAgreedHead();
    return runs.read(height);
  };

  return {
    lacksTraces: false,
    providers: () => [
      ...providers.health(),
      ...streams.map((each) => ({ ...each.health(), isPrimary: false, addedId: null })),
    ],
    agreement: providers.agreement,
    async readGenesisHash(expected) {
      chainId = await providers.readGenesisHash(expected);
      return chainId;
    },
    async readHead(): Promise<BlockHeader> {
      const head = await readAgreedHead();
      if (runs.isReading()) return head;
      // Reading starts at a complete block, because the newest one may still grow.
      const block = (await runs.read(head.number)) ?? (await runs.read(head.number - 1));
      return block === undefined ? head : headerOf(block);
    },
    async readHeader(at) {
      if (typeof at === 'string') return undefined;
      const block = await readAt(at);
      return block && headerOf(block);
    },
    async readBlockAt(number) {
      const block = await readAt(number);
      if (block === undefined) return undefined;
      await stores.complete(block);
      return { header: headerOf(block), block };
    },
    doubt: providers.doubt,
    async readBlock(header) {
      const block = await runs.read(header.number);
      if (block?.hash === header.hash) {
        await stores.complete(block);
        return block;
      }
      throw new SourceError(
        'missing',
        `no node of ${chain} has block ${header.number} ${header.hash}`,
      );
    },
    async findTransaction(hash) {
      const version = await providers.ask((provider) => provider.findTransaction(hash));
      if (version === undefined || version === 'pending') return version;
      const at = await providers.ask((provider) => provider.readHeightOf(version));
      return at === undefined ? undefined : { at };
    },
    readTagged: async () => undefined,
    // The head itself may still grow.
    readNewestComplete: async ({ number }) =>
      number === 0 ? undefined : providers.readHeaderAt(number - 1),
    sizeOf: ({ sizeBytes }) => sizeBytes,
    readResource,
    readHeightOf: (version) => providers.ask((provider) => provider.readHeightOf(version)),
    watchHeads(onHint) {
      const timer = setInterval(onHint, pollMs);
      const stopSurvey = providers.survey(Math.min(pollMs * POLLS_PER_SURVEY, SURVEY_MAX_MS));
      return () => {
        clearInterval(timer);
        stopSurvey();
      };
    },
    async stop() {
      for (const stream of streams) stream.close();
      await providers.close();
    },
  };
}
