/**
 * Writes rows in batches: each write takes the rows that arrived in one turn of the event loop, or
 * during the previous write. A batch that the ledger rejects is halved until the invalid row is found
 * and replaced, so that the row does not block others.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnavailable } from './unavailable.ts';

export interface BatchWriter<Row> {
  add(row: Row): void;
  /** Writes the queued rows if `isDue` returns true. Resolves when no write is running. */
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
   * Returns a substitute, without external data, for a row that the ledger rejects; undefined if
   * the row is already a substitute, which is then dropped.
   */
  toRefused(row: Row, error: unknown): Row | undefined;
  /** Returns whether to write now or wait for more rows. Default: always write. */
  isDue?(size: number): boolean;
  /** Called when the ledger is unavailable. The rows stay queued. */
  onDelay(error: unknown, count: number): void;
}): BatchWriter<Row> {
  const rows: Row[] = [];
  let most = Number.POSITIVE_INFINITY;
  let writing: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    await nextTurn();
    while (rows.length > 0 && (isDue(rows.length) || most < Number.POSITIVE_INFINITY)) {
      const batch = rows.splice(0, most);
      try {
        await write(batch);
        most *= 2;
        continue;
      } catch (error) {
        const isRefused = !isUnavailable(error);
        // Also halves the batch while the ledger is unavailable, because the batch may be too large
        // to be written in time.
        most = Math.ceil(batch.length / 2);
        if (batch.length > 1) rows.unshift(...batch);
        else {
          const row = isRefused ? toRefused(batch[0]!, error) : batch[0]!;
          // Moves the row or its substitute to the end of the queue, so that it does not block
          // other rows.
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
