/** One Aptos fullnode and the requests to it. */
import { type AptosNetwork, toAptosChain } from '@sluice/kit/contract';
import type { buildConnector } from 'undici';
import type { AptosJson, AptosTransaction } from '../match/block.ts';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { type AptosRest, createAptosRest } from './rest.ts';
import { toAptosTransaction } from './transaction.ts';
import { toList, toObject, showValue } from '../../../ingest/json.ts';
import { SourceError } from '../../../ingest/source.ts';
import { createNodeTracker } from '../../../ingest/nodes/nodeTracker.ts';
import type { AnyProvider, Identity } from '../../../ingest/nodes/anyProvider.ts';
import { flagOf } from '../../../config/settings.ts';

export interface AptosProvider extends AnyProvider {
  /**
   * Returns the ranges of the node's ledger at the last read of its head; undefined before the
   * first read.
   */
  ledger(): AptosLedger | undefined;
  /** Reads the block at this height without its transactions; undefined if the node lacks it. */
  readBounds(height: number): Promise<AptosBounds | undefined>;
  /**
   * Reads between one and `limit` contiguous transactions, starting with this version.
   * @throws SourceError `missing` if there are none, `inconsistent` if a version is skipped
   */
  readPage(start: number, limit: number): Promise<AptosPage>;
  /** Returns the height of the block with this version; undefined if the node does not find it. */
  readHeightOf(version: number): Promise<number | undefined>;
  /** Returns a transaction's version, or `pending` before it has one; undefined if unknown. */
  findTransaction(hash: string): Promise<number | 'pending' | undefined>;
  /**
   * Reads the data of a resource as of this version, or the current data if `version` is undefined;
   * returns undefined if there is none.
   */
  readResource(address: string, type: string, version: number | undefined): Promise<unknown>;
}

/** The inclusive ranges of heights and versions that a node has. */
export interface AptosLedger {
  height: number;
  oldestHeight: number;
  version: number;
  oldestVersion: number;
}

export interface AptosBounds extends BlockHeader {
  firstVersion: number;
  lastVersion: number;
}

export interface AptosPage {
  transactions: AptosTransaction[];
  sizeBytes: number;
  giver: Pick<AnyProvider, 'name' | 'fault'>;
}

/** Networks with a stable chain id. Other networks get a new chain id on every reset. */
export const CHAIN_IDS: Partial<Record<AptosNetwork, number>> = { mainnet: 1, testnet: 2 };
/** Chain ID of local networks, as `NamedChain::TESTING` of Aptos. */
const LOCAL_CHAIN_ID = 4;
/** Placeholder for the hash of the previous block, which block responses do not include. */
export const UNKNOWN_HASH = `0x${'0'.repeat(64)}`;

/** Asks a node which network it serves; undefined if the network has no stable chain id. */
export async function findAptosChain(
  url: string,
  name: string,
  connect?: buildConnector.connector,
): Promise<string | undefined> {
  const rest = createAptosRest(url, name, connect);
  try {
    const answer = await rest.get('');
    const id = whole(toObject(answer?.value, name), 'chain_id', name);
    const ids = { ...CHAIN_IDS, local: LOCAL_CHAIN_ID };
    const network = (Object.keys(ids) as AptosNetwork[]).find((each) => ids[each] === id);
    return network && toAptosChain(network);
  } finally {
    await rest.close();
  }
}

