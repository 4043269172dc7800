/** Tests the fake sender against `node:http` servers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createFakeSender, sampleWebhook } from './testing.ts';
import { unwrap } from './unwrap.ts';

const SECRET = 'the streams secret';
const webhook = sampleWebhook('erc20-transfer');

it('the fake sender does not follow redirects', async () => {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/' ? 307 : 200, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const to = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const delivery = await createFakeSender({ to, secret: SECRET, scheduleMs: [] }).send(webhook);
  server.close();
  expect(delivery.attempts.map((it) => it.status)).toEqual([307]);
});

it('the fake sender sends both webhooks of a block to a URL', async () => {
  const phases: boolean[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const { headers } = request;
      const { webhook } = unwrap({ body: Buffer.concat(chunks), headers, secret: SECRET });
      phases.push(webhook.confirmed);
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const pair = await createFakeSender({ to, secret: SECRET }).sendPair(webhook);
  server.close();
  expect(phases).toEqual([false, true]);
  expect(pair.unconfirmed.id).not.toBe(pair.confirmed.id);
  expect([pair.unconfirmed.delivered, pair.confirmed.delivered]).toEqual([true, true]);
});
