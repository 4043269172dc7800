/** The thread that takes the write-ahead log over into the file whenever it is told to (`sqliteCheckpoints.ts`). */
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type CheckpointerData, STAGE, checkpoint, createLogReader } from './sqliteCheckpoints.ts';
import { openSqlite } from './sqliteConnection.ts';

/** Pages that the committing thread may take over itself: some hundredths of a second, of a slow disk tenths. */
const LEFT_PAGES = 250;
/** Before it is tried again where a long read still needs the file as it was. */
const HELD_UP_MS = 100;

const { path, stage } = workerData as CheckpointerData;
const { sqlite } = openSqlite(path, false);
const readLog = createLogReader(sqlite);

parentPort!.on('message', () => void takeOver());

/** All of the log, and what is written meanwhile for as long as that gets less. */
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
