import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isSluiceError } from '../../errors.ts';
import { createHandler } from '../../webhooks/handler/handler.ts';
import { unwrap } from '../../webhooks/unwrap.ts';
import { sampleAptosWebhook, sampleWebhook, signedHeaders } from '../../webhooks/testing.ts';
import type { ReleaseFeed } from '../../contract/shapes.generated.ts';
import type { FeedCalls } from './deliveries.ts';
import { createFeed } from './feed.ts';
import { type Outcome, SECRET, STREAM, createScriptedFeed } from './scriptedFeed.test-only.ts';

// Retries wait for no time.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

const OPTIONS = { consumer: 'billing' } as const;

/** Creates a feed with some deliveries. */
function createFeedOf(count: number) {
  const feed = createScriptedFeed();
  for (let n = 0; n < count; n++) feed.add();
  return feed;
}

describe('a webhook of a feed', () => {
  it('is verified with the secret, and has its position, headers and body', async () => {
    const { client } = createFeedOf(2);
    const positions: number[] = [];
    for await (const received of client.feed(STREAM, { ...OPTIONS, secret: SECRET })) {
      positions.push(received.position);
      const { position, headers, body, ack, ...rest } = received;
      expect(rest).toEqual(unwrap({ headers, body, secret: SECRET }));
      expect(rest).toMatchObject({ id: `id-${position}`, verifiedBy: 'webhook-signature' });
      expect(ack).toBeTypeOf('function');
      if (positions.length === 2) break;
    }
    expect(positions).toEqual([1, 2]);
  });

  it('is not verified without a secret', async () => {
    const { client } = createFeedOf(1);
    for await (const { verifiedBy, webhook, id } of client.feed(STREAM, OPTIONS)) {
      expect({ verifiedBy, id }).toEqual({ verifiedBy: undefined, id: 'id-1' });
      expect(webhook).toEqual(sampleWebhook('erc20-transfer'));
      break;
    }
  });

  it.each([
    [{ secret: 'another secret' }, 'invalid_signature'],
    [{ secret: '' }, 'missing_secret'],
    [{ family: 'aptos' as const }, 'invalid_webhook'],
  ])('with %o, it throws %s', async (options, code) => {
    const { client } = createFeedOf(1);
    const iterator = client.feed(STREAM, { ...OPTIONS, ...options })[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toMatchObject({ code });
  });

  it('may be of an Aptos stream', async () => {
    const feed = createScriptedFeed();
    feed.add(sampleAptosWebhook('coin-transfer'));
    const options = { ...OPTIONS, secrets: ['old', SECRET], family: 'aptos' } as const;
    for await (const { webhook } of feed.client.feed(STREAM, options)) {
      expect(webhook).toEqual(sampleAptosWebhook('coin-transfer'));
      break;
    }
  });
});

describe('what was read ahead', () => {
  it('is released when the iteration ends', async () => {
    const feed = createFeedOf(12);
    for await (const { ack, position } of feed.client.feed(STREAM, { ...OPTIONS, limit: 4 })) {
      await ack();
      if (position === 9) break;
    }
    expect(feed.acknowledged).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]));
    expect(feed.releases).toMatchObject([{ consumer: 'billing', positions: [10, 11, 12] }]);
    expect(feed.releases[0]?.leaseEndsAt).toBeGreaterThan(Date.now());
  });

  it('is released with the rest of the page before', async () => {
    const released: ReleaseFeed[] = [];
    let read = 0;
    const body = JSON.stringify(sampleWebhook('erc20-transfer'));
    const delivery = { id: 'id', headers: signedHeaders(body, { secret: SECRET }), body };
    const calls = {
      readFeed: () => {
        const deliveries = [1, 2].map((n) => ({ ...delivery, position: read * 2 + n }));
        read += 1;
        return Promise.resolve({
          deliveries,
          nextPosition: read * 2,
          newestPosition: 100,
          leaseEndsAt: 1_000 + read,
        });
      },
      acknowledgeFeed: () => Promise.resolve({ acknowledged: 0, position: 0 }),
      releaseFeed: (_: string, given: ReleaseFeed) => {
        released.push(given);
        return Promise.resolve({ released: given.positions.length });
      },
    } as unknown as FeedCalls;
    for await (const { position } of createFeed(calls, STREAM, { ...OPTIONS, limit: 2 })) {
      // The next page is requested with the second webhook, and arrives.
      await new Promise((resolve) => setTimeout(resolve));
      if (position === 3) expect(read).toBe(2);
      if (position === 4) break;
    }
    expect(released).toEqual([{ consumer: 'billing', leaseEndsAt: 1_003, positions: [5, 6] }]);
  });

  it('is nothing if each webhook was handed out, and in the mode each', async () => {
    const feed = createFeedOf(2);
    for await (const { position } of feed.client.feed(STREAM, OPTIONS)) if (position === 2) break;
    for await (const { position } of feed.client.feed(STREAM, { mode: 'each', after: 0 })) {
      expect(position).toBe(1);
      break;
    }
    expect(feed.releases).toEqual([]);
  });
});

