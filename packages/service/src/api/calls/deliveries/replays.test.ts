/** Tests that many replays at once are created quickly or refused, without counting deliveries. */
import type { Context } from 'hono';
import { expect, test, vi } from 'vitest';
import { MAX_RUNNING_REPLAYS } from '../../../store/replays/contract.ts';
import type { Store } from '../../../store/store.ts';
import { createReplayHandlers } from './replays.ts';

const context = { get: () => ({ keyId: 'key' }), set: () => {} } as unknown as Context;

test('among many replays, only those that may run count deliveries', async () => {
  let running = 0;
  const estimateReplay = vi.fn(async () => ({ deliveries: 100_000, bytes: 1, isCapped: false }));
  const store = {
    estimateReplay,
    countRunningReplays: async () => running,
    createReplay: async () => ({ id: `${++running}` }),
  } as unknown as Store;
  const { createReplay } = createReplayHandlers({ store });
  const body = { name: 'again', filter: { streamId: 'stream' } };
  const create = () => createReplay({ context, params: {}, query: {}, body, sent: {} } as never);

  const results = await Promise.allSettled(Array.from({ length: 64 }, create));

  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_RUNNING_REPLAYS);
  expect(results.at(-1)).toMatchObject({
    reason: {
      status: 409,
      message: '20 replays are running: wait until one is done, or cancel one',
    },
  });
  expect(estimateReplay).toHaveBeenCalledTimes(MAX_RUNNING_REPLAYS);
  running--;
  expect(await create()).toMatchObject({ id: '20' });
});

test('a failed creation does not block the next one', async () => {
  const store = {
    estimateReplay: vi.fn().mockRejectedValueOnce(new Error('no ledger')).mockResolvedValue({}),
    countRunningReplays: async () => 0,
    createReplay: async () => ({ id: 'second' }),
  } as unknown as Store;
  const { createReplay } = createReplayHandlers({ store });
  const body = { name: 'again', filter: { streamId: 'stream' } };
  const create = () => createReplay({ context, params: {}, query: {}, body, sent: {} } as never);
  await expect(create()).rejects.toThrow('no ledger');
  expect(await create()).toMatchObject({ id: 'second' });
});
