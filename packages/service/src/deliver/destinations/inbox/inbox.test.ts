import { DEFAULT_INBOX_RESPONSE, WEBHOOK_HEADERS, signWebhook } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import type { Store } from '../../../store/store.ts';
import { TOO_MANY_INBOXES, createInbox } from './inbox.ts';

type Received = Awaited<ReturnType<Store['receiveInInbox']>>;

const BODY = JSON.stringify({ streamId: '', tag: '', block: { number: '' } });

const send = (
  receiveInInbox: (request: Parameters<Store['receiveInInbox']>[0]) => Promise<Received>,
  url = 'sluice://inbox/a',
) =>
  createInbox({
    store: { receiveInInbox },
    secret: () => 'secret',
    readChainAndPhase: () => undefined as never,
  }).send(
    {
      id: 'id',
      url,
      body: Buffer.from(BODY),
      sign: () => ({ [WEBHOOK_HEADERS.signature]: signWebhook(BODY, 'secret') }),
      oauth2: undefined,
      clockSkewMs: 0,
    },
    50,
  );

const respond =
  (status: number, body = '', delayMs = 0) =>
  () =>
    Promise.resolve({
      request: { status } as never,
      answer: { ...DEFAULT_INBOX_RESPONSE, body, delayMs },
    });

test('an inbox stores the webhook, and its response decides', async () => {
  const kept: unknown[] = [];
  const result = await send((request) => {
    kept.push(request);
    return respond(200, 'stored')();
  });
  expect(result).toMatchObject({ status: 200, error: null, responseBody: 'stored' });
  expect(kept).toMatchObject([{ inbox: 'a', body: BODY, verified: true, delivery: null }]);
  expect(await send(respond(500))).toMatchObject({ status: 500, error: 'HTTP 500' });
  expect((await send(respond(410))).urlProblem).toMatch(/410 Gone/);
});

test('an inbox that responds late, or cannot be written, fails the attempt', async () => {
  const late = await send(respond(200, '', 5_000));
  expect(late).toMatchObject({ status: null, error: 'no complete response within 0.05 s' });
  const full = await send(() => Promise.resolve(undefined));
  expect(full).toMatchObject({ status: null, error: TOO_MANY_INBOXES });
  expect(full.localFailure).toBeUndefined();
  const busy = await send(() => Promise.reject(new Error('database or disk is full')));
  expect(busy).toMatchObject({ status: null, localFailure: { cause: 'LEDGER', isSent: false } });
});
