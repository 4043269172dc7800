/**
 * Resumes a halted chain from any process: takes the chain's lease by force, sets the checkpoint
 * and releases the lease. The process that reads the chain loses its lease, takes it again and
 * continues from the ledger.
 */
import { hostname } from 'node:os';
import type { Store } from '../store/store.ts';
import { type ChainSource, SourceError, readKeptHeader } from './source.ts';

/** Duration of the lease, which must be longer than the change takes. */
const LEASE_MS = 10_000;

/**
 * Makes a chain continue from block `from`, by default the head, and records the skipped blocks as
 * a hole. Returns where the chain and the hole start, and the canceled deliveries. Throws a {@link
 * SourceError} if the nodes can't provide the block before `from`, or if a later resume replaces
 * this one.
 *
 * @param isFinal whether the chain cannot fork
 */
export async function resumeChain<Block>({
  chain,
  from,
  isFinal,
  source,
  store,
}: {
  chain: string;
  from: number | undefined;
  isFinal: boolean;
  source: ChainSource<Block>;
  store: Store;
}): Promise<{ from: number; holeFrom: number | undefined }> {
  const genesisHash = await source.readGenesisHash();
  const latest = await source.readHead();
  const first = from ?? latest.number;
  const before = first > latest.number + 1 ? undefined : await source.readHeader(first - 1);
  if (before === undefined) {
    throw new SourceError(
      'missing',
      `the node does not have block ${first - 1}; its head is ${latest.number}. Resume from a block that it has`,
    );
  }
  const readHoleFrom = async (): Promise<number | undefined> => {
    const checkpoint = await store.readCheckpoint(chain);
    if (checkpoint?.genesisHash !== genesisHash) return undefined;
    const still = await readKeptHeader(source, checkpoint.number);
    const oldest = (await store.readWindow(chain, Number.MAX_SAFE_INTEGER)).at(-1);
    // If the checkpoint left the chain, the depth of the other branch is unknown, so the hole
    // starts at the oldest block in the window.
    return isFinal || still?.hash === checkpoint.hash || oldest === undefined
      ? checkpoint.number + 1
      : oldest.number;
  };

  const holder = `${hostname()}:${process.pid} resuming`;
  const epoch = (await store.takeLease({ name: chain, holder, forMs: LEASE_MS, force: true }))!;
  try {
    // From here on, no other process can move the checkpoint.
    const holeFrom = await readHoleFrom();
    const isStarted = await store.startChain({
      chain,
      epoch,
      block: before,
      genesisHash,
      holeFrom,
      why: `resumed by request from block ${first}`,
    });
    if (!isStarted) {
      throw new SourceError('missing', 'a later request to resume the chain replaced this one');
    }
    return { from: first, holeFrom };
  } finally {
    await store.giveUpLease({ name: chain, epoch });
  }
}
