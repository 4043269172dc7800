/**
 * Writes rows in batches: one write takes what gathered while the last one was under way. A batch that the
 * ledger refuses is halved down to the row at fault, which is set aside, so that it holds up no other.
 */
import { isUnavailable } from './unavailable.ts';

export interface BatchWriter<Row> {
  add(row: Row): void;
  /** Writes what is due. Resolves when nothing is being written. */
  flush(): Promise<void>;
}

const RETRY_MS = 1_000;

export function createBatchWriter<Row>({
  write,
  toRefused,
  isDue = () => true,
  onDelay,
}: {
  write(rows: readonly Row[]): Promise<void>;
  /**
   * What is written instead of a row that the ledger refuses: nothing that came from outside. Undefined
   * when the row is such a substitute itself, and is dropped.
   */
  toRefused(row: Row, error: unknown): Row | undefined;
  /** Whether to write now or to let more gather. Default: at once. */
  isDue?(size: number): boolean;
  /** The ledger is unavailable. The rows wait for it. */
  onDelay(error: unknown, count: number): void;
}): BatchWriter<Row> {
  const rows: Row[] = [];
  let most = Number.POSITIVE_INFINITY;
  let writing: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    while (rows.length > 0 && (isDue(rows.length) || most < Number.POSITIVE_INFINITY)) {
      const batch = rows.splice(0, most);
      try {
        await write(batch);
        most *= 2;
        continue;
      } catch (error) {
        const isRefused = !isUnavailable(error);
        // Halved also when the ledger is away: a batch may be too large to be written in time.
        most = Math.ceil(batch.length / 2);
        if (batch.length > 1) rows.unshift(...batch);
        else {
          const row = isRefused ? toRefused(batch[0]!, error) : batch[0]!;
          // Behind the others, which it must not hold up.
          if (row !== undefined) rows.push(row);
        }
        if (isRefused) continue;
        onDelay(error, batch.length);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    writing = undefined;
  };

  return {
    add: (row) => void rows.push(row),
    flush: () => {
      if (writing === undefined && rows.length > 0 && isDue(rows.length)) writing = run();
      return writing ?? Promise.resolve();
    },
  };
}
