import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { serve } from '@hono/node-server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { DeliverySummary, LiveEvent } from '@sluice/kit/contract';
import { createMemoryFeed } from '../store/live/eventFeed.ts';
import { type Live, createLive } from './live.ts';
import { readLive } from './readLive.test-only.ts';

let live: Live | undefined;
afterEach(() => live?.close());

const delivery = (id: string, state: DeliverySummary['state'] = 'pending'): LiveEvent => ({
  type: 'delivery',
  delivery: {
    id,
    streamId: 's',
    matchId: 'm',
    tag: 't',
    chainId: '0x1',
    blockNumber: 1,
    phase: 'unconfirmed',
    state,
    records: 1,
    about: '',
    attempts: 0,
    status: null,
    error: null,
    durationMs: null,
    createdAt: 0,
    updatedAt: 0,
    nextAttemptAt: null,
  },
});

const idOf = ({ event }: { event: LiveEvent }): string =>
  event.type === 'delivery' ? `${event.delivery.id} ${event.delivery.state}` : event.type;

const start = () => {
  const feed = createMemoryFeed();
  live = createLive(feed);
  return { feed, live };
};

const openUnended = (of: Live, lastEventId?: string) =>
  of.open(
    lastEventId,
    'key',
    () => new AbortController().signal,
    () => {},
  );

