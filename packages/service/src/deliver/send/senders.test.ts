import { toInboxUrl } from '@sluice/kit/contract';
import { startWebhookSink } from '@sluice/testkit';
import { expect, test } from 'vitest';
import type { Store } from '../../store/store.ts';
import { createSenders } from './senders.ts';

test('attempts of the service, and of its isolated process, end after --max-timeout-seconds', async () => {
  const sink = await startWebhookSink();
  sink.respond({ silence: 'hang' });
  const token = JSON.stringify({ access_token: 'token', token_type: 'bearer' });
  sink.respond(
    { headers: { 'content-type': 'application/json' }, body: token },
    { path: '/token' },
  );
  const { sender, createIsolation } = createSenders(
    {
      allowCidrs: [],
      allowPrivateEndpoints: true,
      egressProxy: undefined,
      httpsOnly: false,
      maxPerHost: undefined,
      maxTimeoutSeconds: 1,
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
  const isolation = createIsolation();
  const sending = {
    url: `${sink.url}/hook`,
    id: crypto.randomUUID(),
    body: Buffer.from('{"streamId":""}'),
    headers: {},
    timeoutMs: 3_000,
    queueSize: 1,
    recordsCharged: 0,
  };
  const credentials = { tokenUrl: `${sink.url}/token`, clientId: 'a', clientSecret: 'b' };
  const withToken = { ...sending, oauth2: { streamId: 'stream', credentials } };
  try {
    await isolation.start();
    const results = await Promise.all([
      sender.send(sending),
      sender.send(withToken),
      sender.send({ ...sending, url: toInboxUrl('slow') }),
      isolation.send(sending, () => {}),
    ]);
    const error = 'no complete response within 1 s';
    expect(results).toMatchObject(results.map(() => ({ error })));
  } finally {
    await Promise.all([sender.close(), isolation.close(), sink.close()]);
  }
});
