import { TEST_APTOS_WEBHOOK, TEST_WEBHOOK } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import { createHostPace } from './hostPace.ts';
import type { SendResult } from './destinations/destination.ts';
import type { SendRequest } from './send/send.ts';
import { createTestWebhook } from './testWebhook.ts';

const ENDPOINT = { url: 'https://example.com/hook', headers: { 'x-a': '1' }, secrets: ['s'] };

function createTester({
  maxPerHost,
  error = null,
  localFailure,
}: {
  maxPerHost?: number;
  error?: string | null;
  localFailure?: SendResult['localFailure'];
} = {}) {
  const sent: SendRequest[] = [];
  const testWebhook = createTestWebhook({
    sender: {
      async send(sending) {
        sent.push(sending);
        return { error, localFailure } as never;
      },
    },
    hostPace: createHostPace(maxPerHost, (url) => new URL(url).host),
    maxPerHost,
  });
  return { sent, testWebhook };
}

test('the test webhook is sent to the endpoint, with a new id each time', async () => {
  const { sent, testWebhook } = createTester();
  expect(await testWebhook(TEST_WEBHOOK, ENDPOINT)).toBeUndefined();
  expect(await testWebhook(TEST_APTOS_WEBHOOK, ENDPOINT)).toBeUndefined();
  expect(sent).toMatchObject([ENDPOINT, ENDPOINT]);
  expect(sent.map(({ body }) => JSON.parse(Buffer.from(body).toString()))).toEqual([
    TEST_WEBHOOK,
    TEST_APTOS_WEBHOOK,
  ]);
  expect(sent[0]!.id).not.toBe(sent[1]!.id);
});

test('the reason for a failure is returned', async () => {
  const { testWebhook } = createTester({ error: 'HTTP 500' });
  expect(await testWebhook(TEST_WEBHOOK, ENDPOINT)).toBe('HTTP 500');
});

test('the test webhook is not sent if the host of the URL is busy for longer than a caller waits', async () => {
  const { sent, testWebhook } = createTester({ maxPerHost: 0.1 });
  expect(await testWebhook(TEST_WEBHOOK, ENDPOINT)).toBeUndefined();
  expect(await testWebhook(TEST_WEBHOOK, ENDPOINT)).toContain('--max-per-host 0.1');
  expect(sent).toHaveLength(1);
});

test.each(['LEDGER', 'EMFILE', 'STALLED'] as const)(
  'a failure of this service (%s) is not reported as one of the receiver',
  async (cause) => {
    const localFailure = { cause, isSent: false };
    const { testWebhook } = createTester({ error: 'database or disk is full', localFailure });
    await expect(testWebhook(TEST_WEBHOOK, ENDPOINT)).rejects.toMatchObject({
      code: 'unavailable',
    });
  },
);
