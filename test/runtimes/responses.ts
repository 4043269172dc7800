/**
 * Sends webhooks to a receiver, and lists the expected responses, which are the same in every
 * runtime.
 */
import { createFakeSender, sampleWebhook } from '@sluice/kit/testing';

const WEBHOOK = sampleWebhook('erc20-transfer', { tag: 'é ☕ \\" "q"' });
/** A webhook that exceeds the default body limits of the frameworks. */
const LARGE = { ...WEBHOOK, tag: 'ü'.repeat(1_500_000) };

/**
 * Sends a webhook, the same webhook again, a large one, the test webhook and a forged one, and
 * returns the responses.
 */
export async function sendAll(to: string, secret: string): Promise<string[]> {
  const genuine = createFakeSender({ to, secret, scheduleMs: [] });
  const forger = createFakeSender({ to, secret: 'another', scheduleMs: [] });
  const deliveries = [
    await genuine.send(WEBHOOK, { id: 'one' }),
    await genuine.send(WEBHOOK, { id: 'one' }),
    await genuine.send(LARGE),
    await genuine.send(sampleWebhook('test')),
    await forger.send(WEBHOOK),
  ];
  return deliveries.map(({ attempts: [attempt] }) => `${attempt?.status} ${attempt?.body}`);
}

export const EXPECTED_RESPONSES = [
  '200 {"message":"Handled"}',
  '200 {"message":"Handled before"}',
  '200 {"message":"Handled"}',
  '200 {"message":"Test webhook received"}',
  '401 {"message":"Signature is not valid"}',
];
