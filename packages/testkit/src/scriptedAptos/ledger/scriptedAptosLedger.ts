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
import { createAptosHistory, type ScriptedAptosBlock } from './aptosHistory.ts';
import { executeAptosTransaction } from './transactions/aptosExecution.ts';
import { writeGenesis } from './aptosGenesis.ts';
import { type ResourceWrites, createAptosState, toCanonicalType } from './aptosState.ts';
import { createAptosWorkspace } from './aptosWorkspace.ts';
import type { MoveValue, RestTransaction } from '../rest/restShapes.ts';
import type {
  AptosFungibleAsset,
  ScriptedAptosTransaction,
} from './transactions/scriptedAptosTransaction.ts';

/**
 * An Aptos chain under the control of a test: transactions with contiguous versions, in blocks that
 * start with their metadata and never reorganize. It returns long addresses and accepts short and
 * long ones; `blocks` returns the blocks that a watcher should have seen.
 */
export interface ScriptedAptosLedger {
  readonly chainId: number;
  /** The last block. */
  readonly head: ScriptedAptosBlock;
  /** The first block that is still kept. */
  readonly oldest: ScriptedAptosBlock;
  /**
   * Mines one block.
   *
   * @throws Error if a transaction spends more than its balance or uses something that does not
   *   exist; the block is then discarded.
   */
  mine(block?: AptosBlockScript): ScriptedAptosBlock;
  /** Mines `count` blocks without user transactions. */
  mineMany(count: number): ScriptedAptosBlock[];
  /** Returns all kept blocks; the block of height 0 has only the genesis transaction. */
  blocks(): readonly ScriptedAptosBlock[];
  blockAt(height: bigint): ScriptedAptosBlock | undefined;
  /** Returns the block that contains the version. */
  blockOfVersion(version: bigint): ScriptedAptosBlock | undefined;
  /** Returns the transaction in the form of the REST API. */
  transactionAt(version: bigint): RestTransaction | undefined;
  transactionOf(hash: string): RestTransaction | undefined;
  /** Returns a resource after a version, by default the newest. */
  readResource(address: string, type: string, version?: bigint): MoveValue | undefined;
  /** Returns all resources and modules of the address, by type. */
  listResources(address: string, version?: bigint): ReadonlyMap<string, MoveValue>;
}

/** The content of a block to mine. */
export interface AptosBlockScript {
  /** Default: none. */
  transactions?: readonly ScriptedAptosTransaction[];
  /** Microseconds since 1970. Default: `blockTimeUsecs` after the previous block. */
  timestampUsecs?: bigint;
  /** The transaction that ends the block: the current kind (default), or the older one. */
  end?: 'block_epilogue' | 'state_checkpoint';
}

export interface ScriptedAptosLedgerOptions {
  /** Chain id. Default: 4, the id of a local network. */
  chainId?: number;
  /** Ledgers with equal seeds and scripts have equal hashes. Default: `sluice`. */
  seed?: string;
  /** Microseconds between the timestamps of blocks; does not mine blocks. Default: 250,000. */
  blockTimeUsecs?: bigint;
  /**
   * Timestamp of block 0, in microseconds since 1970. Default: 1,700,000,000,000,000 (2023-11-14).
   */
  genesisTimestampUsecs?: bigint;
  /** Fungible assets that exist from block 0, in addition to APT, at any address. Default: none. */
  fungibleAssets?: readonly (AptosFungibleAsset & { metadata: Hex })[];
  /** Legacy coins that exist from block 0, in addition to APT. Default: none. */
  coins?: readonly (AptosFungibleAsset & { coinType: string })[];
  /**
   * Initial balance of every account in each coin and, in primary stores, each fungible asset, in
   * the asset's smallest unit. Default: 10^15.
   */
  startBalance?: bigint;
  /**
   * Height and first version of the first block, as on a node that has pruned earlier ones. The
   * block still contains the genesis transaction. Default: 0 and 0.
   */
  start?: { height: bigint; version: bigint };
  /** Number of blocks to keep; older ones are pruned, as on nodes. Default: all. */
  keptBlocks?: number;
}

