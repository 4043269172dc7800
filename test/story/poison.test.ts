/**
 * Tests that a delivery that kills its sender is quarantined with the reason, and that all others
 * are delivered. A preloaded script kills any process that writes the body of this delivery to a
 * socket.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type Anvil, type WebhookSink, startAnvil, startWebhookSink, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const POISON = 666_000_666;
const folder = mkdtempSync(join(tmpdir(), 'sluice-poison-'));
let anvil: Anvil;
let sink: WebhookSink;
let service: Served;

beforeAll(async () => {
  anvil = await startAnvil();
  sink = await startWebhookSink();
});
afterAll(async () => {
  await service?.stop();
  await sink?.close();
  await anvil?.stop();
  rmSync(folder, { recursive: true });
});

test('the service quarantines a delivery that kills its sender, and delivers the others', async () => {
  const preload = join(folder, 'preload.mjs');
  writeFileSync(
    preload,
    `import { Socket } from 'node:net';
     const write = Socket.prototype.write;
     Socket.prototype.write = function (chunk, ...rest) {
       if (Buffer.from(chunk).includes('"value":"${POISON}"')) process.kill(process.pid, 'SIGKILL');
       return write.call(this, chunk, ...rest);
     };`,
  );
  const args = ['--data', join(folder, 'data'), '--chain', `0x7a69=${anvil.url},poll=50`];
  const env = { NODE_OPTIONS: `--import=${preload}` };
  service = await serve(args, { env });
  const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  const watched = [3, 4, 5].map((n) => anvil.accounts[n]!.address);
  const streams = await Promise.all(
    watched.map(async (address, n) => {
      const stream = await client.streams.create({
        webhookUrl: sink.url,
        description: `stream ${n}`,
        tag: `poison ${n}`,
        chainIds: ['0x7a69'],
        includeNativeTxs: true,
        deliver: 'confirmed',
      });
      await client.streams.addAddress(stream.id, address);
      return stream.id;
    }),
  );

  // Each of the ten blocks has a transfer for each stream; the fifth block contains the poison.
  await anvil.request('evm_setAutomine', [false]);
  for (let block = 0; block < 10; block++) {
    for (const [n, to] of watched.entries()) {
      const value = block === 4 && n === 1 ? POISON : block + 1;
      const from = anvil.accounts[n]!.address;
      await anvil.request('eth_sendTransaction', [{ from, to, value: `0x${value.toString(16)}` }]);
    }
    await anvil.request('evm_mine', []);
  }
  await anvil.request('anvil_mine', ['0x8']);

  let deaths = 0;
  const readStates = async () => {
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url, maxRetries: 0 });
    const { result } = await sluice.listDeliveries({ limit: 100 });
    return result;
  };
  const deliveries = await until(
    'no delivery is open',
    async () => {
      if (!service.isRunning()) {
        deaths++;
        service = await serve(args, { env });
      }
      const all = await readStates().catch(() => []);
      return (
        all.length === 30 &&
        all.every(({ state }) => state === 'succeeded' || state === 'quarantined') &&
        all
      );
    },
    90_000,
  );

  const quarantined = deliveries.filter(({ state }) => state === 'quarantined');
  expect(quarantined).toMatchObject([
    {
      streamId: streams[1],
      attempts: 1,
      status: null,
      error: expect.stringMatching(
        /isolated process that sent the delivery was killed by SIGKILL; replay the delivery/,
      ),
    },
  ]);
  const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
  const { attemptList } = await sluice.getDelivery(quarantined[0]!.id);
  expect(attemptList.map(({ durationMs }) => Number.isInteger(durationMs))).toEqual([true]);
  // Sending the delivery killed the service until the delivery was treated as a suspect. After
  // that, it killed only an isolated process.
  expect(deaths).toBe(2);
  const delivered = deliveries.filter(({ state }) => state === 'succeeded');
  const seen = new Set(sink.requests.map(({ id }) => id));
  expect(delivered.filter(({ id }) => !seen.has(id))).toEqual([]);
  expect(seen.has(quarantined[0]!.id)).toBe(false);
});
