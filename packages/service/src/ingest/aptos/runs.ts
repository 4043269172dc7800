/** The runs of contiguous blocks that are being read: the live one, and some of backfills beside it. */
import type { AptosBlock } from '../../match/aptos/block.ts';
import { type AptosBounds, UNKNOWN_HASH } from './provider.ts';
import { type AptosRun, type RunSource, createAptosRun } from './run.ts';
import { isOfKind } from '../source.ts';

export interface AptosRuns {
  /** The block at this height, from the run that reaches it first; undefined where there is none yet. */
  read(height: number): Promise<AptosBlock | undefined>;
  /** Whether any block was read before. */
  isReading(): boolean;
}

/** Live, and some backfills beside it. */
const MAX_RUNS = 4;
/** A block so far ahead of a run is worth a run of its own. */
const MAX_AHEAD_BLOCKS = 256;

export function createAptosRuns({
  readBounds,
  ...from
}: RunSource & {
  /** Undefined where the nodes have no such block. */
  readBounds(height: number): Promise<AptosBounds | undefined>;
}): AptosRuns {
  /** Those used last come last. */
  let runs: AptosRun[] = [];

  const openRun = async (height: number): Promise<AptosRun | undefined> => {
    const bounds = await readBounds(height);
    if (bounds === undefined) return undefined;
    // Where the one before is pruned nobody holds it against anything either.
    const before = await readBounds(height - 1).catch((error: unknown) => {
      if (isOfKind(error, 'pruned')) return undefined;
      throw error;
    });
    return createAptosRun({ ...bounds, parentHash: before?.hash ?? UNKNOWN_HASH }, from);
  };

  /** Of those that wait for one run together, one opens it. */
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

  /** The first block has no metadata. */
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
        // What it holds of the block under way may be wrong: the next one begins anew.
        if (isOfKind(error, 'inconsistent')) runs = runs.filter((each) => each !== run);
        throw error;
      }
    },
    isReading: () => runs.length > 0,
  };
}
