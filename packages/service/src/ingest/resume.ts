/**
 * The way out of a halt. Whoever is asked does it, whichever process reads the chain: it takes the chain's
 * lease by force, sets the checkpoint and gives the lease up; the reader finds its own lost, takes it
 * again and goes on from the ledger.
 */
import { hostname } from 'node:os';
import type { DeliverySummary } from '@sluice/kit/contract';
import type { Store } from '../store/store.ts';
import { type ChainSource, SourceError, readKept } from './source.ts';

/** Longer than what is done under it takes. */
const LEASE_MS = 10_000;

/**
 * Sets a chain to go on from block `from`, by default the head, whatever lies before it, and records
 * what lies between as a hole. Throws a {@link SourceError} when the nodes cannot say.
 *
 * @param isFinal the chain does not fork
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
}): Promise<{ from: number; holeFrom: number | undefined; cancelled: DeliverySummary[] }> {
  const genesisHash = await source.readGenesisHash();
  const latest = await source.readHead();
  const first = from ?? latest.number;
  const before = first > latest.number + 1 ? undefined : await source.readHeader(first - 1);
  if (before === undefined) {
    throw new SourceError(
      'missing',
      `block ${first - 1} is not on the node, whose head is ${latest.number}: resume from a block it has`,
    );
  }
  const readHoleFrom = async (): Promise<number | undefined> => {
    const checkpoint = await store.readCheckpoint(chain);
    if (checkpoint?.genesisHash !== genesisHash) return undefined;
    const still = await readKept(source, checkpoint.number);
    const oldest = (await store.readWindow(chain, Number.MAX_SAFE_INTEGER)).at(-1);
    // Where the checkpoint left the chain it is not known how far down the other branch goes.
    return isFinal || still?.hash === checkpoint.hash || oldest === undefined
      ? checkpoint.number + 1
      : oldest.number;
  };

  const holder = `${hostname()}:${process.pid} resuming`;
  const epoch = (await store.takeLease({ name: chain, holder, forMs: LEASE_MS, force: true }))!;
  try {
    // From here on nobody else moves the checkpoint.
    const holeFrom = await readHoleFrom();
    const cancelled = await store.startChain({
      chain,
      epoch,
      block: before,
      genesisHash,
      holeFrom,
      why: `resumed by request from block ${first}`,
    });
    if (cancelled === undefined) {
      throw new SourceError('missing', 'another request to resume came after it');
    }
    return { from: first, holeFrom, cancelled };
  } finally {
    await store.giveUpLease({ name: chain, epoch });
  }
}
