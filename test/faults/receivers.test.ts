/**
 * Tests receivers that hang, drip, flood, refuse, throttle and redirect. Each receiver has its own
 * stream.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ReceiverBehavior, type FaultWorld, STORES, type Watch, startWorld } from './world.ts';

const DEADLINE_MS = 15_000;
const HOUR_MS = 3_600_000;

interface Attempted {
  status: number | null;
  error: string | null;
  duration_ms: number;
  body_length: number;
}

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await startWorld(store);
  });
  afterAll(() => world?.stop());

  /**
   * Creates a stream that delivers only confirmed blocks, mines a matching block and its
   * confirmations, and returns the watch.
   */
  const deliverOne = async (
    name: string,
    behavior: ReceiverBehavior | readonly [ReceiverBehavior, ...ReceiverBehavior[]],
  ): Promise<Watch> => {
    const watch = await world.watch(name, { deliver: 'confirmed' });
    world.receiver.respond(watch.path, behavior);
    world.mine([watch]);
    world.mine([], 2);
    return watch;
  };
  const attemptsOf = ({ streamId }: Watch): Promise<Attempted[]> =>
    world.ledger.rows<Attempted>(`
      select status, error, duration_ms, length(response_body) as body_length
      from attempt where delivery_id in (select id from delivery where stream_id = '${streamId}')
      order by number`);
  const attempted = (watch: Watch, count = 1): Promise<Attempted[]> =>
    until(
      `attempt ${count} of ${watch.path}`,
      async () => {
        const attempts = await attemptsOf(watch);
        return attempts.length >= count && attempts;
      },
      60_000,
    );
  const statusOf = ({ streamId }: Watch): Promise<{ status: string; status_message: string }> =>
    world.ledger
      .rows<{ status: string; status_message: string }>(
        `select status, status_message from stream where id = '${streamId}'`,
      )
      .then(([row]) => row!);

  test.concurrent('fault 4: a receiver that accepts and never responds', async () => {
    const hung = await deliverOne('hung', { silence: 'hang' });
    await until('the request hangs', () => world.receiver.requestsOf(hung).length > 0);
    // Meanwhile, other receivers get their webhooks.
    const healthy = await world.watch('beside');
    for (let n = 0; n < 5; n++) {
      world.mine([healthy], 4);
      await world.holds([healthy]);
    }
    expect(await attemptsOf(hung)).toEqual([]);
    const [attempt] = await attempted(hung);
    expect(attempt).toMatchObject({ status: null, error: 'no complete response within 15 s' });
    expect(attempt!.duration_ms).toBeGreaterThanOrEqual(DEADLINE_MS);
    world.receiver.respond(hung.path, 200);
    await world.holds([hung, healthy]);
    await until('the webhook arrives', async () => (await attemptsOf(hung)).at(-1)?.status === 200);
  });

  test.concurrent('fault 5: headers and a body that drip byte by byte', async () => {
    const drips = [
      await deliverOne('dripping-headers', [
        { headers: { 'x-slow': 'x'.repeat(100) }, drip: { part: 'headers', everyMs: 500 } },
        200,
      ]),
      await deliverOne('dripping-body', [
        { body: 'x'.repeat(100), drip: { part: 'body', everyMs: 500 } },
        200,
      ]),
    ];
    for (const drip of drips) {
      // The status line arrives in time, so it completes the delivery.
      const [attempt] = await attempted(drip);
      expect(attempt).toMatchObject({ status: 200, error: null });
      expect(attempt!.duration_ms).toBeGreaterThanOrEqual(DEADLINE_MS);
      expect(attempt!.duration_ms).toBeLessThan(2 * DEADLINE_MS);
    }
    await world.holds(drips);
  });

  // This test does not run concurrently with others, because it measures the service's memory.
  test('fault 6: a response of 1 GB, a gzip bomb, a header of 1 MB', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024));
    const before = resetPeakKib(world.service.pid);
    const huge = [
      await deliverOne('gigabyte', { bodyBytes: 2 ** 30 }),
      await deliverOne('bomb', { headers: { 'content-encoding': 'gzip' }, body: bomb }),
      await deliverOne('header', [
        { status: 500, headers: { 'x-huge': 'x'.repeat(2 ** 20) } },
        200,
      ]),
    ];
    const [gigabyte] = await attempted(huge[0]!);
    const [zipped] = await attempted(huge[1]!);
    const [header] = await attempted(huge[2]!);
    expect(gigabyte).toMatchObject({ status: 200, error: null, body_length: 4096 });
    expect(zipped).toMatchObject({ status: 200, error: null });
    expect(zipped!.body_length).toBeLessThanOrEqual(4096);
    expect(header).toMatchObject({ status: 500, error: 'HTTP 500' });
    await attempted(huge[2]!, 2);
    await world.holds(huge);
    // Memory grows by far less than the size of the response of 1 GB or of the unpacked gzip bomb.
    expect(readKib(world.service.pid, 'VmHWM') - before).toBeLessThan(64 * 1024);
  });

  test.concurrent('fault 7: 500 twice, then 200', async () => {
    const watch = await deliverOne('recovers', [500, 500, 200]);
    const attempts = await attempted(watch, 3);
    expect(attempts.map(({ status }) => status)).toEqual([500, 500, 200]);
    const [first, second, third] = world.receiver.requestsOf(watch);
    // The fast retry follows after 5 s, the next retry after the first wait of the schedule: a
    // minute, which is 250 ms here.
    expect(second!.receivedAt - first!.receivedAt).toBeGreaterThanOrEqual(5_000);
    expect(third!.receivedAt - second!.receivedAt).toBeGreaterThanOrEqual(250);
    expect(new Set([first!.id, second!.id, third!.id]).size).toBe(1);
    expect(retriesOf(first!.body)).toBe(0);
    expect(retriesOf(third!.body)).toBe(2);
    await world.holds([watch]);
  });

  test.concurrent('fault 8: 410 Gone', async () => {
    const watch = await world.watch('gone');
    world.receiver.respond(watch.path, 410);
    world.mine([watch]);
    await until('the stream is in error', async () => (await statusOf(watch)).status === 'error');
    expect((await statusOf(watch)).status_message).toContain('410');
    const asked = world.receiver.requestsOf(watch).length;
    // Blocks are still matched, but their webhooks are not sent.
    world.mine([watch], 5);
    await world.holds([watch]);
    expect(world.receiver.requestsOf(watch)).toHaveLength(asked);
    world.receiver.respond(watch.path, 200);
    await world.client().streams.setStatus(watch.streamId, 'active');
    await world.holds([watch]);
    expect(world.receiver.requestsOf(watch).length).toBeGreaterThan(asked + 5);
  });

  test.concurrent('fault 9: Retry-After in seconds, as a date, garbage, ten years, negative', async () => {
    const inTwoMinutes = new Date(Date.now() + 125_000).toUTCString();
    const cases: { behavior: ReceiverBehavior; least: number; most: number }[] = [
      { behavior: throttle(429, '120'), least: 120_000, most: 121_000 },
      { behavior: throttle(503, '120'), least: 120_000, most: 121_000 },
      { behavior: throttle(503, inTwoMinutes), least: 100_000, most: 125_000 },
      // Invalid values are ignored: the 429 waits by the schedule, where a minute is 250 ms here,
      // and the 503 gets the fast retry after 5 s. Waits are limited to a day.
      { behavior: throttle(429, 'soon'), least: 250, most: 1_000 },
      { behavior: throttle(503, '-120'), least: 5_000, most: 6_000 },
      {
        behavior: throttle(429, String(10 * 365 * 86_400)),
        least: 24 * HOUR_MS,
        most: 25 * HOUR_MS,
      },
    ];
    const watches: Watch[] = [];
    for (const { behavior, least, most } of cases) {
      const watch = await deliverOne('throttled', [behavior, { silence: 'hang' }]);
      watches.push(watch);
      const [attempt] = await attempted(watch);
      expect(attempt!.error).toMatch(/^HTTP (429|503)$/);
      const [wait] = await world.ledger.rows<{ ms: number }>(
        `select run_at - updated_at as ms from delivery where stream_id = '${watch.streamId}'`,
      );
      expect(wait!.ms).toBeGreaterThanOrEqual(least);
      expect(wait!.ms).toBeLessThan(most);
      // A throttled delivery does not put its stream in error.
      expect((await statusOf(watch)).status).toBe('active');
      world.receiver.respond(watch.path, 200);
    }
    await world.holds(watches);
  });

  test.concurrent('fault 12: redirects to an internal address and to another host', async () => {
    const canary = `${world.receiver.url}/canary`;
    const redirects: [number, string][] = [
      [301, canary],
      [302, canary],
      [307, canary],
      [308, canary],
      [307, 'http://redirected.example.org/'],
    ];
    const watches: Watch[] = [];
    for (const [status, location] of redirects) {
      const watch = await deliverOne(`redirect-${status}`, [
        { status, headers: { location } },
        200,
      ]);
      watches.push(watch);
      const [attempt] = await attempted(watch);
      expect(attempt).toMatchObject({ status });
      expect(attempt!.error).toContain('redirects are not followed');
    }
    await world.holds(watches);
    for (const watch of watches) await attempted(watch, 2);
    expect(world.receiver.requests.filter(({ path }) => path === '/canary')).toEqual([]);
  });
});

const throttle = (status: number, wait: string): ReceiverBehavior => ({
  status,
  headers: { 'retry-after': wait },
});

const retriesOf = (body: string): number => (JSON.parse(body) as { retries: number }).retries;

/**
 * Reads the current (`VmRSS`) or peak (`VmHWM`) memory of a process, in KiB. The peak is measured
 * from its last reset.
 */
const readKib = (pid: number, field: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);

function resetPeakKib(pid: number): number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return readKib(pid, 'VmRSS');
}
