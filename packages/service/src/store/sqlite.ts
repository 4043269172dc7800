/** The ledger in one SQLite file: no server to run, one process at a time. */
import { DatabaseSync } from 'node:sqlite';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Kysely } from 'kysely';
import { createMemoryFeed } from './eventFeed.ts';
import { withEvents } from './liveEvents.ts';
import { createNotices, tellOf } from './notices.ts';
import type { Reads, Store, Writes } from './store.ts';
import { migrate } from './migrations.ts';
import { openSqlite } from './sqliteConnection.ts';

export interface WorkerCall {
  id: number;
  method: string;
  args: unknown[];
}
export type WorkerReply = { id: number; value: unknown } | { id: number; error: Error };

/** The ledger in its folder. */
export const LEDGER_FILE = 'sluice.db';

/** What looks at very many rows, for tenths of a second and more. */
const LONG_READS = {
  countFacets: true,
  estimateReplay: true,
  countExpiring: true,
  findViolations: true,
  findAddresses: true,
} as const satisfies Partial<Record<keyof Reads, true>>;
const READS = {
  readSetting: true,
  readStream: true,
  listStreams: true,
  listAddresses: true,
  readRules: true,
  readAddresses: true,
  readAddressChanges: true,
  readCheckpoint: true,
  listLeases: true,
  readWindow: true,
  listDeliveries: true,
  readDelivery: true,
  readDeliveryBody: true,
  listAttempted: true,
  countAttempted: true,
  hasDueSuspect: true,
  readOldestDue: true,
  readOldestTransactionAge: true,
  countWaitingCommits: true,
  readActivity: true,
  readBreakdown: true,
  listStreamChanges: true,
  listPauses: true,
  listTapes: true,
  listReorgs: true,
  listGaps: true,
  listInboxes: true,
  listInboxRequests: true,
  readInboxRequest: true,
  listMatchesOf: true,
  findTransaction: true,
  findBlock: true,
  readBlockAt: true,
  listWatchers: true,
  listLabels: true,
  readStreamStats: true,
  listSpared: true,
  listCertificates: true,
  readCoverage: true,
  readJob: true,
  listJobs: true,
  listRunningJobs: true,
  readTroubles: true,
  listOperatorNotices: true,
  readOldestDelivery: true,
  readReplay: true,
  readReplayProgress: true,
  listReplays: true,
  listRunningReplays: true,
  listReplayable: true,
  readTotals: true,
  listEnriching: true,
  readTokens: true,
  listApiKeys: true,
  listEndedSessions: true,
  listAudit: true,
  readStreamSecrets: true,
  listStreamSecrets: true,
  readLedgerTime: true,
} satisfies Record<Exclude<keyof Reads, keyof typeof LONG_READS>, true>;

const WRITES = {
  saveSetting: true,
  keepSetting: true,
  checkWritable: true,
  createApiKey: true,
  createFirstApiKey: true,
  revokeApiKey: true,
  noteApiKeysUsed: true,
  endSession: true,
  appendAudit: true,
  replaceStreamSecrets: true,
  createStream: true,
  updateStream: true,
  setStreamStatus: true,
  deleteStream: true,
  cancelDeleted: true,
  failStream: true,
  recoverStream: true,
  spareStream: true,
  endSparing: true,
  noteCertificate: true,
  terminateStreams: true,
  changeAddresses: true,
  beginAddressChange: true,
  stageAddresses: true,
  activateAddressChange: true,
  undoAddressChange: true,
  cleanUpAddresses: true,
  takeLease: true,
  renewLease: true,
  giveUpLease: true,
  endLeases: true,
  startChain: true,
  commitBlock: true,
  rewindChain: true,
  noteHalt: true,
  endHalt: true,
  claimDeliveries: true,
  claimSuspect: true,
  noteIsolated: true,
  extendLeases: true,
  completeDeliveries: true,
  releaseLeases: true,
  replayDelivery: true,
  stopDelivery: true,
  saveOperatorNotice: true,
  deleteOperatorNotice: true,
  createReplay: true,
  advanceReplay: true,
  cancelReplay: true,
  rollUpStats: true,
  setInbox: true,
  deleteInbox: true,
  clearInbox: true,
  receiveInInbox: true,
  createJob: true,
  setJobState: true,
  sayOfJob: true,
  commitJob: true,
  commitManual: true,
  deleteExpired: true,
  tendPartitions: true,
  announce: true,
  trimEvents: true,
  saveTokens: true,
  completeEnrichments: true,
} satisfies Record<keyof Writes, true>;

