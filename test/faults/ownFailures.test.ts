/**
 * Tests that a suspension of the service, or a lack of file descriptors, does not count as a
 * failure of its receivers.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultWorld, STORES, type Watch, startWorld } from './world.ts';

/** Duration of the suspension: longer than the deadline of an attempt, shorter than a lease. */
const STOPPED_MS = 18_000;
const UNDER_WAY = 20;
/**
 * Maximum number of file descriptors. Every process has more descriptors open from the start, so
 * the service cannot open another one.
 */
const FEW_FILES = 10;

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;
  beforeAll(async () => {
    world = await startWorld(store);
  });
  afterAll(() => world?.stop());

  const attemptsOf = ({
    streamId,
  }: Watch): Promise<{ status: number | null; error: string | null }[]> =>
    world.ledger.rows(`
      select status, error from attempt where delivery_id in
        (select id from delivery where stream_id = '${streamId}')`);
  /** Expects one successful attempt per delivery, one request per attempt, and no backoff. */
  const expectFlawless = async (watch: Watch, least: number): Promise<void> => {
    await world.holds([watch]);
    const requests = world.receiver.requestsOf(watch);
    expect(requests.length).toBeGreaterThanOrEqual(least);
    expect(new Set(requests.map(({ id }) => id)).size).toBe(requests.length);
    const attempts = await attemptsOf(watch);
    expect(attempts).toHaveLength(requests.length);
    expect(attempts.filter(({ status, error }) => status !== 200 || error !== null)).toEqual([]);
    expect(await world.metrics(/^sluice_circuit_breakers/)).toEqual([0, 0, 0]);
  };

  // This test runs first, while the service has no open connection to the receiver that it could
  // reuse.
  test('without file descriptors, deliveries wait, and /ready and a metric show the reason', async () => {
    const watch = await world.watch('lacking');
    const { pid } = world.service;
    const limit = (files: number | string): void => {
      execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);
    };
    limit(FEW_FILES);
    world.mine([watch], UNDER_WAY);
    const said = (): boolean => world.service.output().includes('webhooks cannot be sent');
    await until('/ready shows the reason', said);
    limit(1_024);
    const ready = await fetch(`${world.service.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      {
        status: 'not ready',
        reasons: [expect.stringContaining('this process has no file descriptors left') as string],
      },
    ]);
    await expectFlawless(watch, UNDER_WAY);
    const [failures] = await world.metrics(
      /^sluice_delivery_local_failures_total\{cause="EMFILE"\}/,
    );
    expect(failures).toBeGreaterThan(0);
    await until('it is ready', async () => (await fetch(`${world.service.url}/ready`)).ok);
  });

  test('attempts that end while the process is suspended for 18 s succeed', async () => {
    const watch = await world.watch('stopped');
    world.receiver.respond(watch.path, { delayMs: 1_000 });
    world.mine([watch], UNDER_WAY);
    const underWay = (): number => world.receiver.requestsOf(watch).length;
    await until('attempts are in flight', () => underWay() >= UNDER_WAY);
    process.kill(world.service.pid, 'SIGSTOP');
    await wait(STOPPED_MS);
    process.kill(world.service.pid, 'SIGCONT');
    await expectFlawless(watch, UNDER_WAY);
  });
});
