/**
 * Checks that the source serves the chain of the ledger, at the start and after every interruption.
 */
import type { Log } from '../base/log.ts';
import type { BlockRef, Checkpoint } from '../store/blocks/contract.ts';
import { type Confirming, type LocalChain, haltError } from './localChain.ts';
import { type ChainSource, readKept } from './source.ts';

export interface ForkOptions {
  chain: string;
  /** The command-line flag that sets the chain's nodes, for messages. Default: `--chain`. */
  flag?: string | undefined;
  /**
   * True for a chain without forks: a lower head means that the node lags, and a different block at
   * a known height means a different chain. Default: false.
   */
  isFinal?: boolean | undefined;
  /**
   * True to restart at the head if the chain was replaced (a different genesis, or a reorg deeper
   * than the window); for local development chains. Default: false, which halts the chain.
   */
  resetWhenReplaced?: boolean | undefined;
}

export async function connect(
  options: ForkOptions,
  {
    source,
    local,
    confirming,
    onHead,
    log,
  }: {
    source: Pick<ChainSource<unknown>, 'readGenesisHash' | 'readHead' | 'readHeader'>;
    local: Pick<LocalChain, 'readCheckpoint' | 'startAt' | 'load'>;
    confirming: Pick<Confirming, 'refresh'>;
    onHead(head: BlockRef): void;
    log: Log;
  },
): Promise<void> {
  const { chain } = options;
  const checkpoint = await local.readCheckpoint();
  const genesisHash = await source.readGenesisHash(checkpoint?.genesisHash);
  const latest = await source.readHead();
  onHead(latest);
  if (checkpoint === undefined) {
    await local.startAt(latest, genesisHash);
    log.info('chain first seen', { chain, block: latest.number });
    return;
  }
  const replaced = await describeReplaced(options, source, checkpoint, genesisHash);
  if (replaced === undefined) {
    await confirming.refresh();
    return local.load(checkpoint.number);
  }
  if (!options.resetWhenReplaced) throw haltError(`${replaced}: ${describeForeign(options)}`);
  await local.startAt(latest, genesisHash, { why: `${replaced}: restarted at the head` });
  log.warn('chain was replaced, restarting at its head', { chain, block: latest.number });
}

/** Describes how the source differs from the checkpoint's chain; undefined if they match. */
async function describeReplaced(
  { isFinal }: ForkOptions,
  source: Pick<ChainSource<unknown>, 'readHeader'>,
  checkpoint: Checkpoint,
  genesisHash: string,
): Promise<string | undefined> {
  if (checkpoint.genesisHash !== genesisHash) {
    const what = isFinal ? 'the chain ID' : 'block 0';
    return `${what} is ${genesisHash} but this ledger began with ${checkpoint.genesisHash}`;
  }
  if (!isFinal) return undefined;
  // A chain that was set up again may have the same id, but its blocks differ.
  const { number, hash } = checkpoint;
  const there = await readKept(source, number);
  if (there === undefined || there.hash === hash) return undefined;
  return `block ${number} is ${there.hash}, but ${hash} in this ledger`;
}

/** Describes the problem and the fix if the source serves the blocks of a different chain. */
export const describeForeign = ({ flag = '--chain' }: ForkOptions): string =>
  `the node serves a different chain with this ID. Point ${flag} at the right node, or use another --data folder.`;
