/** A receiver that responds at once and records which events arrived, and when. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EventSink {
  readonly url: string;
  /** Arrival time (`performance.now()`) of each block's first webhook, by block number. */
  readonly arrivals: ReadonlyMap<number, number>;
  /** Forgets all events, and sets the number of distinct events that `complete` waits for. */
  expect(events: number): void;
  complete(): Promise<void>;
  stop(): Promise<void>;
}

/** The fields that the sink reads. Webhooks of Sluice and of the Ponder app both have them. */
interface Body {
  block: { number: string };
  logs: { logIndex: string }[];
}

export async function startEventSink(): Promise<EventSink> {
  const events = new Set<string>();
  const arrivals = new Map<number, number>();
  let expected = Infinity;
  let completion = Promise.withResolvers<void>();

  const record = (body: string, arrivedAt: number): void => {
    const { block, logs } = JSON.parse(body) as Body;
    // The test webhook of a new stream has no logs.
    if (logs.length === 0) return;
    const number = Number(block.number);
    if (!arrivals.has(number)) arrivals.set(number, arrivedAt);
    for (const { logIndex } of logs) events.add(`${number} ${logIndex}`);
    if (events.size >= expected) completion.resolve();
  };

  const server = createServer((request, response) => {
    const arrivedAt = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      record(Buffer.concat(chunks).toString(), arrivedAt);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    arrivals,
    expect(count) {
      events.clear();
      arrivals.clear();
      expected = count;
      completion = Promise.withResolvers();
    },
    complete: () => completion.promise,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