/** Creates a ledger with one block, at height 0 by default. `startScriptedAptos` serves it. */
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
    keptBlocks = Infinity,
    start: first = { height: 0n, version: 0n },
  } = options;
  const salt = `${seed}:${chainId}`;
  const defaultSender = sha3OfText(`${salt}:sender`);

  const state = createAptosState();
  const history = createAptosHistory(keptBlocks, (firstVersion) => state.prune(firstVersion));
  /** Number of events of each handle, by account and creation number. */
  const handleCounts = new Map<string, bigint>();

  const lastTransaction = () => history.head?.transactions.at(-1);

  const nextSequenceNumber = (account: Hex, creationNumber: bigint) => {
    const handle = `${account}:${creationNumber}`;
    const count = handleCounts.get(handle) ?? 0n;
    handleCounts.set(handle, count + 1n);
    return count;
  };

  /** Mines a block with the transactions that `fill` adds; discards it if `fill` throws. */
  const append = (
    start: AptosBlockHead,
    fill: (add: (make: MakeTransaction) => void) => void,
  ): ScriptedAptosBlock => {
    const firstVersion = history.head ? history.head.lastVersion + 1n : first.version;
    const made: ReturnType<MakeTransaction>[] = [];
    fill((make) => {
      const before = made.at(-1)?.transaction ?? lastTransaction();
      const transaction = make({
        version: firstVersion + BigInt(made.length),
        previousRoot: before?.accumulator_root_hash ?? '0x0',
        timestampUsecs: start.timestampUsecs,
        salt,
      });
      made.push(transaction);
    });
    for (const [index, { writes }] of made.entries()) {
      state.commit(firstVersion + BigInt(index), writes);
    }
    return history.add({
      ...start,
      firstVersion,
      lastVersion: firstVersion + BigInt(made.length) - 1n,
      transactions: made.map(({ transaction }) => transaction),
    });
  };

  const headOf = (height: bigint, timestampUsecs: bigint): AptosBlockHead => ({
    height,
    hash: sha3OfText(`${salt}:block:${height}:${lastTransaction()?.accumulator_root_hash}`),
    epoch:
      height === first.height ? 0n : 1n + (timestampUsecs - genesisTimestampUsecs) / epochUsecs,
    timestampUsecs,
  });

  const mine = (script: AptosBlockScript = {}) => {
    const before = history.head as ScriptedAptosBlock;
    const timestampUsecs = script.timestampUsecs ?? before.timestampUsecs + blockTimeUsecs;
    if (timestampUsecs <= before.timestampUsecs) {
      throw new Error(
        `A block must be later than its parent: timestampUsecs ${timestampUsecs} must be above ${before.timestampUsecs}`,
      );
    }
    const start = headOf(before.height + 1n, timestampUsecs);
    const workspace = createAptosWorkspace(state);
    return append(start, (add) => {
      add((position) => {
        writeBlockMetadata(workspace, start);
        const writes = workspace.endTransaction();
        return { transaction: toBlockMetadata(start, writes, position), writes };
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
        transaction: toBlockEnd(script.end ?? 'block_epilogue', start, position),
        writes: new Map(),
      }));
    });
  };

  append(headOf(first.height, genesisTimestampUsecs), (add) => {
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
      return history.head as ScriptedAptosBlock;
    },
    get oldest() {
      return history.oldest as ScriptedAptosBlock;
    },
    mine,
    mineMany: (count) => Array.from({ length: count }, () => mine()),
    blocks: history.blocks,
    blockAt: history.blockAt,
    blockOfVersion: history.blockOfVersion,
    transactionAt: history.transactionAt,
    transactionOf: history.transactionOf,
    readResource: (address, type, version) =>
      state.read(toLongAddress(address), toCanonicalType(type), version),
    listResources: (address, version) => state.list(toLongAddress(address), version),
  };
}

type MakeTransaction = (position: AptosPosition) => {
  transaction: RestTransaction;
  writes: ResourceWrites;
};
