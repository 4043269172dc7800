/** Brings the local chain and the source together, at the start and after every break. */
import type { Log } from '../base/log.ts';
import type { BlockRef, Checkpoint } from '../store/blocks/contract.ts';
import { type Confirming, type LocalChain, haltError } from './localChain.ts';
import { type ChainSource, readKept } from './source.ts';

export interface ForkOptions {
  chain: string;
  /** Of the command line, which names the chain's nodes. Default `--chain`. */
  flag?: string | undefined;
  /**
   * The chain does not fork: a head below ours is that of a node that lags, and another block at a
   * height of ours is of another chain. Default false.
   */
  isFinal?: boolean | undefined;
  /**
   * Start over at the head when the chain itself was replaced (another genesis, or a reorg deeper
   * than the window) instead of halting. For a local development chain. Default false.
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
  await local.startAt(latest, genesisHash, { why: `${replaced}: begun anew at the head` });
  log.warn('chain was replaced, starting over at its head', { chain, block: latest.number });
}

/** How it shows that the source is of another chain than the checkpoint; undefined where it is not. */
async function describeReplaced(
  { isFinal }: ForkOptions,
  source: Pick<ChainSource<unknown>, 'readHeader'>,
  checkpoint: Checkpoint,
  genesisHash: string,
): Promise<string | undefined> {
  if (checkpoint.genesisHash !== genesisHash) {
    const what = isFinal ? 'the chain id' : 'block 0';
    return `${what} is ${genesisHash} but this ledger was begun on ${checkpoint.genesisHash}`;
  }
  if (!isFinal) return undefined;
  // The id of a chain that was set up anew may be the same; its blocks are not.
  const { number, hash } = checkpoint;
  const there = await readKept(source, number);
  if (there === undefined || there.hash === hash) return undefined;
  return `block ${number} is ${there.hash} but in this ledger ${hash}`;
}

/** What is wrong, and the way out, where the blocks of the source are of another chain. */
export const describeForeign = ({ flag = '--chain' }: ForkOptions): string =>
  `another chain answers under this id. Point ${flag} at the right node, or use another --data folder.`;
