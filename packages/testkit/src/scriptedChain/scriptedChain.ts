import type { Address, Hex } from 'viem';
import { keccakOfText } from './keccak.ts';
import {
  type IdentifiedTransaction,
  type ScriptedBlock,
  lower,
  makeBlock,
} from './scriptedBlock.ts';
import type { ScriptedTransaction } from './scriptedTransaction.ts';

/**
 * An EVM chain that does as it is told: a tree of blocks, one path of which is canonical. Every block
 * ever mined stays readable by its hash. It is the oracle as well: `canonical` says what a watcher
 * should have seen.
 */
export interface ScriptedChain {
  readonly chainId: number;
  /** The last block of the canonical branch. */
  readonly head: ScriptedBlock;
  /** Mines one block on the head. */
  mine(block?: BlockScript): ScriptedBlock;
  /** Mines that many empty blocks. */
  mineMany(count: number): ScriptedBlock[];
  /**
   * Replaces the last `depth` blocks by a new branch, which may be shorter or longer.
   *
   * @throws Error when `depth` reaches the first block.
   */
  fork(branch: { depth: number; blocks: number | readonly BlockScript[] }): ScriptedBlock[];
  /**
   * Makes the branch that ends with that block the canonical one: A, B, and A again.
   *
   * @throws Error for a hash that was never mined.
   */
  switchTo(tipHash: Hex): void;
  /** Takes the head back by that many blocks; nothing is announced, as when a node is reset. */
  rollBack(count: number): void;
  /** The canonical branch, block 0 first. */
  canonical(): readonly ScriptedBlock[];
  /** The canonical block of that number. */
  blockAt(number: bigint): ScriptedBlock | undefined;
  /** A block of any branch. */
  blockOf(hash: Hex): ScriptedBlock | undefined;
  /** The canonical block that holds the transaction. */
  blockWith(transactionHash: Hex): ScriptedBlock | undefined;
  /** Calls back for each block that becomes canonical, oldest first. Returns the way to stop it. */
  onHead(listener: (block: ScriptedBlock) => void): () => void;
}

/** What a block to be mined holds. */
export interface BlockScript {
  /** Default none. */
  transactions?: readonly ScriptedTransaction[];
  /** Seconds since 1970. Default: `blockTimeSeconds` after its parent. */
  timestamp?: bigint;
}

export interface ScriptedChainOptions {
  /** Default 31337. */
  chainId?: number;
  /** Chains of equal seeds and scripts have equal hashes. Default `sluice`. */
  seed?: string;
  /** Between the timestamps of blocks; blocks come when they are mined. Default 12. */
  blockTimeSeconds?: number;
  /** Block 0's, in seconds since 1970. Default 1,700,000,000 (14 November 2023). */
  genesisTimestamp?: bigint;
  /**
   * Number of the block mined first, as on a chain that has been running for years: of those between it
   * and block 0 nobody knows anything. Default 1.
   */
  firstNumber?: bigint;
}

const noParent: Hex = `0x${'0'.repeat(64)}`;

/** Makes a chain of one block, number 0. It is served by `startScriptedChain`. */
export function createScriptedChain(options: ScriptedChainOptions = {}): ScriptedChain {
  const { chainId = 31337, seed = 'sluice', firstNumber = 1n } = options;
  const blockTimeSeconds = BigInt(options.blockTimeSeconds ?? 12);
  const defaultSender = keccakOfText(`${seed}:sender`).slice(0, 42) as Address;

  const blocks = new Map<Hex, ScriptedBlock>();
  const canonical: ScriptedBlock[] = [];
  /** By transaction, the blocks that hold it, on whichever branch. */
  const holders = new Map<Hex, Hex[]>();
  const identities = new WeakMap<ScriptedTransaction, IdentifiedTransaction>();
  const nonces = new Map<Address, bigint>();
  const listeners = new Set<(block: ScriptedBlock) => void>();

  const headBlock = () => canonical.at(-1) as ScriptedBlock;
  const indexOf = (number: bigint) => Number(number === 0n ? 0n : number - firstNumber + 1n);
  const blockAt = (number: bigint) =>
    number === 0n || number >= firstNumber ? canonical[indexOf(number)] : undefined;
  const isCanonical = (hash: Hex) => {
    const block = blocks.get(hash);
    return block !== undefined && blockAt(block.number) === block;
  };
  const blockWith = (transactionHash: Hex) => {
    const hash = holders.get(transactionHash)?.find(isCanonical);
    return hash && blocks.get(hash);
  };

  const identify = (script: ScriptedTransaction): IdentifiedTransaction => {
    const known = identities.get(script);
    if (known) {
      if (!blockWith(known.hash)) return known;
      throw new Error(`The transaction ${known.hash} is on this branch already`);
    }
    const from = script.from ? lower(script.from) : defaultSender;
    const nonce = nonces.get(from) ?? 0n;
    nonces.set(from, nonce + 1n);
    const hash = keccakOfText(`${seed}:${chainId}:${from}:${nonce}`);
    const identified = { script, from, nonce, hash };
    identities.set(script, identified);
    return identified;
  };

  const append = (block: ScriptedBlock) => {
    canonical.push(block);
    for (const listener of listeners) listener(block);
  };

  const mine = ({ transactions = [], timestamp }: BlockScript = {}) => {
    const parent = canonical.at(-1);
    const identified = transactions.map(identify);
    if (new Set(identified).size < identified.length) {
      throw new Error('A block holds a transaction once; copy the object to send the same again');
    }
    const block = makeBlock({
      number: canonical.length < 2 ? (parent ? firstNumber : 0n) : headBlock().number + 1n,
      parentHash: parent?.hash ?? noParent,
      timestamp:
        timestamp ??
        (parent
          ? parent.timestamp + blockTimeSeconds
          : (options.genesisTimestamp ?? 1_700_000_000n)),
      salt: `${seed}:${chainId}:${blocks.size}`,
      transactions: identified,
    });
    blocks.set(block.hash, block);
    for (const { hash } of block.transactions) {
      holders.set(hash, [...(holders.get(hash) ?? []), block.hash]);
    }
    append(block);
    return block;
  };

  const mineMany = (count: number) => Array.from({ length: count }, () => mine());

  const rollBack = (count: number) => {
    if (count >= canonical.length) {
      throw new Error(`Block 0 stays: of ${canonical.length} blocks, ${count} cannot go`);
    }
    canonical.length -= count;
  };

  mine();

  return {
    chainId,
    get head() {
      return headBlock();
    },
    mine,
    mineMany,
    fork: ({ depth, blocks: branch }) => {
      rollBack(depth);
      return typeof branch === 'number' ? mineMany(branch) : branch.map(mine);
    },
    switchTo: (tipHash) => {
      const branch: ScriptedBlock[] = [];
      for (let hash = tipHash; !isCanonical(hash);) {
        const block = blocks.get(hash);
        if (!block) throw new Error(`No block ${hash} was ever mined here`);
        branch.unshift(block);
        hash = block.parentHash;
      }
      const ancestor = blocks.get(branch[0]?.parentHash ?? tipHash) as ScriptedBlock;
      canonical.length = indexOf(ancestor.number) + 1;
      for (const block of branch) append(block);
    },
    rollBack,
    canonical: () => [...canonical],
    blockAt,
    blockOf: (hash) => blocks.get(hash),
    blockWith,
    onHead: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
