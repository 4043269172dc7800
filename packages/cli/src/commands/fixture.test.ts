/** Tests saving deliveries as files, and sending the files to an app. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createHandler } from '@sluice/kit';
import { toNodeListener } from '@sluice/kit/node';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { STANDARD_EVENTS } from '../live/standardEvents.ts';
import { ALICE, BOB, SECRET, TOKEN, type World, startWorld } from './world.test-only.ts';

let world: World;
/** The files of one match: first the unconfirmed delivery, then the confirmed one. */
let files: string[];
let dir: string;

beforeAll(async () => {
  world = await startWorld();
  await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: 'kept',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
    allAddresses: true,
    topic0: ['Transfer(address,address,uint256)'],
    abi: STANDARD_EVENTS.slice(0, 1),
  });
  world.pay(77n);
  world.chain.mine();
  const deliveries = await until('both phases are delivered', async () => {
    const { result } = await world.client.listDeliveries({ state: 'succeeded' });
    return result.length === 2 && result;
  });
  dir = join(world.folder, 'kept');
  const ids = deliveries.map(({ id }) => id);
  const saved = await world.sluice(['fixture', 'save', ...ids, '--dir', dir]);
  files = saved.stdout.trim().split('\n');
  expect(files).toEqual(
    deliveries.map(({ id, phase }) => join(dir, `kept-1-${phase}-${id.slice(-6)}.json`)),
  );
  // Sorted by name, the confirmed delivery comes first, and a handler skips an unconfirmed delivery
  // that follows it. `fixture run` must therefore send the unconfirmed delivery first.
  files = files.toSorted().toReversed();
  expect(files[0]).toContain('-unconfirmed-');
});
afterAll(() => world.stop());

/**
 * Starts an app with the kit's handler. Records the bodies of its requests and the handler's calls.
 */
async function startApp() {
  const bodies: string[] = [];
  const handled: unknown[] = [];
  const handler = createHandler({ secret: SECRET, onError: () => {} }).on('Transfer', {
    unconfirmed: ({ address, args }) => handled.push(['unconfirmed', address, args]),
    confirmed: ({ address, args }) => handled.push(['confirmed', address, args]),
  });
  const listen = toNodeListener(handler);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => bodies.push(Buffer.concat(chunks).toString()));
    void listen(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return { url, bodies, handled, stop: () => server.close() };
}

test('fixtures reach an app signed, unchanged and decodable', async () => {
  const app = await startApp();
  try {
    // Without `--secret`, the webhooks are signed with the secret of the service.
    const run = await world.sluice(['fixture', 'run', dir, '--to', app.url]);
    expect(run, run.stderr).toEqual({
      code: 0,
      stdout: files.map((file) => `✓ 200  ${file}\n`).join(''),
      stderr: '',
    });
    expect(app.bodies).toEqual(files.map((file) => readFileSync(file, 'utf8')));
    const args = { from: ALICE, to: BOB, value: 77n };
    expect(app.handled).toEqual([
      ['unconfirmed', TOKEN, args],
      ['confirmed', TOKEN, args],
    ]);
  } finally {
    app.stop();
  }
});

test('fixtures that the app rejects fail the check', async () => {
  const app = await startApp();
  try {
    const forged = ['fixture', 'run', files[0]!, '--to', app.url, '--secret', 'another'];
    const refused = await world.sluice(forged);
    expect(refused).toMatchObject({ code: 9, stdout: `✗ HTTP 401  ${files[0]}\n` });
    expect(app.handled).toEqual([]);
  } finally {
    app.stop();
  }
  world.sink.respond({ status: 500 }, { path: '/broken' });
  const broken = ['fixture', 'run', dir, '--to', `${world.sink.url}/broken`, '--json'];
  const { code, stdout, stderr } = await world.sluice(broken);
  expect(code).toBe(9);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: 'check_failed', message: '2 of 2 webhooks did not get a 2xx response' },
  });
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(files.map((file) => ({ file, delivered: false, status: 500, error: 'HTTP 500' })));
});

test('invalid fixtures are rejected before anything is sent', async () => {
  const empty = join(world.folder, 'empty');
  mkdirSync(empty);
  expect(await world.sluice(['fixture', 'run', empty])).toMatchObject({ code: 2 });
  const other = join(world.folder, 'other.json');
  writeFileSync(other, '{"streamId":"a"}');
  const received = world.sink.requests.length;
  const run = await world.sluice(['fixture', 'run', files[0]!, other, '--to', world.sink.url]);
  expect(run).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'should have streamId, block, and logs or transactions',
    ) as string,
  });
  expect(world.sink.requests).toHaveLength(received);
});
