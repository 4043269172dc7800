import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PostgresCluster, startPostgresCluster } from './postgresCluster.ts';

describe('a cluster of three servers', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgresCluster();
  });
  afterAll(() => cluster.stop());

  const count = (server: { url: string; name: string }) =>
    cluster.query(server, 'select count(*) from kept');
  const insert = (server = cluster.primary) =>
    cluster.query(server, 'insert into kept values (1) returning n');

  test('acknowledges a commit once a standby has it', async () => {
    await cluster.query(cluster.primary, 'create table kept (n int)');
    await insert();
    const names =
      "select string_agg(application_name, ' ' order by application_name) from pg_stat_replication";
    expect(await cluster.query(cluster.primary, names)).toBe('s2 s3');
    await expect.poll(() => Promise.all(cluster.standbys.map(count))).toEqual(['1', '1']);
    await expect(insert(cluster.standbys[0])).rejects.toThrow('read-only');
  });

  test('continues from the most advanced standby, with all acknowledged commits', async () => {
    for (let n = 0; n < 5; n++) await insert();
    const old = await cluster.killPrimary();
    const next = await cluster.promote();
    expect(next.name).not.toBe(old.name);
    expect(await count(next)).toBe('6');
    await insert();
    expect(cluster.standbys.map(({ name }) => name)).not.toContain(next.name);

    // The old primary restarts and still considers itself the primary.
    await cluster.revive(old);
    expect(await cluster.query(old, 'select pg_is_in_recovery()')).toBe('f');
    await cluster.rejoin(old);
    await insert();
    await expect.poll(() => Promise.all(cluster.standbys.map(count))).toEqual(['8', '8']);
  });

  test('has each standby once, even if it rejoins', async () => {
    const [standby] = cluster.standbys;
    await cluster.rejoin(standby!);
    expect(cluster.standbys.map(({ name }) => name).toSorted()).toEqual(
      ['s1', 's2', 's3'].filter((name) => name !== cluster.primary.name),
    );
  });
});
