/** The thread of the readers of a feed, which read, parse and acknowledge pages over HTTP. */
import { parentPort } from 'node:worker_threads';
import { Pool } from 'undici';
import type { FeedPage } from '@sluice/kit/contract';

interface Asked {
  url: string;
  streamId: string;
  consumer: string;
  /** Number of deliveries after which all readers end. */
  count: number;
  readers: number;
  limit: number;
}

parentPort!.on('message', ({ url, streamId, consumer, count, readers, limit }: Asked) => {
  const pool = new Pool(url, { connections: readers });
  const arrivedAt = new Map<string, number>();
  const feed = `/sluice/streams/${streamId}/feed`;
  const read = async (): Promise<void> => {
    while (arrivedAt.size < count) {
      const { body } = await pool.request({
        method: 'GET',
        path: `${feed}?consumer=${consumer}&limit=${limit}&waitMs=1000`,
      });
      const text = await body.text();
      const now = performance.timeOrigin + performance.now();
      const { deliveries } = JSON.parse(text) as FeedPage;
      for (const { id } of deliveries) arrivedAt.set(id, now);
      if (deliveries.length === 0) continue;
      const positions = deliveries.map(({ position }) => position);
      const acknowledged = await pool.request({
        method: 'POST',
        path: `${feed}/ack`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ consumer, positions }),
      });
      await acknowledged.body.dump();
    }
  };
  void Promise.all(Array.from({ length: readers }, read)).then(async () => {
    await pool.close();
    parentPort!.postMessage(arrivedAt);
  });
});
