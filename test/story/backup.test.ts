/** Tests a backup of a running service, and the webhooks that are sent after it is restored. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sluice } from '../../packages/cli/src/terminal/scripted.test-only.ts';
import { type FaultWorld, type Watch, startWorld } from '../faults/world.ts';
import { API_KEY } from '../serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'));
const data = join(folder, 'data');
const file = join(folder, 'ledger.backup');
const later = join(folder, 'later.backup');
let world: FaultWorld;
beforeAll(async () => {
  world = await startWorld('sqlite', { folder: data });
});
afterAll(async () => {
  await world?.stop();
  rmSync(folder, { recursive: true });
});

/** Returns a key for the block and phase that a webhook reports, regardless of the webhook's ID. */
const contentOf = (body: string): string => {
  const { block, confirmed } = JSON.parse(body) as { block: { hash: string }; confirmed: boolean };
  return `${block.hash} ${confirmed}`;
};

test('a restore repeats deliveries since the backup under new IDs, and waiting ones under their old IDs', async () => {
  const watch = await world.watch('steady');
  const waiting = await world.watch('waiting');
  const received = (of: Watch) =>
    world.receiver.requestsOf(of).map(({ id, body }) => ({ id, content: contentOf(body) }));
  const settled = async (count: number): Promise<void> => {
    await until('all are delivered', () => received(watch).length >= count);
    await until(
      'no attempt is in flight',
      async () =>
        (await world.ledger.value("select count(*) as n from delivery where state = 'leased'")) ===
        0,
    );
  };

  world.receiver.respond(waiting.path, 503);
  world.mine([waiting]);
  world.mine([watch], 4);
  world.mine([], 2);
  await settled(8);
  await until('one delivery waits', () => received(waiting).length > 0);
  const backup = await sluice(['backup', file, '--data', data]);
  expect(backup).toMatchObject({ code: 0, stdout: expect.stringContaining('checked') as string });
  const before = received(watch);

  world.mine([watch], 3);
  world.mine([], 2);
  await settled(14);
  const since = received(watch).slice(before.length);
  const running = await sluice(['restore', file, '--data', data, '--yes']);
  expect(running.stderr).toContain('error[data_in_use]');
  expect(running.stderr).toContain('in use by another sluice process');

  await world.service.stop();
  const waited = new Set(received(waiting).map(({ id }) => id));
  world.receiver.respond(waiting.path, 200);
  const seen = received(waiting).length;
  const unsure = await sluice(['restore', file, '--data', data]);
  expect(unsure.code).toBe(2);
  expect(unsure.stderr).toContain('pass --yes to replace it');
  expect(await sluice(['restore', file, '--data', data, '--yes'])).toMatchObject({ code: 0 });
  await world.start();

  await settled(before.length + 2 * since.length);
  const again = received(watch).slice(before.length + since.length);
  expect(again.map(({ content }) => content).toSorted()).toEqual(
    since.map(({ content }) => content).toSorted(),
  );
  const known = new Set([...before, ...since].map(({ id }) => id));
  expect(again.filter(({ id }) => known.has(id))).toEqual([]);
  await until('the waiting delivery arrives', () => received(waiting).length > seen);
  expect(
    received(waiting)
      .slice(seen)
      .every(({ id }) => waited.has(id)),
  ).toBe(true);
});

test('a restore keeps destinations, and the position of the consumer of a feed', async () => {
  const client = () => createSluiceClient({ apiKey: API_KEY, baseUrl: world.service.url });
  const watch = await world.watch('split');
  const { streamId } = watch;
  await client().addDestination(streamId, { webhookUrl: 'sluice://feed' });
  const webhookUrl = `${world.receiver.url}/second`;
  await client().addDestination(streamId, { webhookUrl, headers: { token: 'a' } });
  const feed = { consumer: 'billing', destination: 1 };
  world.mine([watch], 2);
  world.mine([], 2);
  await until('all are in the feed', async () => {
    const { newestPosition } = await client().readFeed(streamId, {
      mode: 'each',
      destination: 1,
      after: 0,
    });
    return newestPosition === 4;
  });
  const { deliveries } = await client().readFeed(streamId, feed);
  await client().acknowledgeFeed(streamId, { ...feed, positions: [1, 2] });
  const destinations = await client().listDestinations(streamId);
  expect(await sluice(['backup', later, '--data', data])).toMatchObject({ code: 0 });

  await client().removeDestination(streamId, 2);
  await client().acknowledgeFeed(streamId, { ...feed, positions: [3, 4] });
  await world.service.stop();
  expect(await sluice(['restore', later, '--data', data, '--yes'])).toMatchObject({ code: 0 });
  await world.start();

  expect(await client().listDestinations(streamId)).toEqual(destinations);
  const consumers = await client().listFeedConsumers(streamId, { destination: 1 });
  expect(consumers).toMatchObject([{ name: 'billing', position: 2, unread: 0, leased: 2 }]);
  const kept = await client().readFeed(streamId, { mode: 'each', destination: 1, after: 2 });
  expect(kept.deliveries.map(({ id }) => id)).toEqual(deliveries.slice(2).map(({ id }) => id));
  const seen = world.receiver.requests.length;
  world.mine([watch]);
  await until('the restored destination gets webhooks', () =>
    world.receiver.requests
      .slice(seen)
      .some(({ path, headers }) => path === '/second' && headers['token'] === 'a'),
  );
});
