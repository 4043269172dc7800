import type { Hex } from 'viem';
import {
  aptCoinType,
  aptMetadata,
  sha3OfText,
  toCanonicalType,
  toLongAddress,
  toShortAddress as short,
} from './aptosAddress.ts';
import { aptosEffects } from './aptosEffects.ts';
import {
  type AptosFungibleAsset,
  assetResources,
  coinInfo,
  newAccount,
  resourceTypes,
} from './aptosResources.ts';
import type { MoveValue, RestChange, RestEvent, RestTransaction } from './restTransaction.ts';
import type { AptosEffect, ScriptedAptosTransaction } from './scriptedAptosTransaction.ts';
import {
  type AptosPosition,
  toBlockEnd,
  toBlockMetadata,
  toGenesis,
  toUserTransaction,
} from './toRestTransaction.ts';

/**
 * An Aptos chain under the control of a test, with contiguous versions and without reorgs. Scripts
 * state the events and changes of each transaction; nothing is executed, so balances are not
 * checked. Methods accept short and long addresses.
 */
export interface ScriptedAptosLedger {
  readonly chainId: number;
  readonly head: ScriptedAptosBlock;
  readonly oldest: ScriptedAptosBlock;
  /**
   * Mines one block.
   *
   * @throws Error, without mining a block, if the block is not later than the previous one.
   */
  mine(block?: AptosBlockScript): ScriptedAptosBlock;
  /** Mines `count` blocks without user transactions. */
  mineMany(count: number): ScriptedAptosBlock[];
  /** Returns all blocks, oldest first. */
  blocks(): readonly ScriptedAptosBlock[];
  blockAt(height: bigint): ScriptedAptosBlock | undefined;
  blockOfVersion(version: bigint): ScriptedAptosBlock | undefined;
  /** Returns the transaction in the REST API's format. */
  transactionAt(version: bigint): RestTransaction | undefined;
  transactionOf(hash: string): RestTransaction | undefined;
  /** Returns a resource as of `version`. */
  readResource(address: string, type: string, version: bigint): MoveValue | undefined;
}

/** A mined block, as a watcher should see it. */
export interface ScriptedAptosBlock {
  readonly height: bigint;
  readonly hash: Hex;
  /** Microseconds since 1970. */
  readonly timestampUsecs: bigint;
  readonly firstVersion: bigint;
  readonly lastVersion: bigint;
  /**
   * The block metadata, the user transactions, and the block epilogue or state checkpoint, as nodes
   * return them. The first block contains only the genesis transaction.
   */
  readonly transactions: readonly RestTransaction[];
}

export interface AptosBlockScript {
  /** Default: none. */
  transactions?: readonly ScriptedAptosTransaction[];
  /** Microseconds since 1970. Default: 250,000 after the previous block. */
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
  /**
   * Timestamp of the first block, in microseconds since 1970. Default: 1,700,000,000,000,000
   * (2023-11-14).
   */
  genesisTimestampUsecs?: bigint;
  /**
   * Height and first version of the first block, which contains the genesis transaction. Simulates
   * a node that has pruned earlier blocks. Default: 0 and 0.
   */
  start?: { height: bigint; version: bigint };
}

const blockTimeUsecs = 250_000n;
const apt: AptosFungibleAsset = { name: 'Aptos Coin', symbol: 'APT', decimals: 8 };

