/**
 * Checks that the source serves the chain of the ledger, at the start and after every interruption,
 * and follows a chain that restarted from its start.
 */
import type { Log } from '../base/log.ts';
import type { BlockHeader, BlockRef, Checkpoint } from '../store/blocks/contract.ts';
import { type LocalChain, haltError } from './localChain.ts';
import { type ChainSource, readKeptHeader } from './source.ts';

export interface ForkOptions {
  chain: string;
  /** The command-line flag that sets the chain's nodes, for messages. */
  flag: string;
  /**
   * True for a chain without forks: a lower head means that the node lags, and a different block at
   * a known height means a different chain. Default: false.
   */
  isFinal?: boolean | undefined;
  /**
   * True to follow the new chain if the nodes serve a different one, such as a local chain that
   * restarted. Default: false, which halts the chain.
   */
  resetWhenReplaced?: boolean | undefined;
  /**
   * True for a development chain, which may go back any number of blocks at any time. Default:
   * false.
   */
  isDevnet?: boolean | undefined;
}

type IdentifiedSource = Pick<ChainSource<unknown>, 'readGenesisHash' | 'readHead' | 'readHeader'>;

interface Surroundings {
  source: IdentifiedSource;
  local: Pick<LocalChain, 'readCheckpoint' | 'startAt' | 'load' | 'tip'>;
  log: Log;
}

export async function connect(
  options: ForkOptions,
  { onHead, ...dependencies }: Surroundings & { onHead(head: BlockRef): void },
): Promise<void> {
  const { source, local, log } = dependencies;
  const { chain } = options;
  const checkpoint = await local.readCheckpoint();
  if (checkpoint === undefined) {
    const genesisHash = await source.readGenesisHash();
    const latest = await source.readHead();
    onHead(latest);
    await local.startAt(latest, genesisHash);
    log.info('chain first seen', { chain, block: latest.number });
    return;
  }
  await followIfReplaced(options, { ...dependencies, onHead });
}

/**
 * Follows the source's chain from its start if it is not the chain of the ledger, and returns true;
 * halts the chain instead unless `resetWhenReplaced` is set.
 */
export async function followIfReplaced(
  options: ForkOptions,
  { source, local, log, onHead }: Surroundings & { onHead?(head: BlockRef): void },
): Promise<boolean> {
  const checkpoint = (await local.readCheckpoint())!;
  const genesisHash = await source.readGenesisHash(checkpoint.genesisHash);
  const latest = await source.readHead();
  onHead?.(latest);
  await local.load();
  const tip = local.tip();
  const replaced = await describeReplaced(options, source, {
    checkpoint,
    genesisHash,
    latest,
    tip,
  });
  if (replaced === undefined) return false;
  if (!options.resetWhenReplaced) throw haltError(`${replaced}: ${describeForeign(options)}`);
  await followNew(options.chain, { source, local, log }, { latest, genesisHash, why: replaced });
  return true;
}

/** Maximum height of a new chain that is followed from its first block. */
const MAX_NEW_BLOCKS = 10_000;

/** Follows a new chain from block 1, or from its head if it is already long. */
export async function followNew(
  chain: string,
  { source, local, log }: Surroundings,
  { latest, genesisHash, why }: { latest: BlockHeader; genesisHash: string; why: string },
): Promise<void> {
  const ended = (await local.readCheckpoint())?.number;
  const isShort = latest.number <= MAX_NEW_BLOCKS;
  const start = (isShort ? await readKeptHeader(source, 0) : undefined) ?? latest;
  await local.startAt(start, genesisHash, {
    why: `${why}: the chain restarted. The earlier chain ended at block ${ended}; the new one is followed from block ${start.number + 1}`,
  });
  log.warn('chain restarted', { chain, reason: why, ended, from: start.number + 1 });
}

/** Describes how the source differs from the checkpoint's chain; undefined if they match. */
async function describeReplaced(
  { isFinal }: ForkOptions,
  source: Pick<ChainSource<unknown>, 'readHeader'>,
  {
    checkpoint,
    genesisHash,
    latest,
    tip,
  }: {
    checkpoint: Checkpoint;
    genesisHash: string;
    latest: BlockHeader;
    tip: BlockHeader | undefined;
  },
): Promise<string | undefined> {
  if (checkpoint.genesisHash !== genesisHash) {
    const what = isFinal ? 'the chain ID' : 'block 0';
    return `${what} is ${genesisHash} but this ledger began with ${checkpoint.genesisHash}`;
  }
  if (!isFinal) return undefined;
  // A chain that was set up again may have the same id, but its blocks differ.
  const { number, hash } = checkpoint;
  const there = await readKeptHeader(source, number);
  if (there === undefined) return tip && describeYounger(latest, tip);
  if (there.hash === hash) return undefined;
  return `block ${number} is ${there.hash}, but ${hash} in this ledger`;
}

/**
 * Describes the head if it cannot be an ancestor of the local tip, because it is lower and newer;
 * undefined if it may be.
 */
export const describeYounger = (latest: BlockHeader, tip: BlockHeader): string | undefined =>
  latest.number < tip.number && latest.timestamp > tip.timestamp
    ? `block ${latest.number} is newer than block ${tip.number} in this ledger`
    : undefined;

/** Describes the problem and the fix if the source serves the blocks of a different chain. */
export const describeForeign = ({ chain, flag }: ForkOptions): string =>
  `the node serves a different chain with this ID. Point ${flag} at the right node. If the chain restarted, follow the new one: sluice chains resume ${chain} --from <block>`;
