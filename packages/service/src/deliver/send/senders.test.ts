import { startWebhookSink } from '@sluice/testkit';
import { expect, test } from 'vitest';
import type { Store } from '../../store/store.ts';
import { createSenders } from './senders.ts';

/** Creates the senders of a service with these settings. */
const openSenders = (settings: { allowPrivateEndpoints: boolean; maxPerHost?: number }) =>
  createSenders(
    {
      allowCidrs: [],
      egressProxy: undefined,
      httpsOnly: false,
      maxPerHost: undefined,
      maxTimeoutSeconds: 1,
      ...settings,
    },
    {
      store: {} as Store,
      settings: { read: () => ({ secretKey: 'secret', region: 'us-east-1' }) as never },
      keyPairs: { privateKeys: () => [] },
      clientCertificate: undefined,
      onBlocked: () => {},
      readChainAndPhase: () => undefined as never,
    },
  );

test('attempts of the service, and of its isolated process, end after --max-timeout-seconds', async () => {
  const sink = await startWebhookSink();
  sink.respond({ silence: 'hang' });
  const { sender, createIsolation } = openSenders({ allowPrivateEndpoints: true });
  const isolation = createIsolation();
  const sending = {
    url: `${sink.url}/hook`,
    id: crypto.randomUUID(),
    body: Buffer.from('{}'),
    headers: {},
    timeoutMs: 3_000,
    queueSize: 1,
    recordsCharged: 0,
  };
  try {
    await isolation.start();
    const results = await Promise.all([sender.send(sending), isolation.send(sending, () => {})]);
    const error = 'no complete response within 1 s';
    expect(results).toMatchObject([{ error }, { error }]);
  } finally {
    await Promise.all([sender.close(), isolation.close(), sink.close()]);
  }
});

test('inboxes have no rate limit, need no check and are reached only from the service; HTTP differs', async () => {
  const { sender, hostPace } = openSenders({ allowPrivateEndpoints: false, maxPerHost: 1 });
  const waits = (url: string) => [1, 2].map(() => hostPace.takeSoon(url, 0, 0));
  const refuse = (url: string) => sender.destinationOf(url).refuse(new URL(url));
  const [inbox, http] = ['sluice://inbox/a', 'http://127.0.0.1/hook'];
  expect(waits(inbox)).toEqual([0, 0]);
  expect(waits(http)).toEqual([0, undefined]);
  expect(await refuse(inbox)).toBeUndefined();
  expect(await refuse(http)).toMatch(/loopback/);
  expect([inbox, http].map((url) => sender.destinationOf(url).isIsolable)).toEqual([false, true]);
  expect(() => sender.destinationOf('ftp://a.example/')).toThrow(/cannot send to ftp:/);
  await sender.close();
});
