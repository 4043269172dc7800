import type { Hex } from 'viem';
import type { RestTransaction } from '../rest/restShapes.ts';

/** A mined block, as a watcher should see it. */
export interface ScriptedAptosBlock {
  readonly height: bigint;
  readonly hash: Hex;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly epoch: bigint;
  readonly firstVersion: bigint;
  readonly lastVersion: bigint;
  /**
   * The block metadata, the user transactions, and the block epilogue or state checkpoint, as nodes
   * return them. The first block contains only the genesis transaction.
   */
  readonly transactions: readonly RestTransaction[];
}

/**
 * The kept blocks and transactions of a ledger. `add` drops the oldest block if there are more than
 * `keptBlocks`.
 */
export interface AptosHistory {
  /** Undefined before the first block. */
  readonly head: ScriptedAptosBlock | undefined;
  readonly oldest: ScriptedAptosBlock | undefined;
  add(block: ScriptedAptosBlock): ScriptedAptosBlock;
  blocks(): readonly ScriptedAptosBlock[];
  blockAt(height: bigint): ScriptedAptosBlock | undefined;
  blockOfVersion(version: bigint): ScriptedAptosBlock | undefined;
  transactionAt(version: bigint): RestTransaction | undefined;
  transactionOf(hash: string): RestTransaction | undefined;
}

/** @param onDrop called when a block is dropped, with the first version that is still kept. */
export function createAptosHistory(
  keptBlocks: number,
  onDrop: (firstVersion: bigint) => void,
): AptosHistory {
  const blocks = new Map<bigint, ScriptedAptosBlock>();
  const transactions = new Map<bigint, RestTransaction>();
  const transactionsByHash = new Map<string, RestTransaction>();
  let head: ScriptedAptosBlock | undefined;
  let oldest: ScriptedAptosBlock | undefined;

  const dropOldest = (dropped: ScriptedAptosBlock): void => {
    for (const { version, hash } of dropped.transactions) {
      transactions.delete(BigInt(version));
      transactionsByHash.delete(hash);
    }
    blocks.delete(dropped.height);
    oldest = blocks.get(dropped.height + 1n) as ScriptedAptosBlock;
    onDrop(oldest.firstVersion);
  };

  return {
    get head() {
      return head;
    },
    get oldest() {
      return oldest;
    },
    add(block) {
      for (const transaction of block.transactions) {
        transactions.set(BigInt(transaction.version), transaction);
        transactionsByHash.set(transaction.hash, transaction);
      }
      blocks.set(block.height, block);
      head = block;
      oldest ??= block;
      if (blocks.size > keptBlocks) dropOldest(oldest);
      return block;
    },
    blocks: () => [...blocks.values()],
    blockAt: (height) => blocks.get(height),
    blockOfVersion(version) {
      if (head === undefined || oldest === undefined) return undefined;
      // Uses a binary search, because ledgers of long tests have many blocks.
      let [low, high] = [oldest.height, head.height];
      while (low <= high) {
        const middle = (low + high) / 2n;
        const block = blocks.get(middle) as ScriptedAptosBlock;
        if (version < block.firstVersion) high = middle - 1n;
        else if (version > block.lastVersion) low = middle + 1n;
        else return block;
      }
      return undefined;
    },
    transactionAt: (version) => transactions.get(version),
    transactionOf: (hash) => transactionsByHash.get(hash.toLowerCase()),
  };
}
