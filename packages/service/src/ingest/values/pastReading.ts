/** Reads values on chain in the state of past blocks, for the backfills of a chain. */
import { RetryableError } from '../../base/errors.ts';
import type { BlockHeader, NewMatch } from '../../store/blocks/contract.ts';
import type { PastKnown, RunningJob } from '../../store/jobs/contract.ts';
import type { Store } from '../../store/store.ts';
import { type ChainSource, headerOf } from '../source.ts';
import { type KnownReads, createKnownReads } from './knownReads.ts';
import { type ReadState, type ReadValues, TRIES } from './reading.ts';

/** The values of the stream of a backfill. */
export interface PastValues<Stream, Sent> {
  stream: Stream;
  toMatches(block: BlockHeader, sent: readonly Sent[]): NewMatch[];
}

/** The values in the first of some blocks. */
export interface PastReading {
  /** The blocks whose state was read, or that no node has. */
  blocks: { valueMatches: readonly NewMatch[]; lacksState: boolean }[];
  /** The values that are known after these blocks. */
  known: PastKnown;
}

/** Maximum number of backfills whose known values are kept. Others load them from the ledger. */
const REMEMBERED = 16;

interface Known {
  known: KnownReads;
  isIncomplete: boolean;
}

export function createPastReading<Stream extends { id: string }, Sent>({
  source,
  store,
  readState,
}: {
  source: Pick<ChainSource<unknown>, 'readHeader'>;
  store: Pick<Store, 'readJobValues'>;
  readState: ReadState<Stream, Sent>;
}) {
  /** Known values after the last block that a job has read, by job. */
  const kept = new Map<string, Known & { hash: string }>();
  /** Tries of the state that a job reads now, by job. */
  const tries = new Map<string, { hash: string; count: number }>();

  /**
   * Reads the values in the state of a block.
   *
   * @throws RetryableError if the nodes refuse the state, until the last try
   */
  const readValues = async (
    job: string,
    stream: Stream,
    block: BlockHeader,
    after: number,
    { known, isIncomplete }: Known,
  ): Promise<ReadValues<Sent>> => {
    const before = tries.get(job);
    const count = before?.hash === block.hash ? before.count + 1 : 1;
    const asked = { streams: [stream], pending: { block, after }, known, isIncomplete };
    const values = await readState(asked, count >= TRIES);
    if (values !== undefined) {
      tries.delete(job);
      return values;
    }
    tries.set(job, { hash: block.hash, count });
    throw new RetryableError('unavailable', `no node has the state of block ${block.number}`);
  };

  /** Returns the values before a block: of the block before the range, or of those that were read. */
  const knownBefore = async (
    { id, nextBlock, blockFrom }: RunningJob,
    stream: Stream,
    { number, parentHash }: BlockHeader,
  ): Promise<Known> => {
    const its = kept.get(id);
    kept.delete(id);
    if (its?.hash === parentHash) return its;
    const stored = nextBlock > blockFrom ? await store.readJobValues(id) : undefined;
    if (stored !== undefined) {
      return { known: createKnownReads(stored.reads), isIncomplete: stored.isIncomplete };
    }
    const known = createKnownReads();
    if (number === 0) return { known, isIncomplete: false };
    const parent = await source.readHeader(parentHash);
    if (parent === undefined) return { known, isIncomplete: true };
    const before = { known, isIncomplete: false };
    const values = await readValues(id, stream, headerOf(parent), parent.number - 1, before);
    known.add(parent, values);
    return { known, isIncomplete: values.lacking.length > 0 };
  };

  return {
    /**
     * Reads the values in the state of blocks that follow each other, starting at the next block of
     * the job. Ends before a block whose state the nodes refuse.
     *
     * @throws RetryableError if this is the first block
     */
    async read(
      job: RunningJob,
      { stream, toMatches }: PastValues<Stream, Sent>,
      blocks: readonly BlockHeader[],
    ): Promise<PastReading> {
      const done: PastReading['blocks'] = [];
      const [first] = blocks;
      let before = first && (await knownBefore(job, stream, first));
      let last: BlockHeader | undefined;
      for (const block of blocks.map(headerOf)) {
        try {
          const after = last?.number ?? block.number - 1;
          const values = await readValues(job.id, stream, block, after, before!);
          const { known } = before!;
          known.add(block, values);
          const lacksState = values.lacking.length > 0;
          before = { known, isIncomplete: before!.isIncomplete && lacksState };
          const sent = values.sent.get(stream.id);
          done.push({ valueMatches: sent ? toMatches(block, sent) : [], lacksState });
          last = block;
        } catch (error) {
          if (!(error instanceof RetryableError) || last === undefined) throw error;
          break;
        }
      }
      if (before !== undefined && last !== undefined) {
        // If the blocks are not committed, the next ones do not follow them.
        kept.set(job.id, { ...before, hash: last.hash });
        if (kept.size > REMEMBERED) kept.delete(kept.keys().next().value!);
      }
      return {
        blocks: done,
        known: {
          reads: [...(before?.known.all() ?? [])],
          isIncomplete: before?.isIncomplete ?? true,
        },
      };
    },
  };
}
