/** Tests the checker of invariants with a consistent ledger, and with each kind of violation. */
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, test } from 'vitest';
import { type World, checkInvariants } from './invariants.ts';

let db: DatabaseSync;
let world: World;

beforeEach(() => {
  db = new DatabaseSync(':memory:');
  db.exec(`
    create table stream (id, status);
    create table match (id, chain, block_hash, part);
    create table delivery (id, stream_id, match_id, phase, state, run_at, last_error, attempts);
    create table attempt (delivery_id, number, error);
    create table stat (stream_id, minute, chain, metric, n);
    create table stat_delta (stream_id, minute, chain, metric, n);
    insert into stream values ('s', 'active');
    insert into match values ('a', '0x1', '0xa', 0), ('a again', '0x1', '0xa', 0), ('b', '0x1', '0xb', 0);
    insert into delivery values ('d1', 's', 'a', 'unconfirmed', 'succeeded', 0, null, 2);
    insert into delivery values ('d2', 's', 'a', 'confirmed', 'pending', 2000, 'x', 1);
    insert into attempt values ('d1', 1, 'HTTP 500'), ('d1', 2, null), ('d2', 1, 'HTTP 500');
    insert into stat values ('s', 0, '0x1', 'webhooks_delivered', 1), ('s', 7, '0x1', 'failed_attempts', 1);
    insert into stat_delta values ('s', 7, '0x1', 'delivered', 1), ('s', 7, '0x1', 'failed_attempts', 1)`);
  world = {
    ledger: {
      rows: (select) => Promise.resolve(db.prepare(select).all() as never),
      value: () => Promise.resolve(0),
      now: () => Promise.resolve(1000),
    },
    received: new Map([
      ['d1', { total: 2, accepted: 1 }],
      ['d2', { total: 1, accepted: 0 }],
    ]),
    expected: new Map([['s', new Set(['0x1:0xa:unconfirmed', '0x1:0xa:confirmed'])]]),
    survivors: [{ isRunning: () => true, output: () => '' }],
  };
});

test('the checker finds no violation in a consistent ledger', async () => {
  expect((await checkInvariants(world)).violations).toEqual([]);
});

const received = (id: string, total: number, accepted: number): void => {
  world = { ...world, received: new Map([...world.received, [id, { total, accepted }]]) };
};

test.each<[string, RegExp, () => void]>([
  [
    'a delivery is missing',
    /^I1: s 0x1:0xa:confirmed has 0/,
    () => db.exec("delete from delivery where id = 'd2'"),
  ],
  [
    'a block is delivered twice',
    /^I1: .*unconfirmed has 2/,
    () =>
      db.exec(
        "insert into delivery values ('d3', 's', 'a again', 'unconfirmed', 'cancelled', 0, null, 0)",
      ),
  ],
  [
    'a delivery is unexpected',
    /^I1: .*0xb.* unexpected/,
    () =>
      db.exec(
        "insert into delivery values ('d3', 's', 'b', 'unconfirmed', 'cancelled', 0, null, 0)",
      ),
  ],
  [
    'a due delivery remains',
    /^I2: d2 is pending/,
    () => db.exec("update delivery set run_at = 999 where id = 'd2'"),
  ],
  [
    'a lease remains',
    /^I2: d2 is leased/,
    () => db.exec("update delivery set state = 'leased' where id = 'd2'"),
  ],
  [
    'a quarantined delivery has no reason',
    /^I2: d2 is quarantined/,
    () => db.exec("update delivery set state = 'quarantined', last_error = '' where id = 'd2'"),
  ],
  [
    'an attempt is not counted',
    /^I3: d1 counts 1 attempts, but has 2/,
    () => db.exec("update delivery set attempts = 1 where id = 'd1'"),
  ],
  [
    'a success is counted twice',
    /^I3: webhooks_delivered is 2, but the rows add up to 1/,
    () => db.exec("insert into stat_delta values ('s', 0, '0x1', 'webhooks_delivered', 1)"),
  ],
  [
    'an attempt is counted twice',
    /^I3: failed_attempts is 3/,
    () => db.exec("insert into stat_delta values ('s', 7, '0x1', 'failed_attempts', 1)"),
  ],
  ['a succeeded delivery never arrived', /^I4: d1/, () => received('d1', 1, 0)],
  ['more POSTs arrived than are recorded', /^I5: d1 has 2 POSTs/, () => received('d1', 4, 1)],
  ['a delivery was accepted again', /^I5: d1 has 1 accepted again/, () => received('d1', 2, 2)],
  [
    'a process ended',
    /^I6: .*last words/,
    () =>
      (world = { ...world, survivors: [{ isRunning: () => false, output: () => 'last words' }] }),
  ],
])('finds that %s', async (_, violation, breakIt) => {
  breakIt();
  expect((await checkInvariants(world)).violations).toContainEqual(
    expect.stringMatching(violation),
  );
});

test('the checker allows a repeat per lost lease, and deliveries of removed blocks', async () => {
  received('d1', 4, 2);
  const leasesLost = new Map([['d1', 2]]);
  expect((await checkInvariants({ ...world, leasesLost })).violations).toEqual([]);
  const ofAnother = new Map([['d2', 2]]);
  expect((await checkInvariants({ ...world, leasesLost: ofAnother })).violations).toHaveLength(2);
  db.exec("insert into delivery values ('d3', 's', 'b', 'removed', 'cancelled', 0, null, 0)");
  expect(
    (await checkInvariants({ ...world, leasesLost, mayHave: new Set(['0x1:0xb:removed']) }))
      .violations,
  ).toEqual([]);
});
