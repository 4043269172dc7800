/**
 * Worker thread with its own connection to the SQLite file. It runs store methods one at a time.
 * Waiting writes are committed together, so that they share one write to disk. A write resolves
 * once it is durable, except those of `UNFLUSHED`.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createCheckpoints } from './sqliteCheckpoints.ts';
import { openSqlite } from './sqliteConnection.ts';
import { sqliteEngine } from './sqliteEngine.ts';
import { type CommittedEffects, type Transact, createEffects } from '../../live/effects.ts';
import { createReads, createWrites } from '../../statements.ts';
import type { Writes } from '../../store.ts';
import type { SqliteWorkerData, WorkerCall, WorkerReply } from './sqlite.ts';

/** Milliseconds after which a transaction takes no more writes and is committed. */
const SHARED_MS = 20;

/** Writes that a power loss may undo, because they are only repeated then. */
const UNFLUSHED: ReadonlySet<string> = new Set<keyof Writes>(['leaseFeed']);

const { path, role, limits } = workerData as SqliteWorkerData;
const port = parentPort!;
const { db, sqlite } = openSqlite(path, role === 'reads');
const checkpoints = role === 'writes' ? createCheckpoints(path, sqlite) : undefined;
/** Effects of the transactions of the current call. */
let committed: CommittedEffects[] = [];
const transact: Transact = async (work) => {
  const effects = createEffects();
  const result = await db.transaction().execute((trx) => work(trx, effects));
  committed.push(effects.committed);
  return result;
};
const methods = (role === 'reads'
  ? createReads(db, sqliteEngine)
  : createWrites({ db, engine: sqliteEngine, transact, ...limits })) as unknown as Record<
  string,
  (...args: unknown[]) => Promise<unknown>
>;

const toError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

const answer = (replies: readonly WorkerReply[]): void => port.postMessage(replies);

const run = async ({ id, method, args }: WorkerCall): Promise<WorkerReply> => {
  committed = [];
  try {
    const value = await methods[method]!(...args);
    return { id, value, committed };
  } catch (error) {
    return { id, error: toError(error), committed };
  }
};

/** Commits the transaction. If that fails, rolls it back and returns the error. */
const commit = (): Error | undefined => {
  try {
    sqlite.exec('commit');
    return undefined;
  } catch (error) {
    if (sqlite.isTransaction) sqlite.exec('rollback');
    return toError(error);
  }
};

/**
 * Executes the first call, and further calls for up to `SHARED_MS`, in one transaction. A call that
 * fails undoes only its own changes. If a transaction of several calls fails, for example because
 * the disk is full, each of these calls is executed again in a separate transaction.
 *
 * @returns the number of executed calls
 */
const write = async (calls: readonly WorkerCall[]): Promise<number> => {
  const replies: WorkerReply[] = [];
  const began = performance.now();
  const hasTime = (): boolean => performance.now() - began < SHARED_MS;
  const isUnflushed = UNFLUSHED.has(calls[0]!.method);
  const differsAt = calls.findIndex(({ method }) => UNFLUSHED.has(method) !== isUnflushed);
  const count = differsAt < 0 ? calls.length : differsAt;
  if (isUnflushed) sqlite.exec('pragma synchronous = normal');
  sqlite.exec('begin');
  do replies.push(await run(calls[replies.length]!));
  while (sqlite.isTransaction && replies.length < count && hasTime());
  const failure = commit();
  if (isUnflushed) sqlite.exec('pragma synchronous = full');
  if (failure === undefined) answer(replies);
  else if (replies.length > 1) {
    for (const call of calls.slice(0, replies.length)) await write([call]);
  } else {
    const error = 'error' in replies[0]! ? replies[0].error : failure;
    answer([{ id: replies[0]!.id, error, committed: [] }]);
  }
  return replies.length;
};

const waiting: WorkerCall[] = [];
let working = false;

const work = async (): Promise<void> => {
  working = true;
  while (waiting.length > 0) {
    // Reads all messages from the port, because the event loop delivers only one per turn.
    for (let next; (next = receiveMessageOnPort(port)) !== undefined;) waiting.push(next.message);
    const closeAt = waiting.findIndex(({ method }) => method === 'close');
    if (closeAt === 0) {
      await checkpoints?.stop();
      await db.destroy();
      answer([{ id: waiting.shift()!.id, value: undefined, committed: [] }]);
    } else if (role === 'reads') answer([await run(waiting.shift()!)]);
    else {
      waiting.splice(0, await write(closeAt < 0 ? waiting : waiting.slice(0, closeAt)));
      checkpoints?.look();
    }
  }
  working = false;
};

port.on('message', (call: WorkerCall) => {
  waiting.push(call);
  if (!working) void work();
});
