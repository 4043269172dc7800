/** One Aptos fullnode: what it is asked, and how. */
import type { AptosNetwork } from '@sluice/kit/contract';
import type { AptosJson, AptosTransaction } from '../../match/aptos/block.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { type AptosRest, createAptosRest } from './rest.ts';
import { toAptosTransaction } from './transaction.ts';
import { list, object } from '../json.ts';
import { SourceError } from '../source.ts';
import { type AnyProvider, type Identity, createStanding } from '../nodes/standing.ts';

export interface AptosProvider extends AnyProvider {
  /** Where the node stood when its head was last read; undefined before that. */
  ledger(): AptosLedger | undefined;
  /** Its block at this height, without the transactions; undefined where it has none. */
  readBounds(height: number): Promise<AptosBounds | undefined>;
  /**
   * Transactions from this version on, at most `limit`: fewer where the node ends a page early, never
   * none, and none left out. Throws `inconsistent` where one is.
   */
  readPage(start: number, limit: number): Promise<AptosPage>;
  /** Height of the block that holds this version; undefined where it has none. */
  readHeightOf(version: number): Promise<number | undefined>;
  /** Version of the transaction with this hash, `pending` without one; undefined where it is not known. */
  findTransaction(hash: string): Promise<number | 'pending' | undefined>;
  /** The data of a resource after this version, or now; undefined where there is none. */
  readResource(address: string, type: string, version: number | undefined): Promise<unknown>;
}

/** Of a node: heights and versions it has, both ends included. */
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

/** Of the networks that keep theirs; others get a new one when they are set up anew. */
export const CHAIN_IDS: Partial<Record<AptosNetwork, number>> = { mainnet: 1, testnet: 2 };
/** Some seconds of blocks. */
const LAG_BLOCKS = 50;
/** A block's own answer does not name the one before it. */
export const UNKNOWN_HASH = `0x${'0'.repeat(64)}`;

export function createAptosProvider(
  network: AptosNetwork,
  url: string,
  name: string,
): AptosProvider {
  const rest: AptosRest = createAptosRest(url, name);
  let ledger: AptosLedger | undefined;

  const get = (path: string, isShort: boolean) => standing.run(() => rest.get(path), { isShort });

  const readLedger = async (): Promise<AptosLedger & { chainId: number }> => {
    const answer = await get('', true);
    const info = object(answer?.value, `${name}: its ledger`);
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
        `${name} serves the Aptos chain ${chainId}, not ${network}, which is ${wanted}: correct --aptos ${network}=<url>`,
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
    const block = object(answer.value, what);
    const hash = block['block_hash'];
    if (whole(block, 'block_height', what) !== height || typeof hash !== 'string') {
      throw new SourceError('inconsistent', `${what} came as ${String(block['block_height'])}`);
    }
    standing.remember(hash);
    return {
      number: height,
      hash,
      parentHash: UNKNOWN_HASH,
      timestamp: Math.floor(whole(block, 'block_timestamp', what) / 1_000_000),
      firstVersion: whole(block, 'first_version', what),
      lastVersion: whole(block, 'last_version', what),
    };
  };

  /** Says what to do where the node no longer has it; to go on takes the block before the first. */
  const explainPruned =
    (what: string) =>
    (error: unknown): never => {
      if (!(error instanceof SourceError) || error.kind !== 'pruned') throw error;
      const oldest = ledger === undefined ? '' : `; its oldest block is ${ledger.oldestHeight}`;
      throw new SourceError(
        'pruned',
        `${name}: it no longer has ${what}${oldest}. Add a node that has it with ` +
          `--aptos ${network}=<url>, or leave out what is gone: ` +
          `sluice chains resume aptos:${network} --from ${ledger === undefined ? '<block>' : ledger.oldestHeight + 1}`,
        { cause: error },
      );
    };

  const standing = createStanding(name, readIdentity, { lagBlocks: LAG_BLOCKS });
  const provider: AptosProvider = Object.assign(standing, {
    ledger: () => ledger,
    async readHead(): Promise<BlockHeader> {
      ledger = await readLedger();
      const header = await readBounds(ledger.height);
      if (header === undefined) throw new SourceError('missing', `${name}: it has no latest block`);
      standing.noteHead(header);
      return header;
    },
    readTagged: async () => undefined,
    readHeaderAt: readBounds,
    // Nodes find blocks by height and by version alone.
    readHeaderOf: async () => undefined,
    readBounds,
    async readHeightOf(version: number): Promise<number | undefined> {
      const answer = await get(`blocks/by_version/${version}`, true);
      const what = `${name}: the block of version ${version}`;
      return answer && whole(object(answer.value, what), 'block_height', what);
    },
    async findTransaction(hash: string): Promise<number | 'pending' | undefined> {
      const answer = await get(`transactions/by_hash/${hash}`, false);
      if (answer === undefined) return undefined;
      const what = `${name}: transaction ${hash}`;
      const found = object(answer.value, what);
      return found['version'] === undefined ? 'pending' : whole(found, 'version', what);
    },
    async readPage(start: number, limit: number): Promise<AptosPage> {
      const what = `${name}: transactions from ${start}`;
      const answer = await get(`transactions?start=${start}&limit=${limit}`, false).catch(
        explainPruned(`version ${start}`),
      );
      const given = list(answer?.value, what);
      if (given.length === 0) throw new SourceError('missing', `${what} came as an empty page`);
      const transactions = given
        .slice(0, limit)
        .map((raw) => toAptosTransaction(object(raw, what) as AptosJson, what));
      for (const [n, { version }] of transactions.entries()) {
        if (version === start + n) continue;
        throw new SourceError('inconsistent', `${what}: ${version} came for ${start + n}`);
      }
      return { transactions, sizeBytes: answer!.sizeBytes, giver: provider };
    },
    async readResource(address: string, type: string, version: number | undefined) {
      const at = version === undefined ? '' : `?ledger_version=${version}`;
      const answer = await get(
        `accounts/${address}/resource/${encodeURIComponent(type)}${at}`,
        false,
      );
      return answer && object(answer.value, `${name}: ${type} of ${address}`)['data'];
    },
    close: rest.close,
  });
  return provider;
}

/** Numbers come as text where they may have 64 bits, and as numbers where not. */
function whole(from: Record<string, unknown>, key: string, what: string): number {
  const value = from[key];
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new SourceError(
    'inconsistent',
    `${what}: ${key} came as ${JSON.stringify(value) ?? 'nothing'}`,
  );
}
