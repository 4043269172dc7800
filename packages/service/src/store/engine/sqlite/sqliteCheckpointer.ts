/** The thread that copies the write-ahead log into the file on request (`sqliteCheckpoints.ts`). */
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type CheckpointerData, STAGE, checkpoint, createLogReader } from './sqliteCheckpoints.ts';
import { openSqlite } from './sqliteConnection.ts';

/**
 * Number of remaining pages at which this thread stops copying. The committing thread copies these
 * pages in about 50 ms, or more on a slow disk.
 */
const LEFT_PAGES = 250;
/**
 * Milliseconds before the next attempt if copying fails, or if a long read still needs the old
 * state of the file.
 */
const HELD_UP_MS = 100;

const { path, stage } = workerData as CheckpointerData;
const { sqlite } = openSqlite(path, false);
const readLog = createLogReader(sqlite);

parentPort!.on('message', () => void takeOver());

/**
 * Copies the log, and then the pages that were written in the meantime. Repeats this until few
 * pages are left, or until a round does not halve their number.
 */
async function takeOver(): Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  for (;;) {
    const taken = checkpoint(sqlite);
    if (taken === undefined || taken.checkpointed < taken.log) {
      await wait(HELD_UP_MS);
      return void Atomics.store(stage, 0, STAGE.idle);
    }
    const { log, checkpointed } = readLog();
    const isLess = log - checkpointed < left / 2;
    left = log - checkpointed;
    if (left <= LEFT_PAGES || !isLess) return void Atomics.store(stage, 0, STAGE.nearlyDone);
  }
}
