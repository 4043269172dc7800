/**
 * Keeps the write-ahead log of a SQLite ledger short by copying it into the file in a separate
 * thread (`sqliteCheckpointer.ts`), because that can take seconds. The committing thread copies the
 * last small part itself, because a log restarts only after it was copied completely.
 */
import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { isSqliteFrom351 } from '../engine.ts';

/**
 * Length of the log, in pages of 4 KiB, at which copying starts. With a shorter log, more pages are
 * written twice.
 */
const LOG_PAGES = 10_000;

/**
 * Milliseconds before another start if the thread could not start, for example without free file
 * descriptors.
 */
const AGAIN_MS = 1_000;

/** State that the two threads share, in one number. */
export const STAGE = { idle: 0, underWay: 1, nearlyDone: 2 } as const;

export interface CheckpointerData {
  path: string;
  stage: Int32Array;
}

/** Length of the log in pages. */
export interface LogState {
  log: number;
  /** Number of pages that have been copied into the file. */
  checkpointed: number;
}

export interface Checkpoints {
  /** Must be called after each commit, outside of a transaction. */
  look(): void;
  stop(): Promise<void>;
}

/** Takes over the checkpoints of this connection, the only one that writes. */
export function createCheckpoints(path: string, sqlite: DatabaseSync): Checkpoints {
  // Older versions of SQLite do not report the length of the log, and keep making their own
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
    // Without a listener, its error would also end this thread. The log stays intact and only
    // grows.
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
 * Copies the log without waiting, up to the part that a reader still needs. Returns the state of
 * the log when it started.
 */
export function checkpoint(sqlite: DatabaseSync): LogState | undefined {
  try {
    return sqlite.prepare('pragma wal_checkpoint(passive)').get() as unknown as LogState;
  } catch {
    // If the disk is full or fails, the log stays intact, and the next commit reports the error.
    return undefined;
  }
}