describe('acknowledgements', () => {
  it('are sent in batches, before the iteration ends', async () => {
    const feed = createFeedOf(1_200);
    let handled = 0;
    for await (const { ack } of feed.client.feed(STREAM, OPTIONS)) {
      await ack();
      if (++handled === 1_200) break;
    }
    expect(feed.acknowledged.size).toBe(1_200);
    expect(feed.acks.length).toBeLessThan(12);
    expect(Math.max(...feed.acks.map((each) => each.length))).toBeLessThanOrEqual(1_000);
  });

  it('are sent after a short time while the next webhook is awaited', async () => {
    const feed = createFeedOf(1);
    const controller = new AbortController();
    const reading = (async () => {
      for await (const { ack } of feed.client.feed(STREAM, {
        ...OPTIONS,
        signal: controller.signal,
      })) {
        await ack();
      }
    })();
    await expect.poll(() => [...feed.acknowledged]).toEqual([1]);
    controller.abort();
    await reading;
  });

  it('are sent when the signal is aborted, also by the code that handles the last one', async () => {
    const feed = createFeedOf(3);
    const controller = new AbortController();
    const { signal } = controller;
    for await (const { ack, position } of feed.client.feed(STREAM, { ...OPTIONS, signal })) {
      if (position === 2) controller.abort();
      await ack();
    }
    expect(feed.acknowledged).toEqual(new Set([1, 2]));
  });

  it('are sent when the loop throws', async () => {
    const feed = createFeedOf(2);
    const loop = async () => {
      for await (const { ack, position } of feed.client.feed(STREAM, OPTIONS)) {
        if (position === 2) throw new Error('the database is down');
        await ack();
      }
    };
    await expect(loop()).rejects.toThrow('the database is down');
    expect([...feed.acknowledged]).toEqual([1]);
  });

  it('are sent at once after the iteration', async () => {
    const feed = createFeedOf(1);
    let later = () => Promise.resolve();
    for await (const { ack } of feed.client.feed(STREAM, OPTIONS)) {
      later = ack;
      break;
    }
    await later();
    expect([...feed.acknowledged]).toEqual([1]);
  });

  it('that the service rejects end the iteration with the error', async () => {
    const feed = createFeedOf(1);
    feed.outcomes.ack.push(404);
    const loop = async () => {
      for await (const { ack } of feed.client.feed(STREAM, OPTIONS)) await ack();
    };
    await expect(loop()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are sent again until the service responds', async () => {
    const feed = createFeedOf(1);
    feed.outcomes.ack.push('refused', 'lost', 503, 429, 'refused', 500);
    const controller = new AbortController();
    const { signal } = controller;
    const reading = (async () => {
      for await (const { ack } of feed.client.feed(STREAM, { ...OPTIONS, signal })) await ack();
    })();
    await expect.poll(() => feed.outcomes.ack).toEqual([]);
    controller.abort();
    await reading;
    expect([...feed.acknowledged]).toEqual([1]);
  });

  it('that cannot be sent at the end are reported', async () => {
    const feed = createFeedOf(1);
    feed.outcomes.ack.push('refused', 'refused', 'refused', 'refused');
    const loop = async () => {
      for await (const { ack } of feed.client.feed(STREAM, OPTIONS)) {
        await ack();
        break;
      }
    };
    await expect(loop()).rejects.toMatchObject({ code: 'network_error' });
  });
});

describe('reads', () => {
  it('are at most one page ahead', async () => {
    const feed = createFeedOf(10);
    let handled = 0;
    const seen: number[] = [];
    for await (const webhook of feed.client.feed(STREAM, { ...OPTIONS, limit: 4 })) {
      expect(webhook.position).toBe(++handled);
      seen.push(feed.reads.length);
      if (handled === 10) break;
    }
    // The second half of a page is handled while the next page is read.
    expect(seen).toEqual([1, 1, 2, 2, 2, 2, 3, 3, 3, 4]);
    expect(String(feed.reads[0])).toBe('consumer=billing&limit=4&waitMs=25000');
  });

  it.each(['refused', 'lost', 408, 429, 500, 503] as const)(
    'are retried after %s',
    async (outcome) => {
      const feed = createFeedOf(1);
      feed.outcomes.read.push(...Array<Outcome>(5).fill(outcome));
      const controller = new AbortController();
      for await (const { position } of feed.client.feed(STREAM, {
        mode: 'each',
        after: 0,
        signal: controller.signal,
      })) {
        expect(position).toBe(1);
        controller.abort();
      }
      expect(feed.outcomes.read).toEqual([]);
    },
  );

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [422, 'validation_failed'],
  ])('throw after %i', async (status, code) => {
    const feed = createFeedOf(1);
    feed.outcomes.read.push(status);
    const iterator = feed.client.feed(STREAM, OPTIONS)[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toMatchObject({ code, status });
  });

  it('end without an error when the signal is aborted, and are not started after that', async () => {
    const feed = createFeedOf(0);
    const controller = new AbortController();
    const { signal } = controller;
    const ended = feed.client
      .feed(STREAM, { ...OPTIONS, signal })
      .handle(createHandler({ secret: SECRET }));
    await expect.poll(() => feed.reads.length).toBe(1);
    controller.abort();
    await ended;
    for await (const webhook of feed.client.feed(STREAM, { ...OPTIONS, signal }))
      expect(webhook).toBe(0);
    expect(feed.reads).toHaveLength(1);
  });

  it('hand out no webhook whose lease has almost ended', async () => {
    const feed = createFeedOf(3);
    const handed: string[] = [];
    for await (const { position, headers, ack } of feed.client.feed(STREAM, {
      ...OPTIONS,
      leaseMs: 1_000,
    })) {
      handed.push(`${position} of read ${headers['x-read'] === '1' ? 1 : 'later'}`);
      if (handed.length === 2) {
        // Longer than nine tenths of the lease.
        const ends = performance.now() + 900;
        await expect.poll(() => performance.now()).toBeGreaterThan(ends);
        feed.endLeases();
      }
      await ack();
      if (handed.length === 3) break;
    }
    expect(handed).toEqual(['1 of read 1', '2 of read 1', '3 of read later']);
    expect(feed.acknowledged).toEqual(new Set([1, 2, 3]));
  });

  it('in the mode `each` continue after the last page, and have no acknowledgements', async () => {
    const feed = createFeedOf(5);
    const positions: number[] = [];
    for await (const webhook of feed.client.feed(STREAM, { mode: 'each', after: 2, limit: 2 })) {
      expect(webhook).not.toHaveProperty('ack');
      positions.push(webhook.position);
      if (positions.length === 3) break;
    }
    expect(positions).toEqual([3, 4, 5]);
    expect(feed.reads.slice(0, 2).map((query) => query.get('after'))).toEqual(['2', '4']);
  });

  it('wait a second after an empty page that was returned at once', async () => {
    const controller = new AbortController();
    let pages = 0;
    const calls: FeedCalls = {
      ...createScriptedFeed().client,
      readFeed: (() => {
        pages++;
        return Promise.resolve({ deliveries: [], nextPosition: 0 });
      }) as never,
    };
    const began = performance.now();
    const { signal } = controller;
    const ended = createFeed(calls, STREAM, { ...OPTIONS, signal }).handle(
      createHandler({ secret: SECRET }),
    );
    await expect.poll(() => pages).toBe(2);
    expect(performance.now() - began).toBeGreaterThan(900);
    controller.abort();
    await ended;
  });
});

