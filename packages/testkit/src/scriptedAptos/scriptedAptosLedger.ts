import type { Hex } from 'viem';
import { sha3OfText, toLongAddress } from './aptosAddress.ts';
import {
  type AptosBlockHead,
  type AptosPosition,
  epochUsecs,
  toBlockEnd,
  toBlockMetadata,
  toGenesis,
  toUserTransaction,
  writeBlockMetadata,
} from './aptosBlocks.ts';
import { executeAptosTransaction } from './aptosExecution.ts';
import { writeGenesis } from './aptosGenesis.ts';
import { type ResourceWrites, createAptosState, toCanonicalType } from './aptosState.ts';
import { createAptosWorkspace } from './aptosWorkspace.ts';
import type { MoveValue, RestTransaction } from './restShapes.ts';
import type { AptosFungibleAsset, ScriptedAptosTransaction } from './scriptedAptosTransaction.ts';

/**
 * An Aptos chain that does as it is told: transactions with contiguous versions, in blocks that begin
 * with their metadata. Nothing on it is ever taken back. It is the oracle as well: `blocks` says what
 * a watcher should have seen. Addresses are long in what it takes and gives, and may be short in what
 * it takes.
 */
export interface ScriptedAptosLedger {
  readonly chainId: number;
  /** The last block. */
  readonly head: ScriptedAptosBlock;
  /**
   * Makes one block.
   *
   * @throws Error for a transaction that spends more than there is, or uses what does not exist;
   *   nothing of the block is kept then.
   */
  mine(block?: AptosBlockScript): ScriptedAptosBlock;
  /** Makes that many blocks without user transactions. */
  mineMany(count: number): ScriptedAptosBlock[];
  /** All blocks; the first, of height 0, holds the genesis transaction alone. */
  blocks(): readonly ScriptedAptosBlock[];
  blockAt(height: bigint): ScriptedAptosBlock | undefined;
  /** The block that holds the version. */
  blockOfVersion(version: bigint): ScriptedAptosBlock | undefined;
  /** The transaction as nodes answer it. */
  transactionAt(version: bigint): RestTransaction | undefined;
  transactionOf(hash: string): RestTransaction | undefined;
  /** A resource's data after that version; absent: the newest. */
  readResource(address: string, type: string, version?: bigint): MoveValue | undefined;
  /** All resources of the address, and its modules, by type. */
  listResources(address: string, version?: bigint): ReadonlyMap<string, MoveValue>;
}

/** What a block to be made holds. */
export interface AptosBlockScript {
  /** Default none. */
  transactions?: readonly ScriptedAptosTransaction[];
  /** Microseconds since 1970. Default: `blockTimeUsecs` after the block before. */
  timestampUsecs?: bigint;
  /** The transaction that ends it: today's kind, or that of the years before. */
  end?: 'block_epilogue' | 'state_checkpoint';
}

/** A block as it was made. */
export interface ScriptedAptosBlock {
  readonly height: bigint;
  readonly hash: Hex;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly epoch: bigint;
  readonly firstVersion: bigint;
  readonly lastVersion: bigint;
  /** The block's metadata first, then what users sent, then what ends it; as nodes answer them. */
  readonly transactions: readonly RestTransaction[];
}

export interface ScriptedAptosLedgerOptions {
  /** Default 4, that of a local network. */
  chainId?: number;
  /** Ledgers of equal seeds and scripts have equal hashes. Default `sluice`. */
  seed?: string;
  /** Between the timestamps of blocks, in microseconds; blocks come when they are mined. Default 250,000. */
  blockTimeUsecs?: bigint;
  /** Block 0's, in microseconds since 1970. Default 1,700,000,000,000,000 (14 November 2023). */
  genesisTimestampUsecs?: bigint;
  /** Fungible assets that stand since block 0, beside APT, at an address of your choice. Default none. */
  fungibleAssets?: readonly (AptosFungibleAsset & { metadata: Hex })[];
  /** Legacy coins that stand since block 0, beside APT. Default none. */
  coins?: readonly (AptosFungibleAsset & { coinType: string })[];
  /**
   * What everybody holds of every coin and, in primary stores, of every fungible asset before the
   * first time they move it, in the asset's smallest unit. Default 10^15.
   */
  startBalance?: bigint;
}

