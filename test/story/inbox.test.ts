/** Tests the inbox, which receives webhooks inside the service, on SQLite and PostgreSQL. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, verifySignature } from '@sluice/kit';
import { CALLS } from '@sluice/kit/calls';
import { type InboxRequestSummary, createSluiceClient } from '@sluice/kit/sluice';
import { DEFAULT_INBOX_RESPONSE, toInboxUrl } from '@sluice/kit/contract';
import { type Anvil, type Postgres, startAnvil, startPostgres, until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, SECRET, type Served, serve } from '../serve.ts';

const CHAIN = '0x7a69';
const folder = mkdtempSync(join(tmpdir(), 'sluice-inbox-'));
let anvil: Anvil;
let postgres: Postgres;

beforeAll(async () => {
  [anvil, postgres] = await Promise.all([startAnvil(), startPostgres()]);
});
afterAll(async () => {
  await Promise.all([anvil?.stop(), postgres?.stop()]);
  rmSync(folder, { recursive: true });
});

describe.each(['SQLite', 'PostgreSQL'])('on %s', (engine) => {
  let served: Served;
  beforeAll(async () => {
    const ledger = engine === 'SQLite' ? ['--data', folder] : ['--database-url', postgres.url];
    served = await serve(
      [...ledger, '--chain', `${CHAIN}=${anvil.url},confirmations=1,poll=50`],
      // The address guard stays on; it does not apply to deliveries within the process.
      { allowPrivateEndpoints: false },
    );
  });
  afterAll(async () => {
    await served?.stop();
  });

  test('accepts webhooks, shows them live, verifies them, and fails on demand', async () => {
    const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
    const watched = anvil.accounts[6]!.address;
    const live: InboxRequestSummary[] = [];
    const leaving = new AbortController();
    const connected = Promise.withResolvers<void>();
    const listening = (async () => {
      const events = sluice.liveEvents({
        signal: leaving.signal,
        onState: ({ state }) => void (state === 'live' && connected.resolve()),
      });
      for await (const { event } of events) {
        if (event.type === 'inbox') live.push(event.request);
      }
    })();
    await connected.promise;
    await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');

    expect(await sluice.setInbox('my-app')).toEqual({
      name: 'my-app',
      url: 'sluice://inbox/my-app',
      response: DEFAULT_INBOX_RESPONSE,
      received: 0,
      stored: 0,
      lastAt: null,
    });
    const stream = await client.streams.create({
      webhookUrl: toInboxUrl('my-app'),
      description: '',
      tag: 'inbox',
      chainIds: [CHAIN],
      includeNativeTxs: true,
    });
    await client.streams.addAddress(stream.id, watched);
    // The inbox refuses the next webhook, which then waits for a retry.
    await sluice.setInbox('my-app', { failFirst: 1, failStatus: 503, body: 'thank you' });
    await anvil.request('eth_sendTransaction', [
      { from: anvil.accounts[0]!.address, to: watched, value: '0x1' },
    ]);
    await anvil.request('evm_mine', []);
    const deliveries = await until(
      'one delivery has succeeded, and one awaits a retry',
      async () => {
        const { result } = await sluice.listDeliveries({ streamId: stream.id });
        const states = result.map(({ state, status }) => `${state} ${status}`).toSorted();
        return states.join() === 'retrying 503,succeeded 200' && result;
      },
    );

    const page = await sluice.listInboxRequests('my-app');
    CALLS.listInboxRequests.response.parse({ result: page.result });
    expect(page.result.map(({ status, verified }) => [status, verified])).toEqual([
      [200, true],
      [503, true],
      // The test webhook that was sent when the stream was created.
      [200, true],
    ]);
    expect(
      page.result
        .slice(0, 2)
        .map(({ webhookId }) => webhookId)
        .toSorted(),
    ).toEqual(deliveries.map(({ id }) => id).toSorted());
    const [newest] = page.result;
    const whole = await sluice.getInboxRequest('my-app', newest!.id);
    CALLS.getInboxRequest.response.parse(whole);
    expect(whole).toMatchObject({ ...newest, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(whole.body)).toMatchObject({ streamId: stream.id });
    const { body, headers } = whole;
    expect(verifySignature({ body, signature: headers['x-signature'], secret: SECRET })).toBe(true);
    const succeeded = deliveries.find(({ state }) => state === 'succeeded')!;
    expect((await sluice.getDelivery(succeeded.id)).attemptList).toMatchObject([
      { status: 200, responseBody: 'thank you', webhookUrl: 'sluice://inbox/my-app' },
    ]);
    await until('each webhook was shown live', () => live.length === 3);
    expect(live.map(({ id }) => id)).toEqual(page.result.map(({ id }) => id).toReversed());

    // The activity counts the success and the failure.
    const activity = await until('the deliveries are counted', async () => {
      const found = await sluice.getActivity({ streamId: stream.id, step: 1, points: 60 });
      const count = (each: (typeof found.result)[number]) =>
        each.delivered + (each.failures['5xx'] ?? 0);
      return found.result.reduce((sum, each) => sum + count(each), 0) === 2 && found;
    });
    CALLS.getActivity.response.parse(activity);
    expect(activity.result.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(1);
    const [timeline, ...others] = await sluice.listTimelines({ streamIds: [stream.id], limit: 5 });
    CALLS.listTimelines.response.parse({ result: [timeline] });
    expect(others).toEqual([]);
    expect(timeline).toMatchObject({
      streamId: stream.id,
      chains: [{ chainId: CHAIN, blocks: [{ delivered: 1, waiting: 1 }] }],
    });
    expect(await sluice.listTimelines({ streamIds: [randomUUID()] })).toEqual([]);
    await expect(
      sluice.listTimelines({ streamIds: Array.from({ length: 201 }, () => stream.id) }),
    ).rejects.toMatchObject({
      status: 422,
      details: { 'requestBody.streamIds': { message: expect.stringContaining('at most 200') } },
    });
    expect(await sluice.listReorgs({ chain: CHAIN })).toEqual([]);
    await expect(sluice.getActivity({ points: 10_000 })).rejects.toMatchObject({ status: 422 });

    const [first, ...rest] = (await sluice.listInboxRequests('my-app', { limit: 1 })).result;
    expect([first, rest]).toEqual([newest, []]);
    expect(await sluice.listInboxes()).toMatchObject([
      { name: 'my-app', received: 2, stored: 3, lastAt: newest!.receivedAt },
    ]);
    await sluice.clearInbox('my-app');
    expect(await sluice.listInboxes()).toMatchObject([{ received: 2, stored: 0, lastAt: null }]);
    await sluice.deleteInbox('my-app');
    expect(await sluice.listInboxes()).toEqual([]);
    await expect(sluice.deleteInbox('my-app')).rejects.toMatchObject({ status: 404 });
    leaving.abort();
    await listening;
  });

  test('rejects an invalid inbox and names the fix', async () => {
    const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
    for (const webhookUrl of ['sluice://inbox/', 'sluice://inbox/My App', 'sluice://other/x']) {
      await expect(
        client.streams.create({ webhookUrl, description: '', tag: '', chainIds: [CHAIN] }),
      ).rejects.toMatchObject({ status: 422 });
    }
    await expect(sluice.setInbox('My App')).rejects.toMatchObject({ status: 422 });
    await expect(sluice.setInbox('a', { status: 99 })).rejects.toMatchObject({
      details: {
        'requestBody.status': { message: 'should be a whole number from 200 to 599', value: 99 },
      },
    });
  });

  test('refuses an inbox above the limit of 100, for calls and webhooks', async () => {
    const client = createClient({ apiKey: API_KEY, baseUrl: served.url });
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: served.url });
    const fill = async (): Promise<void> => {
      for (let n = 0; n <= 100; n++) await sluice.setInbox(`inbox-${n}`);
    };
    await expect(fill()).rejects.toMatchObject({
      status: 409,
      code: 'conflict',
      message: expect.stringMatching(/maximum number of inboxes.*Delete one/),
    });
    const createStream = () =>
      client.streams.create({
        webhookUrl: toInboxUrl('another'),
        description: '',
        tag: '',
        chainIds: [CHAIN],
      });
    await expect(createStream()).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('maximum number of inboxes'),
    });
    expect(await sluice.listInboxes()).toHaveLength(100);
    expect(await sluice.setInbox('inbox-0', { status: 201 })).toMatchObject({
      name: 'inbox-0',
    });

    await sluice.deleteInbox('inbox-0');
    await createStream();
    for (const { name } of await sluice.listInboxes()) await sluice.deleteInbox(name);
  });
});
