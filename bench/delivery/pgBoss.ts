/**
 * Runs the workload of `throughput.ts` on pg-boss, a job queue on PostgreSQL: fetch in batches,
 * sign, POST, complete. Four workers run in parallel, as the documentation of pg-boss advises.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import installPeers from '../../test/installPeers.ts';
import { STREAM_SECRET, createBenchSender } from './workload.ts';

interface Job {
  id: string;
  data: { url: string; body: string };
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
  complete(name: string, ids: string[]): Promise<unknown>;
}

const QUEUE = 'webhooks';
const BATCH = 128;
const WORKERS = 4;
const INSERT_BATCH = 1_000;

/**
 * Delivers a webhook `count` times with pg-boss after a warm-up. Returns the deliveries per second.
 */
export async function deliverWithPgBoss(
  databaseUrl: string,
  webhook: { url: string; body: string },
  count: number,
  warmUp: number,
): Promise<number> {
  installPeers();
  const require = createRequire(new URL('../../test/peers/package.json', import.meta.url));
  const { PgBoss } = (await import(pathToFileURL(require.resolve('pg-boss')).href)) as {
    PgBoss: new (options: object) => Boss;
  };
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue(QUEUE);
  const sender = createBenchSender();
  const deliver = async (jobs: number): Promise<number> => {
    for (let n = 0; n < jobs; n += INSERT_BATCH) {
      const size = Math.min(INSERT_BATCH, jobs - n);
      await boss.insert(
        QUEUE,
        Array.from({ length: size }, () => ({ data: webhook })),
      );
    }
    const started = performance.now();
    await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        for (;;) {
          const fetched = await boss.fetch(QUEUE, { batchSize: BATCH });
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
          await boss.complete(
            QUEUE,
            fetched.map(({ id }) => id),
          );
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
    await boss.stop({ graceful: false });
  }
}
