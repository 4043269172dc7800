import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { onTestFinished } from 'vitest';
import { createSender } from '../../send/send.ts';
import type { Destination } from '../destination.ts';
import { ALL_NETWORKS, createAddressGuard } from '../http/guard.ts';
import type { QueueOptions } from './queue.ts';

export const SECRET = 'a streams secret';
export const WEBHOOK = {
  ...TEST_WEBHOOK,
  streamId: '6c1a2b3c-0000-4000-8000-000000000001',
  tag: 'paid orders.é',
  chainId: '0x1',
};

/** Opens a sender to the queues of one kind of broker, until the test has finished. */
export function openQueueSender(
  createDestination: (options: QueueOptions) => Destination,
  options: Partial<QueueOptions> = {},
) {
  const sender = createSender({
    destinations: [
      createDestination({
        guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
        readChainAndPhase: (webhook) => ({
          chainId: (webhook as typeof WEBHOOK).chainId,
          phase: 'confirmed',
        }),
        ...options,
      }),
    ],
    secret: () => SECRET,
    region: () => 'us-east-1',
    timeoutMs: 5_000,
  });
  onTestFinished(() => sender.close());
  return {
    send: (url: string, more: { id?: string; body?: string; timeoutMs?: number } = {}) =>
      sender.send({
        url,
        id: more.id ?? crypto.randomUUID(),
        body: Buffer.from(more.body ?? JSON.stringify(WEBHOOK)),
        headers: { 'x-own': 'a value' },
        timeoutMs: more.timeoutMs,
        queueSize: 0,
        recordsCharged: 0,
      }),
    destinationOf: sender.destinationOf,
  };
}