/** Creates a ledger with its first block. `startScriptedAptos` serves the ledger over HTTP. */
export function createScriptedAptosLedger(
  options: ScriptedAptosLedgerOptions = {},
): ScriptedAptosLedger {
  const {
    chainId = 4,
    seed = 'sluice',
    genesisTimestampUsecs = 1_700_000_000_000_000n,
    start = { height: 0n, version: 0n },
  } = options;
  const salt = `${seed}:${chainId}`;
  const blocks: ScriptedAptosBlock[] = [];
  const transactionsByHash = new Map<string, RestTransaction>();
  /** Values of each resource by `resourceKey`, undefined if deleted, in ascending order of version. */
  const resources = new Map<string, { version: bigint; data: MoveValue | undefined }[]>();
  const counts = new Map<string, bigint>();
  /** Returns how often it was called with this key before. */
  const countOf = (key: string) => {
    const count = counts.get(key) ?? 0n;
    counts.set(key, count + 1n);
    return count;
  };

  const append = (
    height: bigint,
    timestampUsecs: bigint,
    makes: readonly ((position: AptosPosition) => RestTransaction)[],
  ): ScriptedAptosBlock => {
    const before = blocks.at(-1);
    const firstVersion = before === undefined ? start.version : before.lastVersion + 1n;
    let previousRoot: Hex = before?.transactions.at(-1)?.accumulator_root_hash ?? '0x0';
    const hash = sha3OfText(`${salt}:block:${height}:${previousRoot}`);
    const transactions = makes.map((make, index) => {
      const version = firstVersion + BigInt(index);
      const place = { height, blockHash: hash, timestampUsecs, salt };
      const transaction = make({ version, previousRoot, ...place });
      previousRoot = transaction.accumulator_root_hash;
      transactionsByHash.set(transaction.hash, transaction);
      return transaction;
    });
    const lastVersion = firstVersion + BigInt(transactions.length) - 1n;
    const block = { height, hash, timestampUsecs, firstVersion, lastVersion, transactions };
    blocks.push(block);
    return block;
  };

  /** Writes the effects to the resources, and returns the events and changes that nodes show. */
  const apply = (effects: readonly AptosEffect[], version: bigint) => {
    const events: RestEvent[] = [];
    const changes = new Map<string, RestChange>();
    for (const effect of effects) {
      if (effect.kind === 'event') {
        const handle = effect.handle && toHandleKey(effect.handle);
        events.push(toEvent(effect, handle === undefined ? 0n : countOf(handle)));
        continue;
      }
      changes.set(changeKey(effect), toChange(effect));
      if (effect.kind === 'writeTableItem') continue;
      const key = resourceKey(effect.address, effect.type);
      const data = effect.kind === 'writeResource' ? effect.data : undefined;
      const values = resources.get(key) ?? [];
      values.push({ version, data });
      resources.set(key, values);
    }
    const sorted = [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
    return { events, changes: sorted };
  };

  const toTransaction =
    (script: ScriptedAptosTransaction) =>
    (position: AptosPosition): RestTransaction => {
      const { sender, effects = [], failure, showsStoreOwners = true } = script;
      const sequenceNumber =
        script.replayProtectionNonce === undefined ? countOf(toLongAddress(sender)) : 0n;
      const account = newAccount(sender, sequenceNumber + 1n);
      const { events, changes } = apply(
        [
          ...(failure === undefined ? effects : []),
          ...payGas(script.feePayer ?? sender),
          { kind: 'writeResource', address: sender, type: resourceTypes.account, data: account },
        ],
        position.version,
      );
      const shown = showsStoreOwners ? changes : withoutStoreOwners(changes);
      return toUserTransaction(script, { events, changes: shown, sequenceNumber }, position);
    };

  const mine = (script: AptosBlockScript = {}) => {
    const before = blocks.at(-1)!;
    const { transactions = [], end = 'block_epilogue' } = script;
    const timestampUsecs = script.timestampUsecs ?? before.timestampUsecs + blockTimeUsecs;
    if (timestampUsecs <= before.timestampUsecs) {
      throw new Error(
        `A block must be later than its parent: timestampUsecs ${timestampUsecs} must be above ${before.timestampUsecs}`,
      );
    }
    return append(before.height + 1n, timestampUsecs, [
      toBlockMetadata,
      ...transactions.map(toTransaction),
      (position) => toBlockEnd(end, position),
    ]);
  };

  append(start.height, genesisTimestampUsecs, [
    (position) => toGenesis(apply(genesisEffects, position.version).changes, position),
  ]);

  const blockAt = (height: bigint) => blocks[Number(height - start.height)];
  const blockOfVersion = (version: bigint) => {
    // Uses a binary search, because ledgers of long tests have many blocks.
    let [low, high] = [0, blocks.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const block = blocks[middle]!;
      if (version < block.firstVersion) high = middle - 1;
      else if (version > block.lastVersion) low = middle + 1;
      else return block;
    }
    return undefined;
  };

  return {
    chainId,
    get head() {
      return blocks.at(-1)!;
    },
    get oldest() {
      return blocks[0]!;
    },
    mine,
    mineMany: (count) => Array.from({ length: count }, () => mine()),
    blocks: () => [...blocks],
    blockAt,
    blockOfVersion,
    transactionAt: (version) => {
      const block = blockOfVersion(version);
      return block?.transactions[Number(version - block.firstVersion)];
    },
    transactionOf: (hash) => transactionsByHash.get(hash.toLowerCase()),
    readResource: (address, type, version) =>
      resources.get(resourceKey(address, type))?.findLast((each) => each.version <= version)?.data,
  };
}

/** Writes APT, as a legacy coin and as a fungible asset. */
const genesisEffects: readonly AptosEffect[] = [
  {
    kind: 'writeResource',
    address: '0x1',
    type: `0x1::coin::CoinInfo<${aptCoinType}>`,
    data: coinInfo(apt),
  },
  ...aptosEffects.createObject(aptMetadata, '0x1', assetResources(apt)),
];

/** Writes the store from which the gas is paid, without an event. */
const payGas = (payer: Hex) => aptosEffects.writeStore({ owner: payer, metadata: aptMetadata });

const resourceKey = (address: string, type: string) =>
  `${toLongAddress(address)} ${toCanonicalType(type)}`;

const toHandleKey = ({ account, creationNumber }: { account: Hex; creationNumber: bigint }) =>
  `${toLongAddress(account)} ${creationNumber}`;

type ChangeEffect = Exclude<AptosEffect, { kind: 'event' }>;

const changeKey = (effect: ChangeEffect) =>
  effect.kind === 'writeTableItem'
    ? `table ${effect.handle} ${effect.key}`
    : resourceKey(effect.address, effect.type);

function toChange(effect: ChangeEffect): RestChange {
  const state_key_hash = sha3OfText(changeKey(effect));
  if (effect.kind === 'writeTableItem') {
    const { handle, key, value } = effect;
    return { state_key_hash, handle, key, value, data: null, type: 'write_table_item' };
  }
  const address = short(effect.address);
  const type = toCanonicalType(effect.type);
  return effect.kind === 'writeResource'
    ? { address, state_key_hash, data: { type, data: effect.data }, type: 'write_resource' }
    : { address, state_key_hash, resource: type, type: 'delete_resource' };
}

function toEvent(
  { type, data, handle }: Extract<AptosEffect, { kind: 'event' }>,
  sequenceNumber: bigint,
): RestEvent {
  const guid =
    handle === undefined
      ? ({ creation_number: '0', account_address: '0x0' } as const)
      : {
          creation_number: String(handle.creationNumber),
          account_address: short(handle.account),
        };
  return { guid, sequence_number: String(sequenceNumber), type: toCanonicalType(type), data };
}

/** Returns the changes without the objects of the fungible stores that are also written. */
function withoutStoreOwners(changes: readonly RestChange[]): RestChange[] {
  const written = (type: string) =>
    new Set(
      changes.flatMap((change) =>
        change.type === 'write_resource' && change.data.type === type ? [change] : [],
      ),
    );
  const stores = new Set([...written(resourceTypes.fungibleStore)].map(({ address }) => address));
  const owners = [...written(resourceTypes.object)].filter(({ address }) => stores.has(address));
  return changes.filter((change) => !owners.some((owner) => owner === change));
}
