import type { Address, Hex } from 'viem';
import { keccak, keccakOfText, toHex } from './keccak.ts';
import {
  type IdentifiedTransaction,
  type ScriptedBlock,
  toLowerCaseHex,
  makeBlock,
  sign,
} from './scriptedBlock.ts';
import type { ScriptedTransaction } from './scriptedTransaction.ts';
import { encodeTransaction } from './tries.ts';

/**
 * An EVM chain under the control of a test: a tree of blocks with one canonical branch. Blocks of
 * other branches can still be read by hash. `canonical` returns the blocks that a watcher should
 * have seen.
 */
export interface ScriptedChain {
  readonly chainId: number;
  /** The last block of the canonical branch. */
  readonly head: ScriptedBlock;
  /**
   * Mines one block on top of the head, and returns it.
   *
   * @throws Error if a transaction is already on the canonical branch, occurs twice in the block,
   * or is invalid.
   */
  mine(block?: BlockScript): ScriptedBlock;
  /** Mines `count` empty blocks, and returns them. */
  mineMany(count: number): ScriptedBlock[];
  /**
   * Replaces the last `depth` blocks with a new branch, which may be shorter or longer, and returns
   * the new blocks.
   *
   * @throws Error if this would remove block 0.
   */
  fork(branch: { depth: number; blocks: number | readonly BlockScript[] }): ScriptedBlock[];
  /**
   * Makes the branch that ends with this block canonical, for example to return to an old branch.
   *
   * @throws Error if no block with this hash was mined.
   */
  switchTo(tipHash: Hex): void;
  /**
   * Moves the head back by `count` blocks without announcing it, like a reset of a node.
   *
   * @throws Error if this would remove block 0.
   */
  rollBack(count: number): void;
  /** Returns the canonical branch, starting with block 0. */
  canonical(): readonly ScriptedBlock[];
  /** Returns the canonical block with this number. */
  blockAt(number: bigint): ScriptedBlock | undefined;
  /** Returns the block with this hash on any branch. */
  blockOf(hash: Hex): ScriptedBlock | undefined;
  /** Returns the canonical block that contains the transaction. */
  blockWith(transactionHash: Hex): ScriptedBlock | undefined;
  /**
   * Calls `listener` for each new canonical block, oldest first. Returns a function that removes
   * the listener.
   */
  onHead(listener: (block: ScriptedBlock) => void): () => void;
}

export interface BlockScript {
  /** Default: none. */
  transactions?: readonly ScriptedTransaction[];
  /** Seconds since 1970. Default: `blockTimeSeconds` after the parent block. */
  timestamp?: bigint;
}

export interface ScriptedChainOptions {
  /** Default: 31337. */
  chainId?: number;
  /** Chains with equal seeds and scripts have equal hashes. Default: `sluice`. */
  seed?: string;
  /**
   * Seconds between blocks, such as 0.2. Timestamps are in whole seconds, so that several blocks
   * can share one. Blocks are not mined on a timer. Default: 12.
   */
  blockTimeSeconds?: number;
  /**
   * True if blocks also have `timestampMs`, and transactions, receipts and logs `blockTimestampMs`,
   * as on Base. Default: false.
   */
  showsMs?: boolean;
  /** Timestamp of block 0, in seconds since 1970. Default: 1,700,000,000 (2023-11-14). */
  genesisTimestamp?: bigint;
  /**
   * Number of the block after block 0. A higher number simulates an old chain without mining the
   * blocks in between. Default: 1.
   */
  firstNumber?: bigint;
}

const noParent: Hex = `0x${'0'.repeat(64)}`;

/**
 * Creates a chain with block 0 only. `startScriptedChain` serves the chain over HTTP and WebSocket.
 */
export function createScriptedChain(options: ScriptedChainOptions = {}): ScriptedChain {
  const { chainId = 31337, seed = 'sluice', firstNumber = 1n, showsMs = false } = options;
  const blockTimeMs = BigInt(Math.round((options.blockTimeSeconds ?? 12) * 1_000));
  const genesisTimestamp = options.genesisTimestamp ?? 1_700_000_000n;
  const defaultSender = keccakOfText(`${seed}:sender`).slice(0, 42) as Address;

  const blocks = new Map<Hex, ScriptedBlock>();
  const canonical: ScriptedBlock[] = [];
  /** Hashes of the blocks, on any branch, that contain a transaction, by transaction hash. */
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
      throw new Error(`The transaction ${known.hash} is already on this branch`);
    }
    const from = script.from ? toLowerCaseHex(script.from) : defaultSender;
    const nonce = nonces.get(from) ?? 0n;
    nonces.set(from, nonce + 1n);
    const identity = `${seed}:${chainId}:${from}:${nonce}`;
    const signed = sign(script, { chainId, nonce, identity });
    const hash = toHex(keccak(encodeTransaction(signed)));
    const identified = { script, from, nonce, hash, signed };
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
      throw new Error('A block contains a transaction once; copy the object to send it again');
    }
    const block = makeBlock({
      number: canonical.length < 2 ? (parent ? firstNumber : 0n) : headBlock().number + 1n,
      parentHash: parent?.hash ?? noParent,
      timestampMs:
        timestamp === undefined && parent
          ? parent.timestampMs + blockTimeMs
          : (timestamp ?? genesisTimestamp) * 1_000n,
      showsMs,
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
      throw new Error(`Block 0 must remain: cannot remove ${count} of ${canonical.length} blocks`);
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
        if (!block) throw new Error(`No block ${hash} was mined on this chain`);
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
