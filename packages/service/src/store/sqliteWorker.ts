/** One connection to the SQLite file, in a thread of its own: runs the store methods it is sent. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSqlite } from './sqlite.ts';
import { sqliteEngine } from './engine.ts';
import { createReads } from './reads.ts';
import { createWrites } from './writes.ts';
import type { WorkerCall, WorkerReply } from './sqlite.ts';

const { path, role } = workerData as { path: string; role: 'reads' | 'writes' };
const port = parentPort!;
const connection = openSqlite(path, role === 'reads');
const methods = (role === 'reads'
  ? createReads(connection.db, sqliteEngine)
  : createWrites(connection.db, sqliteEngine)) as unknown as Record<
  string,
  (...args: unknown[]) => Promise<unknown>
>;

// One call at a time: the connection is the only writer, and calls answer in the order they came.
let queue = Promise.resolve();
port.on('message', (call: WorkerCall) => {
  queue = queue.then(async () => {
    let reply: WorkerReply;
    try {
      if (call.method === 'close') {
        await connection.db.destroy();
        reply = { id: call.id, value: undefined };
      } else {
        reply = { id: call.id, value: await methods[call.method]!(...call.args) };
      }
    } catch (error) {
      reply = { id: call.id, error: error instanceof Error ? error : new Error(String(error)) };
    }
    port.postMessage(reply);
  });
});
