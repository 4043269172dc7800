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
 * An Aptos chain under the control of a test, with contiguous versions and without reorgs. Methods
 * accept short and long addresses. `blocks` returns the blocks that a watcher should have seen.
 */
export interface ScriptedAptosLedger {
  readonly chainId: number;
  readonly head: ScriptedAptosBlock;
  /** The oldest block that is still kept. */
  readonly oldest: ScriptedAptosBlock;
  /**
   * Mines one block.
   *
   * @throws Error, without mining a block, if the block is not later than the previous one, or if a
   *   transaction is impossible, for example because a balance is too low.
   */
  mine(block?: AptosBlockScript): ScriptedAptosBlock;
  /** Mines `count` blocks without user transactions. */
  mineMany(count: number): ScriptedAptosBlock[];
  /** Returns all kept blocks, oldest first. */
  blocks(): readonly ScriptedAptosBlock[];
  blockAt(height: bigint): ScriptedAptosBlock | undefined;
  /** Returns the kept block that contains the version. */
  blockOfVersion(version: bigint): ScriptedAptosBlock | undefined;
  /** Returns the transaction in the REST API's format. */
  transactionAt(version: bigint): RestTransaction | undefined;
  transactionOf(hash: string): RestTransaction | undefined;
  /** Returns a resource as of `version`, by default the newest version. */
  readResource(address: string, type: string, version?: bigint): MoveValue | undefined;
  /** Returns all resources and modules of the address, by type. */
  listResources(address: string, version?: bigint): ReadonlyMap<string, MoveValue>;
}

export interface AptosBlockScript {
  /** Default: none. */
  transactions?: readonly ScriptedAptosTransaction[];
  /** Microseconds since 1970. Default: `blockTimeUsecs` after the previous block. */
  timestampUsecs?: bigint;
  /**
   * The transaction that ends the block. Default: `block_epilogue`; older chains have
   * `state_checkpoint`.
   */
  end?: 'block_epilogue' | 'state_checkpoint';
}

export interface ScriptedAptosLedgerOptions {
  /** Default: 4, the id of a local network. */
  chainId?: number;
  /** Ledgers with equal seeds and scripts have equal hashes. Default: `sluice`. */
  seed?: string;
  /** Microseconds between block timestamps. Blocks are not mined on a timer. Default: 250,000. */
  blockTimeUsecs?: bigint;
  /**
   * Timestamp of the first block, in microseconds since 1970. Default: 1,700,000,000,000,000
   * (2023-11-14).
   */
  genesisTimestampUsecs?: bigint;
  /** Fungible assets that exist from the first block, in addition to APT. Default: none. */
  fungibleAssets?: readonly (AptosFungibleAsset & { metadata: Hex })[];
  /** Legacy coins that exist from the first block, in addition to APT. Default: none. */
  coins?: readonly (AptosFungibleAsset & { coinType: string })[];
  /**
   * Balance of an account's coin stores and primary stores before their first use, in the smallest
   * unit of the coin or asset. Default: 10^15.
   */
  startBalance?: bigint;
  /**
   * Height and first version of the first block, which contains the genesis transaction. Simulates
   * a node that has pruned earlier blocks. Default: 0 and 0.
   */
  start?: { height: bigint; version: bigint };
  /** Number of newest blocks to keep; older blocks are pruned, as on a real node. Default: all. */
  keptBlocks?: number;
}

/** Creates a ledger with its first block. `startScriptedAptos` serves the ledger over HTTP. */
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
  /** Number of events that `event` effects have emitted from each handle. */
  const handleCounts = new Map<string, bigint>();

  const lastTransaction = () => history.head?.transactions.at(-1);

  const nextSequenceNumber = (account: Hex, creationNumber: bigint) => {
    const handle = `${account}:${creationNumber}`;
    const count = handleCounts.get(handle) ?? 0n;
    handleCounts.set(handle, count + 1n);
    return count;
  };

  /** Mines a block with the transactions that `fill` adds. If `fill` throws, no block is mined. */
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
