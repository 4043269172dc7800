/**
 * Runs the workload of `throughput.ts` on other queues in PostgreSQL: fetch in batches, sign, POST,
 * complete. Four workers run in parallel, as the documentation of pg-boss advises.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import installPeers from '../../test/installPeers.ts';
import { STREAM_SECRET, createBenchSender } from './workload.ts';

interface Job {
  id: string;
  data: { url: string; body: string };
}

interface Queue {
  insert(jobs: readonly Job['data'][]): Promise<unknown>;
  fetch(count: number): Promise<Job[]>;
  complete(ids: readonly string[]): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * The parts of pg-boss that are used here. Its own types are missing during type checks, because it
 * is installed only for a run.
 */
interface Boss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string): Promise<void>;
  insert(name: string, jobs: { data: Job['data'] }[]): Promise<unknown>;
  fetch(name: string, options: { batchSize: number }): Promise<Job[]>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
}

const QUEUE = 'webhooks';
const BATCH = 128;
const WORKERS = 4;
const INSERT_BATCH = 1_000;

export async function openPgBoss(databaseUrl: string): Promise<Queue> {
  installPeers();
  const require = createRequire(new URL('../../test/peers/package.json', import.meta.url));
  const { PgBoss } = (await import(pathToFileURL(require.resolve('pg-boss')).href)) as {
    PgBoss: new (options: object) => Boss;
  };
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue(QUEUE);
  return {
    insert: (jobs) =>
      boss.insert(
        QUEUE,
        jobs.map((data) => ({ data })),
      ),
    fetch: (batchSize) => boss.fetch(QUEUE, { batchSize }),
    complete: (ids) => boss.complete(QUEUE, ids),
    stop: () => boss.stop({ graceful: false }),
  };
}

/**
 * Opens a queue in a single table, as the least that a queue in PostgreSQL does: no retries, no
 * attempts, no limits, no counts.
 */
export async function openSkipLocked(databaseUrl: string): Promise<Queue> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: WORKERS });
  // The server may stop before the pool has closed its connections.
  pool.on('error', () => {});
  await pool.query(`
    create table job (id bigserial primary key, data jsonb not null, state int not null default 0);
    create index job_waiting on job (id) where state = 0`);
  return {
    insert: (jobs) =>
      pool.query('insert into job (data) select * from jsonb_array_elements($1)', [
        JSON.stringify(jobs),
      ]),
    async fetch(count) {
      const { rows } = await pool.query<Job>(
        `update job set state = 1 where id in (
           select id from job where state = 0 order by id limit $1 for update skip locked)
         returning id, data`,
        [count],
      );
      return rows;
    },
    complete: (ids) => pool.query('update job set state = 2 where id = any($1)', [ids]),
    stop: () => pool.end(),
  };
}

/**
 * Delivers a webhook `count` times from a queue after a warm-up. Returns the deliveries per second.
 */
export async function deliverFrom(
  queue: Queue,
  webhook: Job['data'],
  count: number,
  warmUp: number,
): Promise<number> {
  const sender = createBenchSender();
  const deliver = async (jobs: number): Promise<number> => {
    for (let n = 0; n < jobs; n += INSERT_BATCH) {
      const size = Math.min(INSERT_BATCH, jobs - n);
      await queue.insert(Array.from({ length: size }, () => webhook));
    }
    const started = performance.now();
    await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        for (;;) {
          const fetched = await queue.fetch(BATCH);
          if (fetched.length === 0) return;
          await Promise.all(
            fetched.map(({ id, data }) =>
              sender.send({
                url: data.url,
                body: Buffer.from(data.body),
                id,
                headers: {},
                secrets: [STREAM_SECRET],
                queueSize: 0,
                recordsCharged: 0,
              }),
            ),
          );
          await queue.complete(fetched.map(({ id }) => id));
        }
      }),
    );
    return (jobs * 1000) / (performance.now() - started);
  };
  try {
    await deliver(warmUp);
    return await deliver(count);
  } finally {
    await sender.close();
    await queue.stop();
  }
}
