/**
 * Reads the blocks of an Aptos chain in order, from pages of transactions that are fetched
 * concurrently. A block begins with its metadata transaction, which can be anywhere in a page.
 */
import type { AptosBlock, AptosTransaction } from '../match/block.ts';
import type { AptosBounds, AptosPage } from './provider.ts';
import { SourceError } from '../../../ingest/source.ts';

export interface AptosRun {
  /** Height of the first block that is not complete yet; it may be partly read. */
  readonly next: number;
  has(height: number): boolean;
  /**
   * Returns the block at this height; undefined if the chain has not reached it, or if it is before
   * the start of the run or no longer buffered.
   */
  read(height: number): Promise<AptosBlock | undefined>;
}

export interface RunSource {
  readPage(start: number, limit: number): Promise<AptosPage>;
  /**
   * Returns the hash of the block at this height; undefined if the block was not observed as a
   * head.
   */
  hashAt(height: number): string | undefined;
  /** Returns the newest version that is known to exist. */
  ledgerVersion(): number;
}

const PAGE_TRANSACTIONS = 100;
const PAGES_AT_ONCE = 8;
/**
 * Limits of the buffered blocks. Ingestion reads fewer blocks ahead than this, so that it rarely
 * reads a block twice. The size is estimated from the text; in memory, blocks are several times
 * larger.
 */
const KEPT_BLOCKS = 128;
const KEPT_BYTES = 32 * 1024 * 1024;
/** Estimated memory of a transaction in addition to its text, in bytes. */
const TRANSACTION_BYTES = 2_000;

/**
 * Types of the transaction that ends a block. The last block of an epoch has no such transaction.
 */
const LAST_TYPES: readonly string[] = [
  'block_epilogue_transaction',
  'state_checkpoint_transaction',
];

/** Matches `NewBlockEvent`, and the module event `NewBlock` that replaces it. */
const NEW_BLOCK = /::block::NewBlock(Event)?$/;

export function createAptosRun(
  first: AptosBounds,
  { readPage, hashAt, ledgerVersion }: RunSource,
): AptosRun {
  const kept = new Map<number, AptosBlock>();
  let keptBytes = 0;
  let next = first.number;
  let version = first.firstVersion;
  let parentHash = first.parentHash;
  let open: AptosBlock | undefined;
  /** Requested pages by their first version. Only pages of the maximum length are prefetched. */
  const pages = new Map<number, Promise<AptosPage>>();
  const waiting = new Map<number, PromiseWithResolvers<AptosBlock | undefined>>();
  let isWorking = false;

  const keep = (block: AptosBlock): void => {
    kept.set(block.number, block);
    keptBytes += block.sizeBytes;
    waiting.get(block.number)?.resolve(block);
    waiting.delete(block.number);
    for (const [height, oldest] of kept) {
      if (kept.size <= KEPT_BLOCKS && keptBytes <= KEPT_BYTES) break;
      if (height === block.number) break;
      kept.delete(height);
      keptBytes -= oldest.sizeBytes;
    }
  };

  const close = (block: AptosBlock): void => {
    open = undefined;
    parentHash = block.hash;
    next = block.number + 1;
    keep(block);
  };

  const take = (transaction: AptosTransaction, sizeBytes: number, page: AptosPage): void => {
    const begun = toBlock(transaction);
    if (begun !== undefined) {
      const expected = open === undefined ? next : open.number + 1;
      const hash = expected === first.number ? first.hash : hashAt(expected);
      if (begun.number !== expected || (hash !== undefined && begun.hash !== hash)) {
        throw inconsistent(
          page,
          `block ${begun.number} ${begun.hash} begins at ${version}, where ${expected}${hash === undefined ? '' : ` ${hash}`} was expected`,
        );
      }
      if (open !== undefined) close(open);
      open = { ...begun, parentHash };
    }
    if (open === undefined) {
      throw inconsistent(
        page,
        `${transaction.type} ${version} precedes the metadata of block ${next}`,
      );
    }
    open.transactions.push(transaction);
    open.lastVersion = transaction.version;
    open.sizeBytes += sizeBytes + TRANSACTION_BYTES;
    version = transaction.version + 1;
    if (LAST_TYPES.includes(transaction.type)) close(open);
  };

  /** Returns the next page and prefetches later ones; undefined at the end of the chain. */
  const nextPage = async (): Promise<AptosPage | undefined> => {
    const last = ledgerVersion();
    let start = version;
    for (let n = 0; n < PAGES_AT_ONCE && start <= last; n++) {
      const limit = Math.min(PAGE_TRANSACTIONS, last - start + 1);
      // A partial page at the end of the chain is fetched only when needed, because more
      // transactions may exist by then.
      if (!pages.has(start) && (n === 0 || limit === PAGE_TRANSACTIONS)) {
        const page = readPage(start, limit);
        page.catch(() => {});
        pages.set(start, page);
      }
      start += PAGE_TRANSACTIONS;
    }
    const page = pages.get(version);
    pages.delete(version);
    return page;
  };

  const work = async (): Promise<void> => {
    isWorking = true;
    try {
      while (waiting.size > 0) {
        const page = await nextPage();
        if (page === undefined) break;
        const each = page.sizeBytes / page.transactions.length;
        for (const transaction of page.transactions) take(transaction, each, page);
        // After a page that ended early, prefetched pages start at the wrong versions.
        if (!pages.has(version)) pages.clear();
      }
      for (const waiter of waiting.values()) waiter.resolve(undefined);
    } catch (error) {
      pages.clear();
      for (const waiter of waiting.values()) waiter.reject(error);
    }
    waiting.clear();
    isWorking = false;
  };

  return {
    get next() {
      return next;
    },
    has: (height) => kept.has(height),
    read(height) {
      const block = kept.get(height);
      if (block !== undefined || height < next) return Promise.resolve(block);
      let waiter = waiting.get(height);
      if (waiter === undefined) {
        waiter = Promise.withResolvers();
        waiter.promise.catch(() => {});
        waiting.set(height, waiter);
      }
      if (!isWorking) void work();
      return waiter.promise;
    },
  };
}

/**
 * Creates the block that starts with this transaction, still without transactions; undefined if the
 * transaction does not start a block.
 */
function toBlock({
  type,
  version,
  hash,
  events,
  raw,
}: AptosTransaction): Omit<AptosBlock, 'parentHash'> | undefined {
  if (type !== 'block_metadata_transaction') return undefined;
  const height = Number(events.find((event) => NEW_BLOCK.test(event.type))?.data['height']);
  const micros = String(raw['timestamp']);
  const block = String(raw['id']);
  if (!Number.isSafeInteger(height) || !/^\d+$/.test(micros) || !/^0x[0-9a-f]{64}$/.test(block)) {
    throw new SourceError(
      'inconsistent',
      `block metadata ${version} ${hash} does not identify a block`,
    );
  }
  return {
    number: height,
    hash: block,
    timestamp: Math.floor(Number(micros) / 1_000_000),
    timestampMicros: micros,
    firstVersion: version,
    lastVersion: version,
    transactions: [],
    sizeBytes: 0,
  };
}

const inconsistent = ({ giver }: AptosPage, what: string): SourceError => {
  giver.fault('inconsistent');
  return new SourceError('inconsistent', `${giver.name}: ${what}`);
};
