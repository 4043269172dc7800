/**
 * The readers of the soak's feeds, in their own thread: one per feed, all as the same consumer. They
 * count reads by delivery ID, and sometimes stop without acknowledging a page, as after `kill -9`.
 */
import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { createSluiceClient } from '@sluice/kit/sluice';
import type { Receipts } from '../faults/invariants.ts';
import { API_KEY } from '../serve.ts';
import type { ReceiverMessage } from './receiver.ts';

/** The service after its start or restart, and the streams to read. */
export interface FeedsToRead {
  url: string;
  streams: readonly string[];
}

const { seed } = workerData as { seed: string };
const REPORT_EVERY_MS = 100;
const CONSUMER = 'soak';
const LEASE_MS = 2_000;
/** One of this many pages is not acknowledged. */
const PAGES_PER_KILL = 50;

const receipts = new Map<string, Receipts>();
/** How often a delivery was read without an acknowledgement that arrived. */
const interrupted = new Map<string, number>();
let accepted = 0;
let url = '';
const read = new Set<string>();
const report = (message: ReceiverMessage): void => parentPort!.postMessage(message);

async function readFeed(streamId: string): Promise<never> {
  for (let page = 0; ; page++) {
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: url, maxRetries: 0 });
    const found = await sluice
      .readFeed(streamId, { consumer: CONSUMER, waitMs: 5_000, leaseMs: LEASE_MS })
      .catch(() => wait(50));
    const deliveries = found?.deliveries ?? [];
    if (deliveries.length === 0) continue;
    for (const { id } of deliveries) {
      const receipt = receipts.get(id) ?? { total: 0, accepted: 0 };
      receipts.set(id, receipt);
      receipt.total++;
      receipt.accepted++;
      if (receipt.accepted === 1) accepted++;
    }
    const draw = Number.parseInt(hash('sha1', `${seed}:${streamId}:${page}`).slice(0, 8), 16);
    const positions = deliveries.map(({ position }) => position);
    const isAcknowledged =
      draw % PAGES_PER_KILL > 0 &&
      (await sluice.acknowledgeFeed(streamId, { consumer: CONSUMER, positions }).then(
        () => true,
        () => false,
      ));
    if (isAcknowledged) continue;
    for (const { id } of deliveries) interrupted.set(id, (interrupted.get(id) ?? 0) + 1);
  }
}

setInterval(() => report({ accepted }), REPORT_EVERY_MS);
parentPort!.on('message', (message: FeedsToRead | 'receipts') => {
  if (message === 'receipts') return report({ receipts, interrupted });
  ({ url } = message);
  for (const stream of message.streams) {
    if (read.has(stream)) continue;
    read.add(stream);
    void readFeed(stream);
  }
});