describe('a handler', () => {
  it('handles webhooks, of which only those that it handles are acknowledged', async () => {
    const feed = createFeedOf(3);
    const controller = new AbortController();
    const onError = vi.fn();
    let handled = 0;
    const handler = createHandler({ secret: SECRET, onError }).onWebhook({
      confirmed: () => {
        if (++handled === 2) throw new Error('the database is down');
        if (handled === 3) controller.abort();
      },
    });
    await feed.client.feed(STREAM, { ...OPTIONS, signal: controller.signal }).handle(handler);
    expect(handled).toBe(3);
    expect(feed.acknowledged).toEqual(new Set([1, 3]));
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      new Error('the database is down'),
      expect.anything(),
    );
  });

  it('acknowledges nothing that is signed with another secret', async () => {
    const feed = createFeedOf(1);
    const controller = new AbortController();
    const handler = createHandler({ secret: 'another secret', onError: () => controller.abort() });
    await feed.client.feed(STREAM, { ...OPTIONS, signal: controller.signal }).handle(handler);
    expect(feed.acks).toEqual([]);
  });

  it('acknowledges nothing in the mode `each`', async () => {
    const feed = createFeedOf(2);
    const controller = new AbortController();
    let handled = 0;
    const handler = createHandler({ secret: SECRET }).onWebhook({
      confirmed: () => {
        if (++handled === 2) controller.abort();
      },
    });
    const { signal } = controller;
    await feed.client.feed(STREAM, { mode: 'each', after: 0, signal }).handle(handler);
    expect(handled).toBe(2);
    expect(feed.acks).toEqual([]);
  });
});

