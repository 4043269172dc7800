import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { signWebhook } from '@sluice/kit/contract';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../service.ts';

const API_KEY = 'settings-test-key-0123456789';

const folder = mkdtempSync(join(tmpdir(), 'sluice-settings-'));
let sink: WebhookSink;
beforeAll(async () => {
  sink = await startWebhookSink();
});
afterAll(async () => {
  await sink.close();
  rmSync(folder, { recursive: true });
});

const start = (): Promise<Service> =>
  startService(
    {
      port: 0,
      host: '127.0.0.1',
      data: folder,
      apiKey: API_KEY,
      chains: [],
      aptos: [],
      allowPrivateEndpoints: true,
    },
    { info() {}, warn() {}, error() {} },
  );

/** Returns which of the secrets signed the test webhook of a new stream. */
async function signedBy(service: Service, path: string, secrets: string[]): Promise<string[]> {
  const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  await client.streams.create({
    webhookUrl: sink.url + path,
    description: '',
    chainIds: ['0x1'],
  });
  const { body, headers } = await sink.waitFor((request) => request.path === path);
  return secrets.filter((secret) => headers['x-signature'] === signWebhook(body, secret));
}

test('a new secret signs every webhook from then on, even after a restart', async () => {
  let service = await start();
  const made = service.secret;
  expect(made).toMatch(/^[0-9a-f]{64}$/);
  const secrets = [made, 'a secret of ours'];
  expect(await signedBy(service, '/before', secrets)).toEqual([made]);

  const client = createClient({ apiKey: API_KEY, baseUrl: service.url });
  const set = await client.settings.set({ secretKey: 'a secret of ours', region: 'us-west-2' });
  expect(set).toEqual({ secretKey: 'a secret of ours', region: 'us-west-2' });
  expect(service.secret).toBe('a secret of ours');
  expect(await signedBy(service, '/after', secrets)).toEqual(['a secret of ours']);
  // Settings that are omitted do not change.
  expect(await client.settings.set({})).toEqual(set);
  await service.stop();

  service = await start();
  expect(service.secret).toBe('a secret of ours');
  const again = createClient({ apiKey: API_KEY, baseUrl: service.url });
  expect(await again.settings.read()).toEqual(set);
  expect(await signedBy(service, '/again', secrets)).toEqual(['a secret of ours']);
  await service.stop();
});
