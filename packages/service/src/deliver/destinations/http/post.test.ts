import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Dispatcher } from 'undici';
import type { Connections } from './connections.ts';
import { post } from './post.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('connection, headers and body have one timeout together', async () => {
  const dispatch = vi.fn<Dispatcher['dispatch']>(() => true);
  const abort = vi.fn();
  const posted = post(
    { dispatch } as Partial<Dispatcher> as Dispatcher,
    { takeOpened: () => undefined } as Partial<Connections> as Connections,
    { origin: 'http://127.0.0.1:1', path: '/', headers: {}, body: new Uint8Array() },
    1_000,
  );
  const handler = dispatch.mock.calls[0]![1];
  const controller = { abort } as Partial<Dispatcher.DispatchController> as never;
  await vi.advanceTimersByTimeAsync(400);
  handler.onRequestStart!(controller, {});
  await vi.advanceTimersByTimeAsync(400);
  handler.onResponseStart!(controller, 200, {}, 'OK');
  handler.onResponseData!(controller, Buffer.from('start'));
  await vi.advanceTimersByTimeAsync(199);
  expect(abort).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(abort).toHaveBeenCalledOnce();
  expect(await posted).toMatchObject({
    status: 200,
    responseBody: 'start',
    failure: 'no complete response within 1 s',
  });
});
