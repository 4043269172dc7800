/**
 * Keeps the write-ahead log of a SQLite ledger short. To take the log over into the file (a checkpoint) is
 * to write all over it and to wait for the disk, for seconds where that is busy. So a thread of its own does
 * it (`sqliteCheckpointer.ts`), while whoever commits goes on; but as long as anybody writes the log does not
 * come to its end, from where the next write begins it anew. The last little of it, which was written
 * meanwhile, the committing thread therefore takes over itself.
 */
import { extname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { isSqliteFrom351 } from '../engine.ts';

/** Pages of the log, 4 KiB each, from which on it is taken over: sooner, and more of them are written twice. */
const LOG_PAGES = 10_000;

/** Until another thread is begun, after one that could not start: for want of file descriptors, say. */
const AGAIN_MS = 1_000;

/** What the two threads tell each other, in one number that both see. */
export const STAGE = { idle: 0, underWay: 1, nearlyDone: 2 } as const;

export interface CheckpointerData {
  path: string;
  stage: Int32Array;
}

/** In pages. */
export interface LogState {
  log: number;
  /** Of them those that stand in the file, too. */
  checkpointed: number;
}

export interface Checkpoints {
  /** To be called after each commit, outside of a transaction. */
  look(): void;
  stop(): Promise<void>;
}

/** Of this connection, the only one that writes; it makes no checkpoints by itself from here on. */
export function createCheckpoints(path: string, sqlite: DatabaseSync): Checkpoints {
  // An older SQLite does not say how long its log is, and goes on by itself.
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
    // Without a listener its error would end this thread, too. The log is whole as it is, and only grows.
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
 * Takes over what no reader still needs the file without, and waits for nobody. Answers with the log as it
 * was when this began.
 */
export function checkpoint(sqlite: DatabaseSync): LogState | undefined {
  try {
    return sqlite.prepare('pragma wal_checkpoint(passive)').get() as unknown as LogState;
  } catch {
    // The disk is full, or fails: the log is whole as it is, and the next commit hears of it.
    return undefined;
  }
}
