import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { testAccess } from './access.suite.ts';
import { testActivity } from './activity.suite.ts';
import { newMatch } from './newMatch.ts';
import { openSqliteStore } from '../../src/store/engine/sqlite/sqlite.ts';
import { testEvents } from './events.suite.ts';
import { testCounts } from './counts.suite.ts';
import { testMaximumOfChildren } from './children.suite.ts';
import { testHistory } from './history.suite.ts';
import { testOrder } from './order.suite.ts';
import { testInvariants } from './invariants.suite.ts';
import { testSettling } from './settling.suite.ts';
import { testStore } from './store.suite.ts';
import { draft } from './storeTools.ts';
import { takeChain } from './takeChain.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-store-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Opens a store. `execute` runs statements on a separate connection to the file of the store. */
async function openSecond(name: string) {
  const path = join(folder, name);
  const store = await openSqliteStore(path);
  return {
    store,
    async execute(statement: string) {
      const other = new DatabaseSync(join(path, 'sluice.db'), { timeout: 5_000 });
      other.exec(statement);
      other.close();
    },
  };
}

describe('SQLite store', () => {
  testStore(() => openSqliteStore(join(folder, 'suite')));
  testSettling(async () => [await openSqliteStore(join(folder, 'settling'))]);
  testMaximumOfChildren((limits) => openSqliteStore(join(folder, 'maximum'), limits));
  testHistory(() => openSqliteStore(join(folder, 'history')));
  testInvariants(() => openSecond('invariants'));
  testCounts(() => openSecond('facets'));
  testAccess(() => openSqliteStore(join(folder, 'access')));
  testEvents(() => openSqliteStore(join(folder, 'events')));
  testActivity(() => openSecond('activity'));
  testOrder(() => openSecond('order'));

  test('moves waits with a system clock that goes back, at the start and while it runs', async () => {
    const path = join(folder, 'clock');
    const HOUR_MS = 3_600_000;
    /** Makes the ledger look as if it was written by a clock that was an hour ahead. */
    const setAhead = (): void => {
      const file = new DatabaseSync(join(path, 'sluice.db'), { timeout: 5_000 });
      file.exec(`
        update setting set value = value + ${HOUR_MS} where key = 'clock';
        update delivery set run_at = run_at + ${HOUR_MS}, lease_until = ${Date.now() + HOUR_MS + 10_000};
        update uncertain set due_at = ${Date.now() + HOUR_MS + 50_000};
        update stream set next_send_at = ${Date.now() + HOUR_MS},
          back_off_until = ${Date.now() + HOUR_MS + 20_000},
          probe_at = ${Date.now() + HOUR_MS + 30_000}`);
      file.close();
    };
    const readWaits = () => {
      const file = new DatabaseSync(join(path, 'sluice.db'), { timeout: 5_000 });
      const waits = file
        .prepare(`
          select next_send_at, back_off_until, probe_at, due_at from stream, uncertain`)
        .get() as Record<string, number>;
      const deliveries = file.prepare('select state, run_at, lease_until from delivery').all();
      file.close();
      const fromNow = (at: unknown): number => Math.round((Number(at) - Date.now()) / 10_000) + 0;
      return {
        ...Object.fromEntries(Object.entries(waits).map(([name, at]) => [name, fromNow(at)])),
        deliveries: Object.fromEntries(
          deliveries.map((row) => [
            row['state'],
            [fromNow(row['run_at']), fromNow(row['lease_until'])],
          ]),
        ),
      };
    };
    const states = ['pending', 'leased', 'enriching', 'held'];
    const asWaited = {
      next_send_at: 0,
      back_off_until: 2,
      probe_at: 3,
      due_at: 5,
      deliveries: Object.fromEntries(states.map((state) => [state, [0, 1]])),
    };
    const first = await openSqliteStore(path);
    const { id } = await first.createStream(draft(['0xc']));
    const epoch = await takeChain(first, '0xc');
    const block = (number: number) => ({
      number,
      hash: `0x${number}`,
      parentHash: `0x${number - 1}`,
      timestamp: number,
    });
    await first.startChain({ chain: '0xc', epoch, block: block(1), genesisHash: '0x0' });
    const { revision } = await first.readRules(Number.MAX_SAFE_INTEGER, 'evm');
    await first.commitBlock({
      chain: '0xc',
      epoch,
      block: block(2),
      ruleRevision: revision,
      confirmUpTo: 0,
      windowBlocks: 256,
      matches: states.map((_, part) => newMatch(id, { part, parts: states.length })),
      unverified: {
        codes: ['receipts'],
        witnesses: 1,
        isUncertain: true,
        reading: {
          dueInMs: 0,
          needs: { logs: true, transactions: false, traces: false },
          records: '',
        },
      },
    });
    await first.close();
    const file = new DatabaseSync(join(path, 'sluice.db'));
    const ids = file.prepare('select id from delivery').all();
    for (const [n, row] of ids.entries()) {
      file.prepare('update delivery set state = ? where id = ?').run(states[n]!, row['id']!);
    }
    file.close();
    setAhead();
    expect(readWaits().deliveries).toMatchObject({ pending: [360, 361], held: [360, 361] });
    const second = await openSqliteStore(path);
    expect(readWaits()).toEqual(asWaited);
    setAhead();
    await second.renewLeases([], 60_000);
    expect(readWaits()).toEqual(asWaited);
    // A clock that goes on, or back by less than a second, moves nothing.
    await second.renewLeases([], 60_000);
    expect(readWaits()).toEqual(asWaited);
    await second.close();
  });

  test('keeps its data when it is opened again', async () => {
    const path = join(folder, 'again');
    const first = await openSqliteStore(path);
    await first.saveSetting('kept', 'yes');
    await first.close();
    const second = await openSqliteStore(path);
    expect(await second.readSetting('kept')).toBe('yes');
    await second.close();
  });

  test('a thread that exits fails its calls, and the next call starts another', async () => {
    const threads: Worker[] = [];
    const note = (thread: Worker): number => threads.push(thread);
    process.on('worker', note);
    const store = await openSqliteStore(join(folder, 'threads'));
    await store.saveSetting('kept', 'yes');
    expect(await store.readSetting('kept')).toBe('yes');
    expect(threads).toHaveLength(2);
    for (const thread of threads) await thread.terminate();
    const reading = store.readSetting('kept');
    await vi.waitFor(() => expect(threads).toHaveLength(3), { interval: 1 });
    await threads[2]!.terminate();
    await expect(reading).rejects.toThrow('The thread that reads the ledger has stopped');
    expect(await store.readSetting('kept')).toBe('yes');
    await store.saveSetting('kept', 'still');
    expect(await store.readSetting('kept')).toBe('still');
    // The store can be closed without its reading thread.
    await threads[3]!.terminate();
    await store.close();
    await expect(store.readSetting('kept')).rejects.toThrow('The ledger is closed');
    process.off('worker', note);
  });

  test('writes that are committed together fail or succeed independently', async () => {
    const path = join(folder, 'together');
    const store = await openSqliteStore(path);
    const other = new DatabaseSync(join(path, 'sluice.db'));
    // As on a full disk, the failed statement rolls back the entire transaction.
    other.exec(`create trigger refuse before insert on setting when new.key = 'bad'
      begin select raise(rollback, 'no room for it'); end`);
    other.close();
    const keys = ['first', 'second', 'bad', 'last'];
    const answers = await Promise.allSettled(keys.map((key) => store.saveSetting(key, 'kept')));
    expect(answers.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(answers[2]).toMatchObject({ reason: { message: 'no room for it' } });
    expect(await Promise.all(keys.map((key) => store.readSetting(key)))).toEqual([
      'kept',
      'kept',
      undefined,
      'kept',
    ]);
    await store.close();
  });

  test('deletes a few deliveries at a time, and other calls run in between', async () => {
    const store = await openSqliteStore(join(folder, 'forgetting'));
    const chain = '0x1';
    const epoch = await takeChain(store, chain);
    const header = (number: number) => ({
      number,
      hash: `0x${number}`,
      parentHash: `0x${number - 1}`,
      timestamp: 1_700_000_000,
    });
    await store.startChain({ chain, epoch, block: header(1), genesisHash: '0x0' });
    const { id } = await store.createStream(draft([chain]));
    const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
    const parts = Array.from({ length: 60 }, (_, part) => newMatch(id, { part, parts: 60 }));
    const commit = { chain, epoch, ruleRevision: revision, windowBlocks: 256 };
    await store.commitBlock({ ...commit, block: header(2), confirmUpTo: 2, matches: parts });

    // With negative ages, even new rows have expired. Each step deletes a few rows, although
    // `forMs` is 0.
    const rule = { deliveredMs: -86_400_000, undeliveredMs: -86_400_000, forMs: 0 };
    const claim = { limit: 1, maxBytes: 1e9, perStream: 1000, taken: {}, leaseMs: 40_000 };
    const forgotten: number[] = [];
    const claimed: number[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const step = store.deleteExpired({ ...rule, after });
      claimed.push((await store.claimDeliveries(claim)).length);
      const { deliveries, next } = await step;
      forgotten.push(deliveries);
      after = next;
    }
    expect(Math.max(...forgotten)).toBeLessThanOrEqual(5);
    expect(forgotten.length).toBeGreaterThan(120 / 5);
    expect(claimed.slice(0, 3)).toEqual([1, 1, 1]);
    await store.close();
  });

  test('rolls up many counts and deletes old ones in steps', async () => {
    const path = join(folder, 'counts');
    const store = await openSqliteStore(path);
    const { id } = await store.createStream(draft(['0x1']));
    const other = new DatabaseSync(join(path, 'sluice.db'));
    const fill = (table: string, first: number, count: number): void =>
      other.exec(`with recursive minute(n) as (
          select ${first} union all select n + 1 from minute where n < ${first + count - 1})
        insert into ${table} select '${id}', n, '0x1', 'delivered', 1 from minute`);
    const count = (table: string): unknown =>
      other.prepare(`select count(*) as n from ${table} where stream_id = ?`).get(id)?.['n'];
    const thisMinute = Math.floor(Date.now() / 60_000);
    fill('stat', 1, 5_000);
    fill('stat_delta', thisMinute - 2_000, 2_000);
    fill('stat_delta', thisMinute - 2_000, 2_000);
    expect(await store.rollUpStats()).toBe(true);
    expect([count('stat_delta'), count('stat')]).toEqual([2_000, 5_000]);
    while (await store.rollUpStats());
    expect([count('stat_delta'), count('stat')]).toEqual([0, 2_000]);
    expect(other.prepare('select sum(n) as n from stat where stream_id = ?').get(id)?.['n']).toBe(
      4_000,
    );
    other.close();
    await store.close();
  });

  test('is readable only by its owner', async () => {
    const path = join(folder, 'private');
    const store = await openSqliteStore(path);
    await store.saveSetting('a', 'b');
    const modeOf = (name: string): number => statSync(join(path, name)).mode & 0o777;
    expect(modeOf('.')).toBe(0o700);
    const files = readdirSync(path).filter((name) => name.startsWith('sluice.db'));
    expect(files.toSorted()).toEqual([
      'sluice.db',
      'sluice.db-open',
      'sluice.db-shm',
      'sluice.db-wal',
    ]);
    expect(files.map(modeOf)).toEqual([0o600, 0o600, 0o600, 0o600]);
    await store.close();
  });

  test('rejects a folder that is in use', async () => {
    const path = join(folder, 'taken');
    const first = await openSqliteStore(path);
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      code: 'data_in_use',
      message: expect.stringContaining(path) as string,
    });
    await first.close();
    await (await openSqliteStore(path)).close();
  });
});
