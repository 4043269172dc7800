import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { limitClaim } from './capacity.ts';
import { createLanes } from './lanes.ts';

const MiB = 1024 * 1024;

function open() {
  const lanes = createLanes();
  const enter = (streamId: string, count: number, bodyBytes = 1_000) =>
    Array.from({ length: count }, () => {
      const delivery = { streamId, bodyBytes, attempts: 0 };
      lanes.enter(delivery);
      return delivery;
    });
  /** Makes the stream quick. */
  const respond = (streamId: string): void => {
    for (const each of enter(streamId, 1)) lanes.leave(each);
  };
  return { enter, respond, limits: () => limitClaim(lanes, (inFlight) => inFlight) };
}

test('a single slow stream may have as many deliveries in flight as a quick one', () => {
  const { limits } = open();
  expect(limits()).toMatchObject({ perStream: 64, slow: { perStream: 64 } });
});

test('slow streams leave capacity for quick ones, and for one delivery of each other slow stream', () => {
  const { enter, respond, limits } = open();
  respond('quick');
  for (let n = 0; n < 2_000; n++) enter(`hung ${n}`, 1);
  expect(limits()).toMatchObject({ limit: 2048, slow: { limit: 48, perStream: 1 } });
  enter('quick', 64);
  expect(limits()).toMatchObject({ limit: 1984, taken: { quick: 64 }, slow: { limit: 48 } });
  for (let n = 0; n < 40; n++) enter(`hung ${n}`, 1);
  expect(limits()).toMatchObject({ slow: { limit: 8, perStream: 1 } });
});

test('large webhooks to a receiver that hangs leave most of the size for other slow streams', () => {
  const { enter, limits } = open();
  const slow = limits()!.slow;
  const most = slow.bytes!.perStream;
  expect(most).toBeLessThanOrEqual(MiB);
  enter('hung', 4, most / 4);
  const next = limits()!;
  expect(next.slow.bytes!.taken).toEqual({ hung: most });
  expect(next.slow.maxBytes).toBeGreaterThan(30 * MiB);
});

test('quick streams that use all of their capacity leave that of slow ones', () => {
  const { enter, respond, limits } = open();
  for (let n = 0; n < 32; n++) {
    respond(`quick ${n}`);
    enter(`quick ${n}`, 64);
  }
  expect(limits()).toMatchObject({ limit: 0, slow: { limit: 256, perStream: 64 } });
  for (let n = 0; n < 2_048; n++) enter(`hung ${n}`, 1);
  expect(limits()).toBeUndefined();
});

test('a quick stream may have an eighth of the size in flight', () => {
  const { enter, respond, limits } = open();
  respond('quick');
  enter('quick', 1, 3 * MiB);
  expect(limits()).toMatchObject({ bytes: { perStream: 8 * MiB, taken: { quick: 3 * MiB } } });
});

test('property: deliveries in flight are limited in number and size, whatever becomes slow', () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  // With small bodies, the number is the limit.
  const steps = fc.constantFrom(1_000, 8 * MiB).chain((mostBytes) =>
    fc.array(
      fc.record({
        stream: fc.nat(9),
        quick: fc.boolean(),
        bytes: fc.nat(mostBytes),
        /** Attempts that take 2 s are slow. */
        afterMs: fc.constantFrom(0, 0, 2_000),
      }),
      { maxLength: 40 },
    ),
  );
  fc.assert(
    fc.property(steps, (each) => {
      const { enter, respond, limits } = open();
      const sum = { total: 0, bytes: 0 };
      for (const { stream, quick, bytes, afterMs } of each) {
        now += afterMs;
        if (quick) respond(String(stream));
        const found = limits();
        const room = quick ? found : found?.slow;
        if (room === undefined || room.limit <= 0 || room.maxBytes <= 0) continue;
        const count = Math.min(room.limit, 512);
        const bodyBytes = Math.min(bytes, Math.floor(room.maxBytes / count));
        enter(String(stream), count, bodyBytes);
        sum.total += count;
        sum.bytes += count * bodyBytes;
        expect(sum.total).toBeLessThanOrEqual(4096);
        expect(sum.bytes).toBeLessThanOrEqual(96 * MiB);
      }
    }),
  );
  clock.mockRestore();
});
