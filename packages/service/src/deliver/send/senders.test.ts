import { startWebhookSink } from '@sluice/testkit';
import { expect, test } from 'vitest';
import type { Store } from '../../store/store.ts';
import { createSenders } from './senders.ts';

test('attempts of the service, and of its isolated process, end after --max-timeout-seconds', async () => {
  const sink = await startWebhookSink();
  sink.respond({ silence: 'hang' });
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
      store: {} as Store,
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
