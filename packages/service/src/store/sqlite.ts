/** The ledger in one SQLite file: no server to run, one process at a time. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Kysely } from 'kysely';
import { createMemoryFeed } from './eventFeed.ts';
import { lockFolder } from './folderLock.ts';
import { withEvents } from './liveEvents.ts';
import { createNotices, tellOf } from './notices.ts';
import type { Reads, Store, Writes } from './store.ts';
import { migrate } from './migrations.ts';
import { openSqlite } from './sqliteConnection.ts';
import { explainDamage, markClosed, markOpen, refuseLostLog } from './sqliteDamage.ts';

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
  listEnrichingSince: true,
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
  listTransactionsOf: true,
  findBlock: true,
  readBlockAt: true,
  listWatchers: true,
  listLabels: true,
  readStreamStats: true,
  listSpared: true,
  listCertificates: true,
  readCoverage: true,
  readUnverified: true,
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
  let setup: ReturnType<typeof openSqlite> | undefined;
  try {
    refuseLostLog(path);
    setup = openSqlite(path, false);
    await migrate(setup.db as unknown as Kysely<unknown>, undefined, `The ledger in ${folder}`);
    // The folder is ours: whoever held a lease is gone.
    const now = Date.now();
    await setup.db.updateTable('lease').set({ until: now }).where('until', '>', now).execute();
    markOpen(path);
  } catch (error) {
    await setup?.db.destroy();
    lock.close();
    throw explainDamage(error, path);
  }
  // Closed last: whoever closes the file last takes the log over, which one that only reads cannot.
  const { db: keeper } = setup;
  const reads = createThread(path, 'reads', READS);
  const longReads = createThread(path, 'reads', LONG_READS);
  const writes = createThread(path, 'writes', WRITES);
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
    ...({ ...reads.methods, ...longReads.methods } as unknown as Reads),
    ...tellOf(watched, notices),
    async close() {
      events.close();
      markClosed(path);
      await Promise.all([reads.stop(), longReads.stop(), writes.stop()]);
      await keeper.destroy();
      lock.close();
    },
  };
}

/**
 * Runs these methods in a thread that begins with the first call. A thread that ends, as when it could not
 * start for want of file descriptors, fails the calls it had, and the next call begins another.
 */
function createThread<T extends string>(
  path: string,
  role: 'reads' | 'writes',
  names: Record<T, true>,
): {
  methods: Record<T, (...args: unknown[]) => Promise<unknown>>;
  stop(): Promise<void>;
} {
  let worker: Worker | undefined;
  let isStopped = false;
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  const start = (): Worker => {
    const started = new Worker(
      new URL(`./sqliteWorker${extname(import.meta.url)}`, import.meta.url),
      { workerData: { path, role }, name: `sqlite ${role}` },
    );
    let failure = new Error(`The thread that ${role} the ledger has stopped`);
    started.on('message', (replies: WorkerReply[]) => {
      for (const reply of replies) {
        const call = waiting.get(reply.id);
        waiting.delete(reply.id);
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
  const methods = Object.fromEntries(
    Object.keys(names).map((name) => [name, (...args: unknown[]) => call(name, args)]),
  ) as Record<T, (...args: unknown[]) => Promise<unknown>>;
  return {
    methods,
    async stop() {
      if (worker !== undefined) await call('close', []);
      isStopped = true;
      await worker?.terminate();
    },
  };
}
