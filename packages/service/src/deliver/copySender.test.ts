import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import {
  COPY_HEADER,
  signStandardWebhook,
  signWebhook,
  WEBHOOK_HEADERS,
} from '@sluice/kit/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHostPace } from './hostPace.ts';
import { createCopySender } from './copySender.ts';
import { createSenders } from './send/senders.ts';

const ACCOUNT_SECRET = 'secret-of-the-account';
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
  request.on('end', () => {
    received.push({ headers: request.headers, body });
    response.writeHead(418).end('short and stout');
  });
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/test`;
});
afterAll(() => void server.close());

function createCopies(allowPrivateEndpoints = true) {
  const stored: { verified: boolean; delivery: unknown }[] = [];
  const senders = createSenders(
    {
      allowCidrs: [],
      allowPrivateEndpoints,
      egressProxy: undefined,
      httpsOnly: false,
      maxPerHost: undefined,
      maxTimeoutSeconds: 5,
    },
    {
      store: {
        receiveInInbox: (request: (typeof stored)[number]) => {
          stored.push(request);
          return Promise.resolve({ request: { status: 200 }, answer: { body: 'ok', delayMs: 0 } });
        },
      } as never,
      settings: { read: () => ({ secretKey: ACCOUNT_SECRET, region: 'here' }) } as never,
      keyPairs: {
        privateKeys: () => [`whsk_${Buffer.alloc(32, 7).toString('base64')}`],
      },
      clientCertificate: undefined,
      onBlocked: () => {},
      readChainAndPhase: () => ({ chainId: '0x1', phase: 'confirmed' }),
    },
  );
  const hostPace = createHostPace(undefined, () => undefined);
  const { createTestSender: createSender } = senders;
  return { stored, copies: createCopySender({ createSender, hostPace, maxPerHost: undefined }) };
}

test('property: a copy is signed with the test secret alone, and marked', async () => {
  const { copies } = createCopies();
  const secret = fc
    .string({ minLength: 8, maxLength: 40 })
    .map((it) => it.replaceAll(/[^!-~]/g, 'x'));
  await fc.assert(
    fc.asyncProperty(fc.json(), secret, fc.uuid(), async (body, testSecret, of) => {
      const { webhookId, ...sent } = await copies.send({ of, url, body, secret: testSecret });
      expect(sent).toMatchObject({ status: 418, responseBody: 'short and stout' });
      const { headers, body: got } = received.pop()!;
      expect(got).toBe(body);
      expect(headers[COPY_HEADER]).toBe(of);
      expect(headers[WEBHOOK_HEADERS.id]).toBe(webhookId);
      expect(webhookId).not.toBe(of);
      expect(headers[WEBHOOK_HEADERS.signature]).toBe(signWebhook(body, testSecret));
      const timestamp = Number(headers[WEBHOOK_HEADERS.timestamp]);
      expect(headers[WEBHOOK_HEADERS.standardSignature]).toBe(
        signStandardWebhook({ id: webhookId, timestamp, body, secret: testSecret }),
      );
    }),
    { numRuns: 30 },
  );
});

test('an inbox stores a copy without a delivery, and any body', async () => {
  const { copies, stored } = createCopies();
  const copy = { of: 'id', url: 'sluice://inbox/tests', secret: 'test-secret' };
  for (const body of ['{}', '[1]', '{"streamId":"s"}']) {
    expect(await copies.send({ ...copy, body })).toMatchObject({ status: 200, error: null });
  }
  expect(stored.map(({ delivery, verified }) => [delivery, verified])).toEqual(
    Array.from({ length: 3 }, () => [null, false]),
  );
});

test('the address guard applies to copies', async () => {
  const { copies } = createCopies(false);
  expect(await copies.refuse('http://10.0.0.1/')).toContain('10.0.0.1');
  expect(await copies.refuse('sluice://inbox/a')).toBeUndefined();
  received.length = 0;
  expect(await copies.send({ of: 'id', url, body: '{}', secret: 'x' })).toMatchObject({
    status: null,
  });
  expect(received).toEqual([]);
});

test('64 copies at once are refused beyond a limit, which later copies do not reach', async () => {
  const { copies } = createCopies();
  const send = () => copies.send({ of: 'a', url, body: '{}', secret: 'the-secret' });
  const results = await Promise.allSettled(Array.from({ length: 64 }, send));
  const refused = results.flatMap((result) =>
    result.status === 'rejected' ? [String(result.reason)] : [],
  );
  expect(refused).toHaveLength(56);
  expect(new Set(refused)).toEqual(
    new Set([expect.stringContaining('8 copies are in flight: try again shortly')]),
  );
  expect((await send()).status).toBe(418);
});
