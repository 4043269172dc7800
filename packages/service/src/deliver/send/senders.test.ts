import { toInboxUrl } from '@sluice/kit/contract';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../store/store.ts';
import { createSenders } from './senders.ts';

const TOKEN = {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ access_token: 'token', token_type: 'bearer' }),
};

let sink: WebhookSink;
beforeEach(async () => {
  sink = await startWebhookSink();
  sink.respond(TOKEN, { path: '/token' });
});
afterEach(() => sink.close());

/** Creates the senders of a service with these settings. */
const open = (settings: {
  maxTimeoutSeconds?: number;
  allowPrivateEndpoints?: boolean;
  maxPerHost?: number;
}) =>
  createSenders(
    {
      allowCidrs: [],
      allowPrivateEndpoints: true,
      egressProxy: undefined,
      httpsOnly: false,
      maxPerHost: undefined,
      maxTimeoutSeconds: 60,
      ...settings,
    },
    {
      store: { receiveInInbox: () => new Promise(() => {}) } as Partial<Store> as Store,
      settings: { read: () => ({ secretKey: 'secret', region: 'us-east-1' }) as never },
      keyPairs: { privateKeys: () => [] },
      clientCertificate: undefined,
      onBlocked: () => {},
      readChainAndPhase: () => undefined as never,
    },
  );

const sendingOf = (timeoutMs: number) => ({
  url: `${sink.url}/hook`,
  id: crypto.randomUUID(),
  body: Buffer.from('{"streamId":""}'),
  headers: {},
  timeoutMs,
  queueSize: 1,
  recordsCharged: 0,
});
const withToken = (sending: ReturnType<typeof sendingOf>) => {
  const credentials = { tokenUrl: `${sink.url}/token`, clientId: 'a', clientSecret: 'b' };
  return { ...sending, oauth2: { streamId: 'stream', credentials } };
};

test('attempts of the service, and of its isolated process, end after --max-timeout-seconds', async () => {
  sink.respond({ silence: 'hang' });
  const { sender, createIsolation } = open({ maxTimeoutSeconds: 1 });
  const isolation = createIsolation();
  const sending = sendingOf(3_000);
  try {
    await isolation.start();
    const results = await Promise.all([
      sender.send(sending),
      sender.send(withToken(sending)),
      sender.send({ ...sending, url: toInboxUrl('slow') }),
      isolation.send(sending, () => {}),
    ]);
    const error = 'no complete response within 1 s';
    expect(results).toMatchObject(results.map(() => ({ error })));
  } finally {
    await Promise.all([sender.close(), isolation.close()]);
  }
});

test('an attempt and its repeat with a new token share the timeout', async () => {
  sink.respond([200, { status: 401, delayMs: 500 }, { silence: 'hang' }], { path: '/hook' });
  const { sender } = open({});
  const sending = withToken(sendingOf(2_000));
  expect(await sender.send(sending)).toMatchObject({ status: 200 });
  expect((await sender.send(sending)).error).toMatch(/^no complete response within 1\.\d+ s$/);
  await sender.close();
});

test('inboxes have no rate limit, need no check and are reached only from the service; others differ', async () => {
  const { sender, hostPace } = open({ allowPrivateEndpoints: false, maxPerHost: 1 });
  const waits = (url: string) => [1, 2].map(() => hostPace.takeSoon(url, 0, 0));
  const refuse = (url: string) => sender.destinationOf(url).refuse(new URL(url));
  const [inbox, http, queue] = ['sluice://inbox/a', 'http://127.0.0.1/hook', 'nats://127.0.0.2/a'];
  expect(waits(inbox)).toEqual([0, 0]);
  expect(waits(http)).toEqual([0, undefined]);
  expect(waits(queue)).toEqual([0, undefined]);
  expect(await refuse(inbox)).toBeUndefined();
  expect(await refuse(http)).toMatch(/loopback/);
  expect(await refuse(queue)).toMatch(/loopback/);
  const isIsolable = (url: string) => sender.destinationOf(url).isIsolable;
  expect([inbox, http, queue].map(isIsolable)).toEqual([false, true, false]);
  expect(() => sender.destinationOf('ftp://a.example/')).toThrow(/cannot send to ftp:/);
  await sender.close();
});