/**
 * Opens the ledger in `folder`, creating and migrating it as needed.
 * Writes run in one thread and reads in another, so neither holds up the event loop; long reads in a third,
 * begun with the first of them, so that no list waits behind a count.
 *
 * @throws when another process holds the folder.
 */
export async function openSqliteStore(folder: string): Promise<Store> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  const path = join(folder, LEDGER_FILE);
  // Made before SQLite makes it, so that it and its journals are the owner's alone.
  closeSync(openSync(path, 'a', 0o600));
  const setup = openSqlite(path, false);
  try {
    await migrate(setup.db as unknown as Kysely<unknown>, undefined, `The ledger in ${folder}`);
    // The folder is ours: whoever held a lease is gone.
    const now = Date.now();
    await setup.db.updateTable('lease').set({ until: now }).where('until', '>', now).execute();
  } catch (error) {
    lock.close();
    throw error;
  } finally {
    await setup.db.destroy();
  }
  const reads = startWorker(path, 'reads', READS);
  let longReads: ReturnType<typeof startWorker<keyof typeof LONG_READS>> | undefined;
  const readLong = Object.fromEntries(
    (Object.keys(LONG_READS) as (keyof typeof LONG_READS)[]).map((name) => [
      name,
      (...args: unknown[]) => {
        longReads ??= startWorker(path, 'reads', LONG_READS);
        return longReads.methods[name](...args);
      },
    ]),
  );
  const writes = startWorker(path, 'writes', WRITES);
  const notices = createNotices();
  const events = createMemoryFeed();
  const methods = writes.methods as unknown as Writes;
  const watched = withEvents(methods, async (name, args, toEvents) => {
    const answer = await writes.methods[name](...args);
    events.append(toEvents(answer));
    return answer;
  });
  return {
    engine: 'sqlite',
    notices,
    events,
    ...({ ...reads.methods, ...readLong } as unknown as Reads),
    ...tellOf(watched, notices),
    async close() {
      events.close();
      await Promise.all([reads.stop(), longReads?.stop()]);
      await writes.stop();
      lock.close();
    },
  };
}

/** Held until the process ends, however it ends: a lock file would outlive a crash. */
export function lockFolder(folder: string): DatabaseSync {
  const lock = new DatabaseSync(join(folder, 'lock.db'), { timeout: 0 });
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    throw new Error(
      `The data folder ${dirname(join(folder, 'lock.db'))} is in use by another sluice process. ` +
        'Stop that one, or give this one another folder with --data DIR.',
      { cause: error },
    );
  }
}

function startWorker<T extends string>(
  path: string,
  role: 'reads' | 'writes',
  names: Record<T, true>,
): {
  methods: Record<T, (...args: unknown[]) => Promise<unknown>>;
  stop(): Promise<void>;
} {
  const worker = new Worker(new URL(`./sqliteWorker${extname(import.meta.url)}`, import.meta.url), {
    workerData: { path, role },
    name: `sqlite ${role}`,
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let failure: Error | undefined;

  worker.on('message', (replies: WorkerReply[]) => {
    for (const reply of replies) {
      const call = waiting.get(reply.id);
      waiting.delete(reply.id);
      if ('error' in reply) call?.reject(reply.error);
      else call?.resolve(reply.value);
    }
  });
  const fail = (error: Error): void => {
    failure ??= error;
    for (const call of waiting.values()) call.reject(error);
    waiting.clear();
  };
  worker.on('error', fail);
  worker.on('exit', () => {
    fail(new Error(`The thread that ${role} the ledger has stopped`));
  });

  const call = (method: string, args: unknown[]): Promise<unknown> => {
    if (failure !== undefined) return Promise.reject(failure);
    const id = ++lastId;
    const pending = Promise.withResolvers<unknown>();
    waiting.set(id, pending);
    worker.postMessage({ id, method, args } satisfies WorkerCall);
    return pending.promise;
  };
  const methods = Object.fromEntries(
    Object.keys(names).map((name) => [name, (...args: unknown[]) => call(name, args)]),
  ) as Record<T, (...args: unknown[]) => Promise<unknown>>;
  return {
    methods,
    async stop() {
      await call('close', []);
      await worker.terminate();
    },
  };
}