export function createAptosProvider(
  network: AptosNetwork,
  url: string,
  name: string,
  connect?: buildConnector.connector,
): AptosProvider {
  const rest: AptosRest = createAptosRest(url, name, connect);
  let ledger: AptosLedger | undefined;

  const get = (path: string, isShort: boolean) => tracker.run(() => rest.get(path), { isShort });

  const readLedger = async (): Promise<AptosLedger & { chainId: number }> => {
    const answer = await get('', true);
    const info = toObject(answer?.value, `${name}: its ledger`);
    return {
      chainId: whole(info, 'chain_id', name),
      height: whole(info, 'block_height', name),
      oldestHeight: whole(info, 'oldest_block_height', name),
      version: whole(info, 'ledger_version', name),
      oldestVersion: whole(info, 'oldest_ledger_version', name),
    };
  };

  const readIdentity = async (): Promise<Identity> => {
    const { chainId } = await readLedger();
    const wanted = CHAIN_IDS[network];
    if (wanted !== undefined && chainId !== wanted) {
      throw new SourceError(
        'wrong-chain',
        `${name} serves the Aptos chain ${chainId}, not ${network}, which is ${wanted}. Correct ${flagOf('aptos')} ${network}=<url>`,
      );
    }
    return { genesisHash: String(chainId) };
  };

  const readBounds = async (height: number): Promise<AptosBounds | undefined> => {
    const answer = await get(`blocks/by_height/${height}`, true).catch(
      explainPruned(`block ${height}`),
    );
    if (answer === undefined) return undefined;
    const what = `${name}: block ${height}`;
    const block = toObject(answer.value, what);
    const hash = block['block_hash'];
    if (whole(block, 'block_height', what) !== height || !isHash(hash)) {
      throw new SourceError(
        'inconsistent',
        `${what} was returned as ${showValue(block['block_height'])}`,
      );
    }
    tracker.remember(hash);
    return {
      number: height,
      hash,
      parentHash: UNKNOWN_HASH,
      timestamp: Math.floor(whole(block, 'block_timestamp', what) / 1_000_000),
      firstVersion: whole(block, 'first_version', what),
      lastVersion: whole(block, 'last_version', what),
    };
  };

  /**
   * Adds advice for the operator to an error about pruned data; rethrows any other error. If blocks
   * can be skipped, suggests the second-oldest one, because resuming at a block requires the block
   * before it.
   */
  const explainPruned =
    (what: string, canSkip = true) =>
    (error: unknown): never => {
      if (!(error instanceof SourceError) || error.kind !== 'pruned') throw error;
      const oldest = ledger === undefined ? '' : `; its oldest block is ${ledger.oldestHeight}`;
      const flag = `${flagOf('aptos')} ${network}=`;
      const add =
        typeof error.data === 'string'
          ? `the archive that it names with ${flag}${error.data}`
          : `a node that has it, such as an archive, with ${flag}<url>`;
      const from = ledger === undefined ? '<block>' : ledger.oldestHeight + 1;
      const skip = `, or skip the pruned blocks: sluice chains resume aptos:${network} --from ${from}`;
      throw new SourceError(
        'pruned',
        `${name}: ${what} was pruned${oldest}. Add ${add}${canSkip ? skip : ''}`,
      );
    };

  const tracker = createNodeTracker(name, readIdentity);
  const provider: AptosProvider = Object.assign(tracker, {
    ledger: () => ledger,
    async readHead(): Promise<BlockHeader> {
      ledger = await readLedger();
      const header = await readBounds(ledger.height);
      if (header === undefined)
        throw new SourceError('missing', `${name}: the latest block is missing`);
      tracker.recordHead(header);
      return header;
    },
    readTagged: async () => undefined,
    readHeaderAt: readBounds,
    // Nodes find blocks only by height or version.
    readHeaderOf: async () => undefined,
    readBounds,
    async readHeightOf(version: number): Promise<number | undefined> {
      const answer = await get(`blocks/by_version/${version}`, true).catch(
        explainPruned(`version ${version}`, false),
      );
      const what = `${name}: the block of version ${version}`;
      return answer && whole(toObject(answer.value, what), 'block_height', what);
    },
    async findTransaction(hash: string): Promise<number | 'pending' | undefined> {
      const answer = await get(`transactions/by_hash/${hash}`, false);
      if (answer === undefined) return undefined;
      const what = `${name}: transaction ${hash}`;
      const found = toObject(answer.value, what);
      return found['version'] === undefined ? 'pending' : whole(found, 'version', what);
    },
    async readPage(start: number, limit: number): Promise<AptosPage> {
      const what = `${name}: transactions from ${start}`;
      const answer = await get(`transactions?start=${start}&limit=${limit}`, false).catch(
        explainPruned(`version ${start}`),
      );
      const given = toList(answer?.value, what);
      if (given.length === 0) throw new SourceError('missing', `${what}: the page is empty`);
      const transactions = given
        .slice(0, limit)
        .map((raw) => toAptosTransaction(toObject(raw, what) as AptosJson, what));
      for (const [n, { version }] of transactions.entries()) {
        if (version === start + n) continue;
        throw new SourceError(
          'inconsistent',
          `${what}: version ${version} was returned instead of ${start + n}`,
        );
      }
      return { transactions, sizeBytes: answer!.sizeBytes, giver: provider };
    },
    async readResource(address: string, type: string, version: number | undefined) {
      const at = version === undefined ? '' : `?ledger_version=${version}`;
      const answer = await get(
        `accounts/${address}/resource/${encodeURIComponent(type)}${at}`,
        false,
      );
      return answer && toObject(answer.value, `${name}: ${type} of ${address}`)['data'];
    },
    close: rest.close,
  });
  return provider;
}

const isHash = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[\da-f]{64}$/.test(value);

/**
 * Parses a non-negative integer. The API sends 64-bit integers as strings, smaller ones as numbers.
 */
function whole(from: Record<string, unknown>, key: string, what: string): number {
  const value = from[key];
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new SourceError('inconsistent', `${what}: invalid ${key} ${showValue(value)}`);
}
