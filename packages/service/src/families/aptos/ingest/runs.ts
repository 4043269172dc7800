/**
 * Manages the runs of contiguous blocks that are being read: the live run and the runs of
 * backfills.
 */
import type { AptosBlock } from '../match/block.ts';
import { type AptosBounds, UNKNOWN_HASH } from './provider.ts';
import { type AptosRun, type RunSource, createAptosRun } from './run.ts';
import { isOfKind } from '../../../ingest/source.ts';

export interface AptosRuns {
  /**
   * Returns the block at this height, from a run that is close to it or a new run; undefined if no
   * node has the block.
   */
  read(height: number): Promise<AptosBlock | undefined>;
  isReading(): boolean;
}

/** Maximum number of runs: the live run and several backfill runs. */
const MAX_RUNS = 4;
/** A block at least this far ahead of all runs gets its own run. */
const MAX_AHEAD_BLOCKS = 256;

export function createAptosRuns({
  readBounds,
  ...from
}: RunSource & {
  /** Reads a block without its transactions; undefined if no node has it. */
  readBounds(height: number): Promise<AptosBounds | undefined>;
}): AptosRuns {
  /** Runs in order of last use, most recent last. */
  let runs: AptosRun[] = [];

  const openRun = async (height: number): Promise<AptosRun | undefined> => {
    const bounds = await readBounds(height);
    if (bounds === undefined) return undefined;
    // If the previous block was pruned, its hash is unknown.
    const before = await readBounds(height - 1).catch((error: unknown) => {
      if (isOfKind(error, 'pruned')) return undefined;
      throw error;
    });
    return createAptosRun({ ...bounds, parentHash: before?.hash ?? UNKNOWN_HASH }, from);
  };

  /**
   * Settles after the last opening of a run. Runs open one at a time, so that concurrent calls
   * share a run.
   */
  let opening: Promise<unknown> = Promise.resolve();
  const findRun = async (height: number): Promise<AptosRun | undefined> => {
    const find = () =>
      runs.find(
        (run) => run.has(height) || (height >= run.next && height - run.next < MAX_AHEAD_BLOCKS),
      );
    const use = (run: AptosRun | undefined): AptosRun | undefined => {
      if (run !== undefined) runs = [...runs.filter((each) => each !== run), run].slice(-MAX_RUNS);
      return run;
    };
    const found = find();
    if (found !== undefined) return use(found);
    const turn = opening.then(async () => use(find() ?? (await openRun(height))));
    opening = turn.catch(() => {});
    return turn;
  };

  /** Reads block 0, which has no metadata transaction and therefore cannot begin a run. */
  const readGenesis = async (): Promise<AptosBlock | undefined> => {
    const bounds = await readBounds(0);
    if (bounds === undefined) return undefined;
    const { transactions, sizeBytes } = await from.readPage(0, bounds.lastVersion + 1);
    return { ...bounds, timestampMicros: '0', transactions, sizeBytes };
  };

  return {
    async read(height) {
      if (height === 0) return readGenesis();
      const run = await findRun(height);
      try {
        return await run?.read(height);
      } catch (error) {
        // The run's transactions may be wrong, so a new run reads them again.
        if (isOfKind(error, 'inconsistent')) runs = runs.filter((each) => each !== run);
        throw error;
      }
    },
    isReading: () => runs.length > 0,
  };
}
