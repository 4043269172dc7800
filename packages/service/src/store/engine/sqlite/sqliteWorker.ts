/**
 * A connection to the SQLite file in its own thread, which runs store methods one at a time.
 * Waiting writes are committed together, so that they wait for the disk only once, and resolve when
 * they are durable.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { createCheckpoints } from './sqliteCheckpoints.ts';
import { openSqlite } from './sqliteConnection.ts';
import { sqliteEngine } from '../engine.ts';
import { createReads, createWrites } from '../../statements.ts';
import type { WorkerCall, WorkerReply } from './sqlite.ts';

/** Time after which a transaction accepts no more writes, so that its writes resolve. */
const SHARED_MS = 20;

const { path, role } = workerData as { path: string; role: 'reads' | 'writes' };
const port = parentPort!;
const { db, sqlite } = openSqlite(path, role === 'reads');
const checkpoints = role === 'writes' ? createCheckpoints(path, sqlite) : undefined;
const methods = (role === 'reads'
  ? createReads(db, sqliteEngine)
  : createWrites(db, sqliteEngine)) as unknown as Record<
  string,
  (...args: unknown[]) => Promise<unknown>
>;

const toError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

const answer = (replies: readonly WorkerReply[]): void => port.postMessage(replies);

const run = async ({ id, method, args }: WorkerCall): Promise<WorkerReply> => {
  try {
    return { id, value: await methods[method]!(...args) };
  } catch (error) {
    return { id, error: toError(error) };
  }
};

/** Returns why nothing was committed; undefined if everything was. */
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
 * Executes the first of these calls, and as many of the following as one transaction has time for;
 * a call that fails undoes its own changes. If SQLite rolls back everything, for example on a full
 * disk, each call is executed again separately.
 *
 * @returns the number of executed calls
 */
const write = async (calls: readonly WorkerCall[]): Promise<number> => {
  const replies: WorkerReply[] = [];
  const began = performance.now();
  const hasTime = (): boolean => performance.now() - began < SHARED_MS;
  sqlite.exec('begin');
  do replies.push(await run(calls[replies.length]!));
  while (sqlite.isTransaction && replies.length < calls.length && hasTime());
  const failure = commit();
  if (failure === undefined) answer(replies);
  else if (replies.length > 1) {
    for (const call of calls.slice(0, replies.length)) await write([call]);
  } else answer(replies.map((reply) => ('error' in reply ? reply : { ...reply, error: failure })));
  return replies.length;
};

const waiting: WorkerCall[] = [];
let working = false;

const work = async (): Promise<void> => {
  working = true;
  while (waiting.length > 0) {
    // Drains the port, because otherwise only one message arrives per turn of the event loop.
    for (let next; (next = receiveMessageOnPort(port)) !== undefined;) waiting.push(next.message);
    const closeAt = waiting.findIndex(({ method }) => method === 'close');
    if (closeAt === 0) {
      await checkpoints?.stop();
      await db.destroy();
      answer([{ id: waiting.shift()!.id, value: undefined }]);
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
