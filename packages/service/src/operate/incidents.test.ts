/** Tests the record of incidents. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, startPostgres } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newMatch } from '../../test/store/newMatch.ts';
import { subjectOfReceiver } from '../store/incidents/subject.ts';
import { draft, useStore } from '../../test/store/storeTools.ts';
import { openPostgresStore } from '../store/engine/postgres/postgres.ts';
import { openSqliteStore } from '../store/engine/sqlite/sqlite.ts';
import type { ChainReport } from '../store/leases/contract.ts';
import type { LeaseTerm } from './duty.ts';
import { startIncidents } from './incidents.ts';

const SOON = { timeout: 10_000 };
const folder = mkdtempSync(join(tmpdir(), 'sluice-incidents-'));
const log = { info() {}, warn() {}, error() {} };
let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

describe.each([
  ['SQLite', () => openSqliteStore(folder)],
  ['PostgreSQL', () => openPostgresStore(postgres.url)],
] as const)('incidents, with a ledger in %s', (_engine, open) => {
  const tools = useStore(open);
  let recorder: LeaseTerm | undefined;
  let chains: ChainReport[] = [];
  let filling: string | undefined;

  const start = (timing: { lastingMs?: number } = {}): void => {
    recorder = startIncidents({
      sources: {
        store: tools.store,
        deliveredMs: 30 * 24 * 3_600_000,
        chains: () => chains,
        diskFilling: () => filling,
        certificateExpiring: () => undefined,
      },
      log,
      timing: { checkMs: 20, lastingMs: 0, failureMs: 0, ...timing },
    });
  };
  const list = () => tools.store.listIncidents({ limit: 100 });
  const aWhile = () => new Promise((resolve) => setTimeout(resolve, 200));
  const report = (state: ChainReport['state'], message = '') =>
    [{ id: '0x2105', name: 'Base', state, message }] as ChainReport[];

  afterEach(async () => {
    chains = [];
    filling = undefined;
    await recorder?.stop();
    const { rows } = await tools.store.listStreams({ limit: 100 });
    for (const { id } of rows) await tools.store.deleteStream(id);
    for (const row of await list()) await tools.store.saveIncident({ ...row, endedAt: 1 });
    await tools.store.deleteIncidents(2);
  });

  test('streams that fail at one receiver are one incident, until the last recovers', async () => {
    const webhookUrl = 'https://user:key@api.example/hooks?key=1';
    const streams = [
      await tools.store.createStream(draft(['0x1'], { webhookUrl })),
      await tools.store.createStream(draft(['0x1'], { webhookUrl: 'https://api.example/other' })),
      await tools.store.createStream(draft(['0x1'], { webhookUrl: 'https://other.example/' })),
    ];
    const [first, second] = streams
      .slice(0, 2)
      .map(({ id }) => id)
      .toSorted() as [string, string];
    const before = await tools.store.readLedgerTime();
    start();
    await tools.store.failStream(first, 'HTTP 410');
    await expect.poll(list, SOON).toHaveLength(1);
    const [opened] = await list();
    expect(opened).toMatchObject({
      kind: 'receiver',
      subject: 'receiver api.example',
      cause: 'api.example fails',
      lanes: [first],
      laneCount: 1,
      endedAt: null,
    });
    expect(opened!.startedAt).toBeGreaterThanOrEqual(before);

    await tools.store.failStream(second, 'HTTP 410');
    await expect.poll(async () => (await list())[0]?.lanes, SOON).toEqual([first, second]);
    await tools.store.recoverStream(first);
    await expect.poll(async () => (await list())[0]?.lanes, SOON).toEqual([second]);
    expect((await list())[0]?.endedAt).toBeNull();
    await tools.store.recoverStream(second);
    await expect.poll(async () => (await list())[0]?.endedAt, SOON).not.toBeNull();
    const ended = (await list())[0]!;
    expect(ended).toMatchObject({ id: opened!.id, startedAt: opened!.startedAt, lanes: [second] });
    expect(ended.endedAt).toBeGreaterThanOrEqual(ended.startedAt);

    await tools.store.failStream(first, 'HTTP 410');
    await expect.poll(list, SOON).toHaveLength(2);
    expect((await tools.store.listIncidents({ isOpen: true, limit: 9 })).length).toBe(1);
    expect(await tools.store.listIncidents({ isOpen: false, limit: 9 })).toEqual([ended]);
    expect(
      await tools.store.listIncidents({ subject: subjectOfReceiver('api.example'), limit: 9 }),
    ).toHaveLength(2);
    expect(
      await tools.store.listIncidents({ subject: subjectOfReceiver('other.example'), limit: 9 }),
    ).toEqual([]);
    const [newest] = await list();
    expect(await tools.store.listIncidents({ before: newest!.id, limit: 9 })).toEqual([ended]);
  });

  test('the cause is the newest failure of the receiver', async () => {
    const chain = await tools.startChain();
    const { id } = await tools.store.createStream(
      draft([chain.chain], { webhookUrl: 'https://api.example/' }),
    );
    await chain.commit(chain.next(), [newMatch(id)]);
    const [claimed] = await tools.claimOf(id);
    const failed = { status: 503, error: 'HTTP 503', result: 'retry', retryInMs: 60_000 } as const;
    await tools.store.completeDeliveries([tools.outcomeOf(claimed!, failed)]);
    await tools.store.rollUpStats();
    start();
    await expect.poll(list, SOON).toHaveLength(1);
    const [incident] = await list();
    expect(incident).toMatchObject({
      cause: '503 from api.example',
      reason: 'HTTP 503',
      deliveryId: claimed!.id,
      lanes: [id],
    });
    // Counts are per minute.
    expect(incident!.startedAt % 60_000).toBe(0);
  });

  test('a chain is down until it is read again, and while it starts', async () => {
    chains = report('down', 'no node responds');
    start();
    await expect.poll(list, SOON).toHaveLength(1);
    expect(await list()).toMatchObject([
      { kind: 'chain', chain: '0x2105', cause: 'Base is down', reason: 'no node responds' },
    ]);
    chains = report('starting');
    await aWhile();
    expect((await list())[0]?.endedAt).toBeNull();
    chains = report('live');
    await expect.poll(async () => (await list())[0]?.endedAt, SOON).not.toBeNull();
    expect(await list()).toHaveLength(1);
  });

  test('the next process continues an open incident', async () => {
    filling = 'the disk fills within a day';
    start();
    await expect.poll(list, SOON).toHaveLength(1);
    await recorder?.stop();
    const [before] = await list();
    start();
    await aWhile();
    expect(await list()).toEqual([before]);
    filling = undefined;
    await expect.poll(async () => (await list())[0]?.endedAt, SOON).not.toBeNull();
  });

  test('a problem that does not last is no incident', async () => {
    filling = 'the disk fills within a day';
    start({ lastingMs: 3_600_000 });
    await aWhile();
    filling = undefined;
    await aWhile();
    expect(await list()).toEqual([]);
  });

  test('only one incident of a subject is open, whoever adds it', async () => {
    const row = {
      subject: 'disk',
      kind: 'disk',
      cause: 'the disk is filling',
      reason: '',
      chain: null,
      lanes: [],
      laneCount: 0,
      deliveryId: null,
      startedAt: 1,
      endedAt: null,
    } as const;
    const ids = ['a', 'b'].map((n) => `0199a000-0000-7000-8000-00000000000${n}`);
    for (const id of ids) await tools.store.saveIncident({ id, ...row });
    expect((await list()).map(({ id }) => id)).toEqual([ids[0]]);
  });
});