describe('live events', () => {
  test('reach every reader; of several states of a delivery, only the last', async () => {
    const { feed, live } = start();
    const one = await readLive(live);
    const two = await readLive(live);
    feed.append([delivery('a'), delivery('b')]);
    feed.append([delivery('a', 'succeeded')]);
    expect((await one.until(2)).map(idOf)).toEqual(['b pending', 'a succeeded']);
    expect((await two.until(2)).map(idOf)).toEqual(['b pending', 'a succeeded']);
  });

  test('resume after the last received one, even within a batch', async () => {
    const { feed, live } = start();
    const first = await readLive(live);
    feed.append([delivery('a'), delivery('b')]);
    const [seen] = await first.until(1);
    await first.cancel();
    feed.append([delivery('c')]);
    const witness = await readLive(live, seen!.id);
    await witness.until(2);
    const again = await readLive(live, seen!.id);
    feed.append([delivery('d')]);
    expect((await again.until(3)).map(idOf)).toEqual(['b pending', 'c pending', 'd pending']);
  });

  test('a quiet stream sends a heartbeat at least every 2.5 s, so 5 s of silence mean a dead service', async () => {
    vi.useFakeTimers();
    try {
      const { live } = start();
      const reader = openUnended(live).getReader();
      await reader.read();
      for (let beats = 0; beats < 3; beats++) {
        const beat = reader.read();
        await vi.advanceTimersByTimeAsync(2_500);
        const settled = await Promise.race([beat, Promise.resolve('nothing')]);
        expect(settled).toMatchObject({ value: new TextEncoder().encode(': heartbeat\n\n') });
      }
      await reader.cancel();
    } finally {
      vi.useRealTimers();
    }
  });

  test('a reader without events resumes from its first id', async () => {
    const { feed, live } = start();
    const first = await readLive(live);
    feed.append([delivery('a')]);
    await first.until(1);
    await first.cancel();
    const again = await readLive(live, first.firstId());
    expect((await again.until(1)).map(idOf)).toEqual(['a pending']);
  });

  test('a reader that falls too far behind gets a reset, then the next events', async () => {
    const { feed, live } = start();
    const reader = await readLive(live);
    for (let n = 0; n < 12; n++) {
      feed.append(Array.from({ length: 1_000 }, (_, m) => delivery(`${n}-${m}`)));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect((await reader.until(1)).map(idOf)).toEqual(['reset']);
    feed.append([delivery('after')]);
    expect((await reader.until(2)).map(idOf)).toEqual(['reset', 'after pending']);
  });

  test.each(['of-another-run-1', '00000000-5-0', 'nonsense', '', '-', '1'])(
    'an unknown id (%s) causes a reset',
    async (id) => {
      const { live } = start();
      expect((await (await readLive(live, id)).until(1)).map(idOf)).toEqual(['reset']);
    },
  );

  test('are read and serialized once for all readers at the same place', async () => {
    let serialized = 0;
    const counted = (id: string): LiveEvent =>
      Object.assign(delivery(id), {
        toJSON: () => (serialized++, { type: 'delivery', delivery: { id } }),
      });
    const feed = createMemoryFeed();
    const readFrom = vi.fn(feed.readFrom);
    live = createLive({ ...feed, readFrom });
    const readers = await Promise.all(Array.from({ length: 20 }, () => readLive(live!)));
    const first = readers.map((reader) => reader.until(1));
    feed.append([counted('a')]);
    await Promise.all(first);
    // Each reader looks for events before it waits for some.
    readFrom.mockClear();
    const second = readers.map((reader) => reader.until(2));
    await vi.waitFor(() => expect(readFrom).toHaveBeenCalled());
    readFrom.mockClear();
    feed.append([counted('b')]);
    for (const events of await Promise.all(second)) expect(events).toHaveLength(2);
    expect(readFrom).toHaveBeenCalledOnce();
    expect(serialized).toBe(2);
    // A batch is serialized once even if its readers are at different places.
    await (await readLive(live, readers[0]!.events[0]!.id)).until(1);
    expect(serialized).toBe(2);
  });

  test('reach a slow reader in chunks of limited size, complete and in order', async () => {
    const { feed, live } = start();
    const first = await readLive(live);
    const ids = Array.from({ length: 2_000 }, (_, n) => `delivery-${n}`);
    feed.append(ids.map((id) => delivery(id)));
    const witness = await readLive(live);
    feed.append([delivery('last')]);
    await witness.until(1);
    const reader = openUnended(live, first.firstId()).getReader();
    await reader.read();
    let text = '';
    while (!text.includes('"id":"last"')) {
      const { value } = await reader.read();
      expect(value!.length).toBeLessThan(66 * 1024);
      text += new TextDecoder().decode(value);
    }
    expect([...text.matchAll(/"id":"(delivery-\d+)"/g)].map(([, id]) => id)).toEqual(ids);
  });

  test('are limited to 2,000 clients per key and 10,000 in total, until some leave', () => {
    const { live } = start();
    const clients: AbortController[] = [];
    const watch = (): AbortSignal => {
      const client = new AbortController();
      clients.push(client);
      return client.signal;
    };
    const open = (key: string) => live.open(undefined, key, watch, () => {});
    const fill = (key: string): void => {
      for (let n = 0; n < 2_000; n++) open(key);
      expect(() => open(key)).toThrow(
        expect.objectContaining({
          status: 503,
          message: expect.stringContaining('Too many clients'),
          retryAfterSeconds: 30,
        }),
      );
    };
    for (const key of ['a', 'b', 'c', 'd', 'e']) fill(key);
    expect(() => open('f')).toThrow('Too many clients');
    expect(clients).toHaveLength(10_000);
    for (const client of clients) client.abort();
    fill('a');
  });

  test('reach many clients in turns, with other work in between', async () => {
    const { feed, live } = start();
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => readLive(live)));
    let reached = 0;
    const all = Promise.all(clients.map((client) => client.until(1).then(() => reached++)));
    feed.append([delivery('a')]);
    const perTurn: number[] = [];
    for (let before = 0; reached < clients.length; before = reached) {
      await new Promise((resolve) => setImmediate(resolve));
      perTurn.push(reached - before);
    }
    await all;
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(100);
  });

  test('drop a client whose connection takes no more data, but none that reads', async () => {
    const feed = createMemoryFeed();
    live = createLive(feed, 3_000);
    const first = (await readLive(live)).firstId();
    let dropped = 0;
    const server = serve({
      port: 0,
      fetch: (_, { outgoing }) =>
        new Response(
          live!.open(
            first,
            'key',
            () => new AbortController().signal,
            () => {
              dropped++;
              outgoing.destroy();
            },
          ),
        ),
    });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [stalled, reading] = await Promise.all(
      [1, 2].map(async () => {
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
        await once(socket, 'readable');
        return { socket, closed: once(socket, 'close') };
      }),
    );
    let received = 0;
    reading!.socket.on('data', (chunk: Buffer) => (received += chunk.length));
    // More than the buffers of a connection, which grow to several MB.
    const about = 'x'.repeat(10_000);
    const events = Array.from({ length: 2_000 }, (_, n): LiveEvent => {
      const event = delivery(`d${n}`) as Extract<LiveEvent, { type: 'delivery' }>;
      return { ...event, delivery: { ...event.delivery, about } };
    });
    feed.append(events);
    await vi.waitFor(() => expect(dropped).toBe(1), { timeout: 10_000 });
    stalled!.socket.resume();
    await stalled!.closed;
    // The next heartbeat.
    const before = received;
    await vi.waitFor(() => expect(received).toBeGreaterThan(before), { timeout: 5_000 });
    expect(dropped).toBe(1);
    reading!.socket.destroy();
    server.close();
  });

  test('end for every reader when the service stops', async () => {
    const { live } = start();
    const reader = await readLive(live);
    live.close();
    expect(await reader.until(1)).toEqual([]);
  });
});