/** Makes a ledger of one block, of height 0. It is served by `startScriptedAptos`. */
export function createScriptedAptosLedger(
  options: ScriptedAptosLedgerOptions = {},
): ScriptedAptosLedger {
  const {
    chainId = 4,
    seed = 'sluice',
    blockTimeUsecs = 250_000n,
    genesisTimestampUsecs = 1_700_000_000_000_000n,
    startBalance = 10n ** 15n,
    coins = [],
    fungibleAssets = [],
  } = options;
  const salt = `${seed}:${chainId}`;
  const defaultSender = sha3OfText(`${salt}:sender`);

  const state = createAptosState();
  const blocks: ScriptedAptosBlock[] = [];
  const transactions: RestTransaction[] = [];
  const versions = new Map<string, bigint>();
  /** By account and creation number, how many events a handle has had. */
  const handleCounts = new Map<string, bigint>();

  const headBlock = () => blocks.at(-1) as ScriptedAptosBlock;
  const transactionAt = (version: bigint) => transactions[Number(version)];
  const blockAt = (height: bigint) => blocks[Number(height)];

  const nextSequenceNumber = (account: Hex, creationNumber: bigint) => {
    const handle = `${account}:${creationNumber}`;
    const count = handleCounts.get(handle) ?? 0n;
    handleCounts.set(handle, count + 1n);
    return count;
  };

  /** Makes a block of what `fill` appends; nothing of it is kept where that throws. */
  const append = (
    head: AptosBlockHead,
    fill: (add: (make: MakeTransaction) => void) => void,
  ): ScriptedAptosBlock => {
    const firstVersion = BigInt(transactions.length);
    const made: { transaction: RestTransaction; writes: ResourceWrites }[] = [];
    fill((make) => {
      const before = made.at(-1)?.transaction ?? transactions.at(-1);
      const transaction = make({
        version: firstVersion + BigInt(made.length),
        previousRoot: before?.accumulator_root_hash ?? '0x0',
        timestampUsecs: head.timestampUsecs,
        salt,
      });
      made.push(transaction);
    });
    for (const { transaction, writes } of made) {
      const version = BigInt(transactions.length);
      state.commit(version, writes);
      versions.set(transaction.hash, version);
      transactions.push(transaction);
    }
    const block: ScriptedAptosBlock = {
      ...head,
      firstVersion,
      lastVersion: BigInt(transactions.length) - 1n,
      transactions: made.map(({ transaction }) => transaction),
    };
    blocks.push(block);
    return block;
  };

  const headOf = (height: bigint, timestampUsecs: bigint): AptosBlockHead => ({
    height,
    hash: sha3OfText(`${salt}:block:${height}:${transactions.at(-1)?.accumulator_root_hash}`),
    epoch: height === 0n ? 0n : 1n + (timestampUsecs - genesisTimestampUsecs) / epochUsecs,
    timestampUsecs,
  });

  const mine = (script: AptosBlockScript = {}) => {
    const before = headBlock();
    const timestampUsecs = script.timestampUsecs ?? before.timestampUsecs + blockTimeUsecs;
    if (timestampUsecs <= before.timestampUsecs) {
      throw new Error(
        `A block is later than the one before it: timestampUsecs ${timestampUsecs} must be above ${before.timestampUsecs}`,
      );
    }
    const head = headOf(before.height + 1n, timestampUsecs);
    const workspace = createAptosWorkspace(state);
    return append(head, (add) => {
      add((position) => {
        writeBlockMetadata(workspace, head);
        const writes = workspace.endTransaction();
        return { transaction: toBlockMetadata(head, writes, position), writes };
      });
      for (const scripted of script.transactions ?? []) {
        const sender = toLongAddress(scripted.sender ?? defaultSender);
        add((position) => {
          const signed = { ...scripted, sender };
          const context = { workspace, startBalance, nextSequenceNumber };
          const execution = executeAptosTransaction(signed, context);
          const transaction = toUserTransaction(signed, execution, position);
          return { transaction, writes: execution.writes };
        });
      }
      add((position) => ({
        transaction: toBlockEnd(script.end ?? 'block_epilogue', head, position),
        writes: new Map(),
      }));
    });
  };

  append(headOf(0n, genesisTimestampUsecs), (add) => {
    add((position) => {
      const workspace = createAptosWorkspace(state);
      writeGenesis(workspace, { chainId, coins, fungibleAssets });
      const writes = workspace.endTransaction();
      return { transaction: toGenesis(writes, position), writes };
    });
  });

  return {
    chainId,
    get head() {
      return headBlock();
    },
    mine,
    mineMany: (count) => Array.from({ length: count }, () => mine()),
    blocks: () => [...blocks],
    blockAt,
    blockOfVersion: (version) => findBlock(blocks, version),
    transactionAt,
    transactionOf: (hash) => {
      const version = versions.get(hash.toLowerCase());
      return version === undefined ? undefined : transactionAt(version);
    },
    readResource: (address, type, version) =>
      state.read(toLongAddress(address), toCanonicalType(type), version),
    listResources: (address, version) => state.list(toLongAddress(address), version),
  };
}

type MakeTransaction = (position: AptosPosition) => {
  transaction: RestTransaction;
  writes: ResourceWrites;
};

/** By halving: ledgers of tests that run for long have many blocks. */
function findBlock(
  blocks: readonly ScriptedAptosBlock[],
  version: bigint,
): ScriptedAptosBlock | undefined {
  let [low, high] = [0, blocks.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const block = blocks[middle] as ScriptedAptosBlock;
    if (version < block.firstVersion) high = middle - 1;
    else if (version > block.lastVersion) low = middle + 1;
    else return block;
  }
  return undefined;
}