const outcome = fc.constantFrom<Outcome>('ok', 'ok', 'refused', 'lost', 503, 429);

/** The next step of a consumer. */
const action = fc.constantFrom('ack', 'ack', 'ack', 'fail', 'late', 'leave', 'add');

it('a feed hands out each delivery at least once, and none after its acknowledgement', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        actions: fc.array(action, { maxLength: 40 }),
        reads: fc.array(outcome, { maxLength: 20 }),
        acks: fc.array(outcome, { maxLength: 10 }),
        limit: fc.integer({ min: 1, max: 5 }),
        count: fc.integer({ min: 1, max: 12 }),
      }),
      async ({ actions, reads, acks, limit, count }) => {
        const feed = createScriptedFeed({ endsLeases: true });
        for (let n = 0; n < count; n++) feed.add();
        feed.outcomes.read.push(...reads);
        feed.outcomes.ack.push(...acks);
        let total = count;
        const handed = new Set<number>();
        const confirmed = new Set<number>();
        while (confirmed.size < total) {
          const acknowledged = new Set<number>();

          try {
            for await (const { position, ack } of feed.client.feed(STREAM, { ...OPTIONS, limit })) {
              handed.add(position);
              expect(confirmed).not.toContain(position);
              expect(acknowledged).not.toContain(position);
              const next = actions.shift() ?? 'ack';
              if (next === 'add') {
                feed.add();
                total++;
              }
              if (next === 'leave') break;
              if (next === 'fail') continue;
              if (next === 'late') feed.endLeases();
              // Lets the read ahead find the delivery again before it is acknowledged.
              await new Promise((resolve) => setTimeout(resolve));
              await ack();
              acknowledged.add(position);
              if (confirmed.size + acknowledged.size === total) break;
            }
          } catch (error) {
            // The last acknowledgements could not be sent.
            if (!isSluiceError(error)) throw error;
            for (const each of feed.acknowledged) confirmed.add(each);
            continue;
          }
          for (const each of acknowledged) {
            expect(feed.acknowledged).toContain(each);
            confirmed.add(each);
          }
        }
        expect(handed.size).toBe(total);
      },
    ),
    { numRuns: 100 },
  );
});
