import { afterEach, describe, expect, test } from 'vitest';
import type { DeliverySummary, LiveEvent } from '@sluice/kit/contract';
import { type Live, createLive } from './live.ts';

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
    attempts: 0,
    status: null,
    error: null,
    durationMs: null,
    createdAt: 0,
    updatedAt: 0,
    nextAttemptAt: null,
  },
});

/** Reads events off a stream as a browser would: data by id. */
function read(of: Live, lastEventId?: string) {
  const reader = of.open(lastEventId, new AbortController().signal).getReader();
  const decoder = new TextDecoder();
  const events: { id: string; event: LiveEvent }[] = [];
  let firstId = '';
  const take = async (): Promise<boolean> => {
    const { value, done } = await reader.read();
    for (const block of decoder.decode(value, { stream: true }).split('\n\n')) {
      const id = /^id: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (id !== undefined && data !== undefined)
        events.push({ id, event: JSON.parse(data) as LiveEvent });
      else if (id !== undefined) firstId = id;
    }
    return !done;
  };
  return {
    events,
    firstId: () => firstId,
    async until(count: number) {
      while (events.length < count && (await take())) {
        // take reads on
      }
      return events;
    },
    cancel: () => reader.cancel(),
  };
}

const idOf = ({ event }: { event: LiveEvent }): string =>
  event.type === 'delivery' ? `${event.delivery.id} ${event.delivery.state}` : event.type;

describe('live events', () => {
  test('reach every reader, several states of one delivery as the last one', async () => {
    live = createLive();
    const one = read(live);
    const two = read(live);
    live.publish(delivery('a'));
    live.publish(delivery('b'));
    live.publish(delivery('a', 'succeeded'));
    expect((await one.until(2)).map(idOf)).toEqual(['b pending', 'a succeeded']);
    expect((await two.until(2)).map(idOf)).toEqual(['b pending', 'a succeeded']);
  });

  test('are resumed after the last one seen: none lost, none doubled', async () => {
    live = createLive();
    const first = read(live);
    live.publish(delivery('a'));
    const [seen] = await first.until(1);
    await first.cancel();
    live.publish(delivery('b'));
    live.publish(delivery('c'));
    const witness = read(live);
    await witness.until(2);
    const again = read(live, seen!.id);
    live.publish(delivery('d'));
    expect((await again.until(3)).map(idOf)).toEqual(['b pending', 'c pending', 'd pending']);
  });

  test('a quiet reader resumes from the id it was greeted with', async () => {
    live = createLive();
    const first = read(live);
    live.publish(delivery('a'));
    await first.until(1);
    await first.cancel();
    const again = read(live, first.firstId());
    expect((await again.until(1)).map(idOf)).toEqual(['a pending']);
  });

  test.each(['of-another-run', '00000000-5', 'nonsense'])(
    'an id that is not held (%s) asks to start over',
    async (id) => {
      live = createLive();
      expect((await read(live, id).until(1)).map(idOf)).toEqual(['reset']);
    },
  );

  test('end for every reader when the service stops', async () => {
    live = createLive();
    const reader = read(live);
    live.close();
    expect(await reader.until(1)).toEqual([]);
  });
});
