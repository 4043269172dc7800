import { expect, test } from 'vitest';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import { type StreamCallNeeds, createStreamCalls } from './streamCalls.ts';

const stream = {
  id: 'stream-1',
  family: 'evm',
  chainIds: [] as string[],
  updatedAt: 7,
} as StreamRecord;

/** Runs an update of a stream that other calls change first, the given number of times. */
async function updateAgainst(changes: number) {
  let tries = 0;
  const store = {
    readStream: () => Promise.resolve(stream),
    updateStream: (_: string, __: unknown, { unchangedSince }: { unchangedSince: number }) => {
      expect(unchangedSince).toBe(stream.updatedAt);
      return Promise.resolve(tries++ < changes ? undefined : stream);
    },
  };
  const pass = <Endpoint>(_: string, endpoint: Endpoint): Endpoint => endpoint;
  const endpoints = { open: pass, seal: pass };
  const calls = createStreamCalls({ store, endpoints } as unknown as StreamCallNeeds, {
    name: 'evm',
    testWebhook: {},
    toDraft: () => expect.unreachable(),
    toPatch: () => ({ description: 'new' }),
    toResponse: (record) => record,
  });
  type Asked = Parameters<typeof calls.update>[0];
  const asked = { context: { get: () => ({}) }, params: { id: stream.id }, body: {}, sent: {} };
  const response = await calls.update(asked as unknown as Asked).catch((error: unknown) => error);
  return { response, tries };
}

test('an update starts again while other calls change the stream, up to 100 times', async () => {
  expect(await updateAgainst(99)).toEqual({ response: stream, tries: 100 });
  const { response, tries } = await updateAgainst(Number.POSITIVE_INFINITY);
  expect(response).toMatchObject({
    status: 409,
    message: 'Other calls keep changing this stream. Send the update again.',
  });
  expect(tries).toBe(100);
});
