/** Tests the list of incidents on a real service. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import type { Incident } from '@sluice/kit/sluice';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type World, startWorld } from './world.test-only.ts';

const STREAM = '0199a000-0000-7000-8000-00000000000f';
const START = Date.UTC(2026, 4, 1, 2, 3, 4);
let world: World;

/** The service records an incident only once it has lasted 15 seconds. */
function insertIncidents(): void {
  const ledger = new DatabaseSync(join(world.folder, 'data', 'sluice.db'), { timeout: 5_000 });
  try {
    const insert = ledger.prepare(
      `insert into incident (id, subject, kind, cause, reason, chain, lanes, lane_count, delivery_id, started_at, ended_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const id = (n: number) => `0199a000-0000-7000-8000-${String(n).padStart(12, '0')}`;
    const lanes = JSON.stringify([`${STREAM}.2`]);
    const receiver = ['receiver', '503 from api.example', 'HTTP 503', null, lanes, 3] as const;
    insert.run(id(1), 'receiver api.example', ...receiver, id(9), START, START + 60_000);
    const chain = ['chain', 'Base is down', 'no node responds', '0x2105', '[]', 0] as const;
    insert.run(id(2), 'chain 0x2105', ...chain, null, START + 1_000, START + 61_000);
  } finally {
    ledger.close();
  }
}

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test('incidents are listed by cause, with their start and end', async () => {
  expect((await world.sluice(['incidents'])).stdout).toBe('No incidents.\n');
  expect((await world.sluice(['incidents', '--open'])).stdout).toBe('No open incidents.\n');
  insertIncidents();
  const { stdout } = await world.sluice(['incidents']);
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^START +END +CAUSE +STREAMS +DELIVERY *$/);
  expect(lines).toEqual([
    expect.stringMatching(/^2026-05-01T02:03:05 .*T02:04:05 +Base is down +– +–/),
    expect.stringMatching(/^2026-05-01T02:03:04 .*T02:04:04 +503 from api\S* +3 +0199a000/),
  ]);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);

  const ended = await world.sluice(['incidents', '--ended', '--limit', '1', '--json']);
  const [newest] = JSON.parse(ended.stdout) as Incident[];
  expect(newest).toMatchObject({ kind: 'chain', chainId: '0x2105', affected: [] });
  expect((await world.sluice(['incidents', '--open'])).stdout).toBe('No open incidents.\n');
  expect((await world.sluice(['incidents', '--open', '--ended'])).code).toBe(2);
});

test('the client lists incidents page by page', async () => {
  const first = await world.client.listIncidents({ limit: 1 });
  expect(first.result.map(({ kind }) => kind)).toEqual(['chain']);
  const second = await world.client.listIncidents({ limit: 1, cursor: first.cursor });
  expect(second.result).toMatchObject([
    { kind: 'receiver', affected: [{ streamId: STREAM, destination: 2 }], affectedCount: 3 },
  ]);
  expect(second.cursor).toBeUndefined();
});
