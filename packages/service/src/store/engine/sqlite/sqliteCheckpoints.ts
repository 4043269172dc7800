/**
 * Keeps the write-ahead log of a SQLite ledger short by copying it into the file. A separate thread
 * (`sqliteCheckpointer.ts`) copies most pages, because this can take seconds. The committing thread
 * copies the last few, because the log restarts only once all of its pages have been copied.
 */
import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { isSqliteFrom351 } from './sqliteVersion.ts';

/**
 * Length of the log, in pages of 4 KiB, at which copying starts. With a lower limit, more pages
 * would be written twice.
 */
const LOG_PAGES = 10_000;

/**
 * Milliseconds before the next attempt if the thread fails, for example because it cannot get a
 * file descriptor.
 */
const AGAIN_MS = 1_000;

/** Stages of copying, as numbers that the two threads share. */
export const STAGE = { idle: 0, underWay: 1, nearlyDone: 2 } as const;

export interface CheckpointerData {
  path: string;
  stage: Int32Array;
}

/** State of the write-ahead log. `log` is its length in pages. */
export interface LogState {
  log: number;
  /** Number of pages that have been copied into the file. */
  checkpointed: number;
}

export interface Checkpoints {
  /** Copies the log if it is long. Must be called after each commit, outside of a transaction. */
  look(): void;
  stop(): Promise<void>;
}

/**
 * Replaces the automatic checkpoints of this connection, which must be the only one that writes.
 */
export function createCheckpoints(path: string, sqlite: DatabaseSync): Checkpoints {
  // Older versions of SQLite do not report the length of the log, so they keep their automatic
  // checkpoints.
  if (!isSqliteFrom351) return { look: () => undefined, stop: () => Promise.resolve() };
  sqlite.exec('pragma wal_autocheckpoint = 0');
  const readLog = createLogReader(sqlite);
  const stage = new Int32Array(new SharedArrayBuffer(4));
  const set = (next: keyof typeof STAGE) => Atomics.store(stage, 0, STAGE[next]);
  let worker: Worker | undefined;
  const start = (): Worker => {
    const started = new Worker(
      new URL(`./sqliteCheckpointer${extname(import.meta.url)}`, import.meta.url),
      { workerData: { path, stage } satisfies CheckpointerData, name: 'sqlite checkpoints' },
    );
    // Without a listener, an error of the new thread would also end this thread. After an error,
    // the log is intact, and grows until the next attempt.
    started.on('error', () => {
      worker = undefined;
      setTimeout(() => set('idle'), AGAIN_MS).unref();
    });
    return started;
  };

  return {
    look() {
      const now = Atomics.load(stage, 0);
      if (now === STAGE.underWay) return;
      const { log, checkpointed } = readLog();
      const left = log < LOG_PAGES ? 0 : log - checkpointed;
      if (left > 0 && (now === STAGE.idle || left >= LOG_PAGES)) {
        set('underWay');
        worker ??= start();
        worker.postMessage(null);
      } else if (now === STAGE.nearlyDone) {
        if (left > 0) checkpoint(sqlite);
        set('idle');
      }
    },
    async stop() {
      await worker?.terminate();
    },
  };
}

export function createLogReader(sqlite: DatabaseSync): () => LogState {
  const statement = sqlite.prepare('pragma wal_checkpoint(noop)');
  return () => statement.get() as unknown as LogState;
}

/**
 * Copies as much of the log as current readers allow, without waiting. Returns the length of the
 * log and the number of pages that have been copied; undefined if copying fails.
 */
export function checkpoint(sqlite: DatabaseSync): LogState | undefined {
  try {
    return sqlite.prepare('pragma wal_checkpoint(passive)').get() as unknown as LogState;
  } catch {
    // If the disk is full or fails, the log stays intact, and the next commit reports the error.
    return undefined;
  }
}
