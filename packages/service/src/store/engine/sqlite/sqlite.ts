/** The ledger in one SQLite file, for one process at a time. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Kysely } from 'kysely';
import { createMemoryFeed } from '../../live/eventFeed.ts';
import { lockFolder } from './folderLock.ts';
import type { CommittedEffects, Transact } from '../../live/effects.ts';
import { createQueueChanges } from '../../live/queueChanges.ts';
import { createSignals } from '../../live/signals.ts';
import { DEFAULT_LEDGER_LIMITS, type LedgerLimits } from '../../live/limits.ts';
import { createReads, createWrites } from '../../statements.ts';
import type { Reads, Store } from '../../store.ts';
import { migrate } from '../migrations.ts';
import { openSqlite } from './sqliteConnection.ts';
import { sqliteEngine } from './sqliteEngine.ts';
import { explainDamage, markClosed, markOpen, refuseLostLog } from './sqliteDamage.ts';

export interface SqliteWorkerData {
  path: string;
  role: 'reads' | 'writes';
  limits: LedgerLimits;
}

export interface WorkerCall {
  id: number;
  method: string;
  args: unknown[];
}
export type WorkerReply = {
  id: number;
  /** Effects of the transactions of this call. */
  committed: readonly CommittedEffects[];
} & ({ value: unknown } | { error: Error });

export const LEDGER_FILE = 'sluice.db';

/** Reads that may scan many rows and take 0.1 s or more, so they have a separate thread. */
const LONG_READS: ReadonlySet<string> = new Set<keyof Reads>([
  'countByField',
  'estimateReplay',
  'countExpiring',
  'findViolations',
  'findAddresses',
  'listChildren',
  'countChildren',
  'countDestinations',
]);

/**
 * Opens the ledger in `folder`; creates or migrates it if necessary. Writes, reads and long reads
 * have separate threads, which start on demand.
 * @throws CallerError if another process has locked the folder, the ledger is damaged, its
 * write-ahead log is missing, or another version or build of the program created it
 */
export async function openSqliteStore(
  folder: string,
  limits: LedgerLimits = DEFAULT_LEDGER_LIMITS,
): Promise<Store> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  const path = join(folder, LEDGER_FILE);
  // Creates the file before SQLite does, so that only the owner can read the file and its journals.
  closeSync(openSync(path, 'a', 0o600));
  let setup: ReturnType<typeof openSqlite> | undefined;
  try {
    refuseLostLog(path);
    setup = openSqlite(path, false);
    await migrate(setup.db as unknown as Kysely<unknown>, undefined, `The ledger in ${folder}`);
    await sqliteEngine.followClock(setup.db);
    // This process has locked the folder, so the previous holders of leases have ended.
    const now = Date.now();
    await setup.db.updateTable('lease').set({ until: now }).where('until', '>', now).execute();
    markOpen(path);
  } catch (error) {
    await setup?.db.destroy();
    lock.close();
    throw explainDamage(error, path);
  }
  // This connection must be closed last: the last connection copies the write-ahead log into the
  // file, which a read-only connection cannot do.
  const { db: keeper } = setup;
  const signals = createSignals();
  const events = createMemoryFeed();
  const queueChanges = createQueueChanges();
  const onCommitted = (committed: CommittedEffects): void => {
    queueChanges.report(committed.queued);
    events.append(committed.events);
    signals.send(committed.signals);
  };
  const reads = createThread({ path, role: 'reads', limits });
  const longReads = createThread({ path, role: 'reads', limits });
  const writes = createThread({ path, role: 'writes', limits }, onCommitted);
  // The statements run in the threads; these objects only provide the names of the methods.
  const readers = mapMethods(createReads(keeper, sqliteEngine), (name, args) =>
    (LONG_READS.has(name) ? longReads : reads).call(name, args),
  );
  const writers = mapMethods(
    createWrites({ db: keeper, engine: sqliteEngine, transact: notHere, ...limits }),
    writes.call,
  );
  return {
    engine: 'sqlite',
    isShared: sqliteEngine.isShared,
    place: path,
    files: { folder, readSizeBytes: () => readSizeBytes(path) },
    explainError: (error) => explainDamage(error, path),
    signals,
    events,
    queueChanges,
    ...readers,
    ...writers,
    async close() {
      events.close();
      markClosed(path);
      await Promise.all([reads.stop(), longReads.stop(), writes.stop()]);
      await keeper.destroy();
      lock.close();
    },
  };
}

const notHere: Transact = () => Promise.reject(new Error('Writes run in their own thread'));

/** Returns the size of the ledger with its write-ahead log. */
async function readSizeBytes(path: string): Promise<number> {
  const sizes = await Promise.all(
    ['', '-wal'].map(async (ending) => {
      const found = await stat(path + ending).catch(() => undefined);
      return found?.size ?? 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Returns an object with the same methods, each of which passes its name and arguments to `call`.
 */
const mapMethods = <Methods extends object>(
  methods: Methods,
  call: (name: string, args: unknown[]) => Promise<unknown>,
): Methods =>
  Object.fromEntries(
    Object.keys(methods).map((name) => [name, (...args: unknown[]) => call(name, args)]),
  ) as Methods;

/**
 * Runs methods of the ledger in a thread that starts on the first call. If the thread ends, for
 * example because it could not get a file descriptor, its pending calls fail and the next call
 * starts another thread.
 *
 * @param onCommitted called with the effects of each call before it resolves
 */
function createThread(
  workerData: SqliteWorkerData,
  onCommitted: (committed: CommittedEffects) => void = () => {},
): {
  call(method: string, args: unknown[]): Promise<unknown>;
  stop(): Promise<void>;
} {
  let worker: Worker | undefined;
  let isStopped = false;
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  const start = (): Worker => {
    const started = new Worker(
      new URL(`./sqliteWorker${extname(import.meta.url)}`, import.meta.url),
      { workerData, name: `sqlite ${workerData.role}` },
    );
    let failure = new Error(`The thread that ${workerData.role} the ledger has stopped`);
    started.on('message', (replies: WorkerReply[]) => {
      for (const reply of replies) {
        const call = waiting.get(reply.id);
        waiting.delete(reply.id);
        for (const committed of reply.committed) onCommitted(committed);
        if ('error' in reply) call?.reject(reply.error);
        else call?.resolve(reply.value);
      }
    });
    started.on('error', (error) => (failure = error as Error));
    started.on('exit', () => {
      worker = undefined;
      for (const call of waiting.values()) call.reject(failure);
      waiting.clear();
    });
    return started;
  };

  const call = async (method: string, args: unknown[]): Promise<unknown> => {
    if (isStopped) throw new Error('The ledger is closed');
    worker ??= start();
    const id = ++lastId;
    const pending = Promise.withResolvers<unknown>();
    waiting.set(id, pending);
    worker.postMessage({ id, method, args } satisfies WorkerCall);
    return pending.promise;
  };
  return {
    call,
    async stop() {
      if (worker !== undefined) await call('close', []);
      isStopped = true;
      await worker?.terminate();
    },
  };
}
