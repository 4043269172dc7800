import * as fc from 'fast-check';
import { erc20Abi, erc721Abi } from 'viem';
import { describe, expect, it, vi } from 'vitest';
import type { EvmWebhook } from '../../contract/shapes.generated.ts';
import { isSluiceError } from '../../errors.ts';
import { DoNotRetry, RetryLater } from '../outcomes.ts';
import { createHandler } from './handler.ts';
import type { HandlerOptions } from './types.ts';
import type { SeenStore } from '../seen.ts';
import { sampleAptosWebhook, sampleWebhook, signedHeaders, signedRequest } from '../testing.ts';
import type { SigningOptions } from '../testing.ts';

const SECRET = 'the streams secret';
const WEBHOOK = sampleWebhook('erc20-transfer');
const UNCONFIRMED = { ...WEBHOOK, confirmed: false };

const post = (webhook: EvmWebhook = WEBHOOK, signing: Partial<SigningOptions> = {}) =>
  signedRequest({ webhook, secret: SECRET, ...signing });

function createTested(options: Partial<HandlerOptions<typeof erc20Abi>> = {}) {
  const onError = vi.fn();
  const all = { secret: SECRET, abi: erc20Abi, onError, ...options };
  return { onError, handler: createHandler<typeof erc20Abi>(all as never) };
}

async function readResponse(response: Promise<Response>) {
  const { status, headers, ...rest } = await response;
  expect(rest).toBeDefined();
  expect(headers.get('content-type')).toBe('application/json');
  return [status, ((await (await response).json()) as { message: string }).message];
}

/** Creates a promise and the function that resolves it. */
function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('calls', () => {
  it('an event listener by name, for a confirmed webhook', async () => {
    const { handler } = createTested();
    const onTransfer = vi.fn();
    const onApproval = vi.fn();
    handler.on('Transfer', onTransfer).on('Approval', onApproval);
    expect(await readResponse(handler(post(WEBHOOK, { id: 'one' })))).toEqual([200, 'Handled']);
    expect(onApproval).not.toHaveBeenCalled();
    expect(onTransfer).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ name: 'Transfer', logIndex: 361, chainId: '0x1' }),
      expect.objectContaining({ id: 'one', webhook: WEBHOOK }),
    );
    expect(onTransfer.mock.lastCall?.[0]).toMatchObject({ args: { value: 250_000_000n } });
  });

  it('a single listener once per pair, and phase listeners for their phase', async () => {
    const { handler } = createTested();
    const calls: string[] = [];
    const note = (text: string) => () => void calls.push(text);
    handler
      .on('Transfer', note('alone'))
      .on('Transfer', { unconfirmed: note('unconfirmed'), confirmed: note('confirmed') })
      .onWebhook({ unconfirmed: note('webhook') });
    await handler(post(UNCONFIRMED));
    expect(calls).toEqual(['unconfirmed', 'webhook']);
    await handler(post(WEBHOOK));
    expect(calls).toEqual(['unconfirmed', 'webhook', 'alone', 'confirmed']);
  });

  it('webhook listeners after event listeners, one at a time', async () => {
    const { handler } = createTested();
    const calls: string[] = [];
    const slowly = (text: string) => async () => {
      calls.push(`${text} begins`);
      await new Promise((resolve) => void setTimeout(resolve, 1));
      calls.push(`${text} ends`);
    };
    const twice = { ...WEBHOOK, logs: WEBHOOK.logs.flatMap((log) => [log, log]) };
    handler.onWebhook(slowly('webhook')).on('Transfer', slowly('event'));
    await handler(post(twice));
    const once = (text: string) => [`${text} begins`, `${text} ends`];
    expect(calls).toEqual([...once('event'), ...once('event'), ...once('webhook')]);
  });

  it('every listener with the codes of an unverified block, and with none otherwise', async () => {
    const { handler } = createTested();
    const calls: [string, readonly string[]][] = [];
    const note =
      (name: string) =>
      (_: unknown, { unverified }: { unverified: readonly string[] }) =>
        void calls.push([name, unverified]);
    handler
      .on('Transfer', { unconfirmed: note('event?'), confirmed: note('event!') })
      .onWebhook({ unconfirmed: note('webhook?'), confirmed: note('webhook!') })
      .onRemoved(note('removed'))
      .onAptosWebhook(note('aptos'));
    const marked = { unverified: ['bloom', 'a-newer-code'] };
    await handler(post(UNCONFIRMED, marked));
    await handler(post(WEBHOOK, marked));
    await handler(post({ ...UNCONFIRMED, removed: true }, marked));
    const aptos = sampleAptosWebhook('coin-transfer');
    await handler(signedRequest({ webhook: aptos, secret: SECRET, ...marked }));
    const names = ['event?', 'webhook?', 'event!', 'webhook!', 'removed', 'aptos'];
    expect(calls).toEqual(names.map((name) => [name, marked.unverified]));
    await handler(signedRequest({ webhook: aptos, secret: SECRET }));
    expect(calls.at(-1)).toEqual(['aptos', []]);
  });

  it('listeners with checksummed addresses on request', async () => {
    const { handler } = createTested({ addresses: 'checksummed' });
    const onTransfer = vi.fn();
    handler.on('Transfer', onTransfer);
    await handler(post());
    expect(onTransfer.mock.lastCall?.[0]).toMatchObject({
      address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    });
  });

  it('onUndecoded for logs that the ABI cannot decode, and listeners for the others', async () => {
    const { handler } = createTested();
    const onUndecoded = vi.fn();
    const onTransfer = vi.fn();
    const strange = sampleWebhook('erc721-transfer').logs;
    handler.on('Transfer', onTransfer).onUndecoded(onUndecoded);
    await handler(post({ ...WEBHOOK, logs: [...strange, ...WEBHOOK.logs] }));
    expect(onTransfer).toHaveBeenCalledOnce();
    expect(onUndecoded.mock.calls[0]?.[0]).toEqual({
      log: strange[0],
      reason: 'indexed-mismatch',
      chainId: '0x1',
    });
  });

  it('listeners with the ABI of the webhook if none is given', async () => {
    const handler = createHandler({ secret: SECRET });
    const onTransfer = vi.fn();
    handler.on('Transfer', onTransfer);
    const webhook = sampleWebhook('erc721-transfer', {
      abi: erc721Abi.filter((it) => it.type === 'event'),
    });
    await handler(post(webhook));
    expect(onTransfer.mock.lastCall?.[0]).toMatchObject({ args: { tokenId: 2947n } });
  });

  it('no event listener for a webhook without logs or an ABI', async () => {
    const onError = vi.fn();
    const handler = createHandler({ secret: SECRET, onError });
    handler.on('Transfer', () => undefined);
    expect((await handler(post(sampleWebhook('native-transfer')))).status).toBe(200);
    expect(onError).not.toHaveBeenCalled();
  });

  it('onUndecoded with every log if there is no ABI', async () => {
    const onError = vi.fn();
    const onUndecoded = vi.fn();
    const handler = createHandler({ secret: SECRET, onError });
    handler.on('Transfer', () => undefined).onUndecoded(onUndecoded);
    expect(await readResponse(handler(post(WEBHOOK)))).toEqual([200, 'Handled']);
    const [log] = WEBHOOK.logs;
    expect(onUndecoded.mock.calls.map(([each]) => each as unknown)).toEqual([
      { log, reason: 'unknown-event', chainId: '0x1' },
    ]);
    expect(onError).not.toHaveBeenCalled();
  });

  it.each([[[]], [null], [{}]])(
    'no event listener if the ABI of the webhook is %j, with one warning per stream',
    async (abi) => {
      const onError = vi.fn();
      const onTransfer = vi.fn();
      const onWebhook = vi.fn();
      const handler = createHandler({ secret: SECRET, onError });
      handler.on('Transfer', onTransfer).onWebhook(onWebhook);
      const streams = ['one', 'two'].map((part) => WEBHOOK.streamId.replace(/^.{3}/, part));
      for (const streamId of [...streams, ...streams]) {
        const webhook = { ...WEBHOOK, streamId, abi: abi as never };
        expect(await readResponse(handler(post(webhook)))).toEqual([200, 'Handled']);
      }
      expect(onTransfer).not.toHaveBeenCalled();
      expect(onWebhook).toHaveBeenCalledTimes(4);
      expect(onError).toHaveBeenCalledTimes(2);
      for (const [at, streamId] of streams.entries()) {
        const [error, delivery] = onError.mock.calls[at] as [Error, { webhook: EvmWebhook }];
        expect(isSluiceError(error, 'missing_abi')).toBe(true);
        expect(error.message).toContain(streamId);
        expect(delivery.webhook.streamId).toBe(streamId);
      }
    },
  );

  it('listeners only for events in the ABI, rejecting other names', () => {
    const { handler } = createTested();
    let thrown: unknown;
    try {
      handler.on('Tranfser' as 'Transfer', () => undefined);
    } catch (error) {
      thrown = error;
    }
    expect(isSluiceError(thrown, 'invalid_argument')).toBe(true);
    expect(thrown).toHaveProperty('message', 'The ABI has no event Tranfser');
  });

  it('no listener for the test webhook', async () => {
    const { handler } = createTested();
    const onWebhook = vi.fn();
    handler.onWebhook({ unconfirmed: onWebhook, confirmed: onWebhook });
    const request = post(sampleWebhook('test'));
    expect(await readResponse(handler(request))).toEqual([200, 'Test webhook received']);
    expect(onWebhook).not.toHaveBeenCalled();
  });
});

describe('duplicates', () => {
  it('get a 200 and are not handled', async () => {
    const { handler } = createTested();
    const onWebhook = vi.fn();
    handler.onWebhook(onWebhook);
    await handler(post(WEBHOOK, { id: 'one' }));
    const again = post({ ...WEBHOOK, retries: 1 }, { id: 'one' });
    expect(await readResponse(handler(again))).toEqual([200, 'Handled before']);
    await handler(post(WEBHOOK, { id: 'two' }));
    expect(onWebhook).toHaveBeenCalledTimes(2);
  });

  it('from a hosted sender are recognized by their content', async () => {
    const { handler } = createTested({ allowXSignature: true });
    const onWebhook = vi.fn();
    handler.onWebhook(onWebhook);
    for (const retries of [0, 1, 2]) {
      await handler(post({ ...WEBHOOK, retries }, { sender: 'hosted' }));
    }
    expect(onWebhook).toHaveBeenCalledOnce();
  });

  it('wait for the one in progress and share its response', async () => {
    const { handler } = createTested();
    const gate = createGate();
    const onWebhook = vi.fn(() => gate.opened);
    handler.onWebhook(onWebhook);
    const responses = [1, 2, 3].map(() => handler(post(WEBHOOK, { id: 'one' })));
    await expect.poll(() => onWebhook.mock.calls.length).toBeGreaterThan(0);
    const pending = await Promise.race([...responses, Promise.resolve('pending')]);
    expect(pending).toBe('pending');
    gate.open();
    const statuses = (await Promise.all(responses)).map((it) => it.status);
    expect(statuses).toEqual([200, 200, 200]);
    expect(onWebhook).toHaveBeenCalledOnce();
  });

  it('share a failure, which leaves the id unseen', async () => {
    const { handler } = createTested();
    const gate = createGate();
    const onWebhook = vi.fn(async () => {
      await gate.opened;
      if (onWebhook.mock.calls.length === 1) throw new Error('database is down');
    });
    handler.onWebhook(onWebhook);
    const responses = [1, 2].map(() => handler(post(WEBHOOK, { id: 'one' })));
    gate.open();
    expect((await Promise.all(responses)).map((it) => it.status)).toEqual([500, 500]);
    expect((await handler(post(WEBHOOK, { id: 'one' }))).status).toBe(200);
    expect(onWebhook).toHaveBeenCalledTimes(2);
  });

  it('are recorded in the given store after the handler resolves', async () => {
    const ids = new Set<string>();
    const store: SeenStore = {
      has: (id) => Promise.resolve(ids.has(id)),
      add: (id) => Promise.resolve(ids.add(id)),
    };
    const { handler } = createTested({ seen: store });
    handler.onWebhook(() => expect([...ids]).toEqual([]));
    await handler(post(WEBHOOK, { id: 'one' }));
    expect([...ids]).toEqual(['one']);
    const { handler: other } = createTested({ seen: store });
    expect(await readResponse(other(post(WEBHOOK, { id: 'one' })))).toEqual([
      200,
      'Handled before',
    ]);
  });

  it('get a 500 if the store cannot be read, and a 200 if it cannot be written', async () => {
    const down = new Error('redis is down');
    const fail = () => Promise.reject(down);
    const onWebhook = vi.fn();
    const blind = createTested({ seen: { has: fail, add: fail } });
    blind.handler.onWebhook(onWebhook);
    expect(await readResponse(blind.handler(post()))).toEqual([500, 'The handler failed']);
    expect(onWebhook).not.toHaveBeenCalled();
    expect(blind.onError).toHaveBeenCalledExactlyOnceWith(down, expect.anything());
    const forgetful = createTested({ seen: { has: () => false, add: fail } });
    forgetful.handler.onWebhook(onWebhook);
    expect((await forgetful.handler(post())).status).toBe(200);
    expect(forgetful.onError).toHaveBeenCalledExactlyOnceWith(down, expect.anything());
  });

  it('are handled again with `seen: false`', async () => {
    const { handler } = createTested({ seen: false });
    const onWebhook = vi.fn();
    handler.onWebhook({ unconfirmed: onWebhook, confirmed: onWebhook });
    for (const webhook of [WEBHOOK, WEBHOOK, UNCONFIRMED]) {
      await handler(post(webhook, { id: 'one' }));
    }
    expect(onWebhook).toHaveBeenCalledTimes(3);
  });
});

describe('pairs', () => {
  const createPaired = () => {
    const calls: string[] = [];
    const note = (text: string) => () => void calls.push(text);
    const { handler } = createTested();
    handler
      .onWebhook({ unconfirmed: note('unconfirmed'), confirmed: note('confirmed') })
      .onWebhook({ unconfirmed: note('unconfirmed alone') });
    return { handler, calls };
  };

  it('skip an unconfirmed webhook that arrives after its confirmed one', async () => {
    const { handler, calls } = createPaired();
    await handler(post(WEBHOOK));
    expect((await handler(post(UNCONFIRMED))).status).toBe(200);
    expect(calls).toEqual(['confirmed', 'unconfirmed alone']);
  });

  it('are identified by stream, chain, block and part', async () => {
    const { handler, calls } = createPaired();
    await handler(post(WEBHOOK));
    const block = { ...WEBHOOK.block, hash: '0x01' };
    for (const change of [{ streamId: 'x' }, { chainId: '0x2' }, { block }]) {
      calls.length = 0;
      await handler(post({ ...UNCONFIRMED, ...change }));
      expect(calls).toEqual(['unconfirmed', 'unconfirmed alone']);
    }
    calls.length = 0;
    const request = post(UNCONFIRMED);
    request.headers.set('x-sluice-part', '2/2');
    await handler(request);
    expect(calls).toEqual(['unconfirmed', 'unconfirmed alone']);
    calls.length = 0;
    await handler(post({ ...UNCONFIRMED, logs: [], reads: sampleWebhook('read').reads! }));
    expect(calls).toEqual(['unconfirmed', 'unconfirmed alone']);
  });

  it('never run at the same time', async () => {
    const { handler } = createTested();
    const gate = createGate();
    const calls: string[] = [];
    handler.onWebhook({
      unconfirmed: async () => {
        calls.push('unconfirmed begins');
        await gate.opened;
        calls.push('unconfirmed ends');
      },
      confirmed: () => void calls.push('confirmed'),
    });
    const responses = [handler(post(UNCONFIRMED)), handler(post(WEBHOOK))];
    await expect.poll(() => calls).toEqual(['unconfirmed begins']);
    await new Promise((resolve) => void setTimeout(resolve, 5));
    gate.open();
    await Promise.all(responses);
    expect(calls).toEqual(['unconfirmed begins', 'unconfirmed ends', 'confirmed']);
  });

  it('ignore a confirmed webhook that failed', async () => {
    const { handler } = createTested();
    const unconfirmed = vi.fn();
    handler.onWebhook({ unconfirmed, confirmed: () => Promise.reject(new Error('no')) });
    await handler(post(WEBHOOK));
    await handler(post(UNCONFIRMED));
    expect(unconfirmed).toHaveBeenCalledOnce();
  });
});

describe('a removal webhook', () => {
  const REMOVED = { ...UNCONFIRMED, removed: true } as const;

  const createNoting = (options: Parameters<typeof createTested>[0] = {}) => {
    const calls: string[] = [];
    const note = (text: string) => () => void calls.push(text);
    const { handler } = createTested(options);
    handler
      .on('Transfer', { unconfirmed: note('event?'), confirmed: note('event!') })
      .onUndecoded({ unconfirmed: note('undecoded') })
      .onWebhook({ unconfirmed: note('webhook?'), confirmed: note('webhook!') });
    return { handler, calls };
  };

  it('calls only onRemoved', async () => {
    const { handler, calls } = createNoting();
    const onRemoved = vi.fn();
    handler.onRemoved(onRemoved);
    expect(await readResponse(handler(post(REMOVED, { id: 'gone' })))).toEqual([200, 'Handled']);
    expect(onRemoved).toHaveBeenCalledExactlyOnceWith(
      REMOVED,
      expect.objectContaining({ id: 'gone', isTest: false }),
    );
    expect(calls).toEqual([]);
  });

  it.each([{}, { seen: false } as const])(
    'calls nothing without onRemoved: %j',
    async (options) => {
      const { handler, calls } = createNoting(options);
      expect(await readResponse(handler(post(REMOVED)))).toEqual([200, 'Handled']);
      expect(calls).toEqual([]);
    },
  );

  it('is handled once per id, and again after a failure', async () => {
    const { handler } = createTested();
    const onRemoved = vi.fn().mockRejectedValueOnce(new Error('down'));
    handler.onRemoved(onRemoved);
    const statuses: number[] = [];
    for (let count = 0; count < 3; count++) {
      statuses.push((await handler(post(REMOVED, { id: 'gone' }))).status);
    }
    expect(statuses).toEqual([500, 200, 200]);
    expect(onRemoved).toHaveBeenCalledTimes(2);
  });

  it('waits for the delivery that it removes', async () => {
    const { handler } = createTested();
    const gate = createGate();
    const calls: string[] = [];
    handler
      .onWebhook({
        unconfirmed: async () => {
          calls.push('stores');
          await gate.opened;
          calls.push('stored');
        },
      })
      .onRemoved(() => void calls.push('removed'));
    const responses = [handler(post(UNCONFIRMED)), handler(post(REMOVED))];
    await expect.poll(() => calls).toEqual(['stores']);
    gate.open();
    await Promise.all(responses);
    expect(calls).toEqual(['stores', 'stored', 'removed']);
  });

  it('lets a block that returns be handled again', async () => {
    const { handler, calls } = createNoting();
    handler.onRemoved(() => void calls.push('removed'));
    for (const webhook of [WEBHOOK, UNCONFIRMED, REMOVED, UNCONFIRMED, WEBHOOK]) {
      await handler(post(webhook));
    }
    expect(calls).toEqual([
      ...['event!', 'webhook!'],
      'removed',
      ...['event?', 'webhook?'],
      ...['event!', 'webhook!'],
    ]);
  });
});

describe('an error in a listener', () => {
  it('responds 500 and is passed only to onError', async () => {
    const { handler, onError } = createTested();
    const error = new Error('password is hunter2');
    handler.onWebhook(() => {
      throw error;
    });
    expect(await readResponse(handler(post(WEBHOOK, { id: 'one' })))).toEqual([
      500,
      'The handler failed',
    ]);
    expect(onError).toHaveBeenCalledExactlyOnceWith(error, expect.objectContaining({ id: 'one' }));
  });

  it('responds 500 even if onError throws', async () => {
    const { handler } = createTested({
      onError: () => {
        throw new Error('no log');
      },
    });
    handler.onWebhook(() => Promise.reject(new Error('x')));
    expect((await handler(post())).status).toBe(500);
  });

  it('is logged to the console without onError', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const handler = createHandler({ secret: SECRET }).onWebhook(() => {
      throw new Error('x');
    });
    await handler(post());
    expect(log).toHaveBeenCalledOnce();
    log.mockRestore();
  });

  it.each([
    [undefined, '60'],
    [30_000, '30'],
    [1, '1'],
    [1500, '2'],
    [Infinity, '86400'],
  ])(
    'RetryLater after %s ms: 503 with Retry-After %s, then handled again',
    async (afterMs, seconds) => {
      const { handler, onError } = createTested();
      const onWebhook = vi.fn(() => {
        throw new RetryLater('the queue is full', { afterMs });
      });
      handler.onWebhook(onWebhook);
      const response = handler(post(WEBHOOK, { id: 'one' }));
      expect(await readResponse(response)).toEqual([503, 'Retry later']);
      expect((await response).headers.get('retry-after')).toBe(seconds);
      await handler(post(WEBHOOK, { id: 'one' }));
      expect(onWebhook).toHaveBeenCalledTimes(2);
      expect(onError).not.toHaveBeenCalled();
    },
  );

  it.each([0, -1, Number.NaN])('RetryLater rejects an afterMs of %d', (afterMs) => {
    expect(() => new RetryLater('x', { afterMs })).toThrow('afterMs must be above 0');
  });

  it('DoNotRetry: 200, then not handled again', async () => {
    const { handler, onError } = createTested();
    const onWebhook = vi.fn(() => Promise.reject(new DoNotRetry('unknown tenant')));
    handler.onWebhook(onWebhook);
    expect(await readResponse(handler(post(WEBHOOK, { id: 'one' })))).toEqual([200, 'Dropped']);
    await handler(post(WEBHOOK, { id: 'one' }));
    expect(onWebhook).toHaveBeenCalledOnce();
    expect(onError).not.toHaveBeenCalled();
  });
});

describe('rejects', () => {
  const uncalled = (options?: Partial<HandlerOptions<typeof erc20Abi>>) => {
    const tested = createTested(options);
    const onWebhook = vi.fn();
    tested.handler.onWebhook({ unconfirmed: onWebhook, confirmed: onWebhook });
    return { ...tested, onWebhook };
  };

  it.each(['GET', 'PUT', 'DELETE'])('%s with 405', async (method) => {
    const { handler } = uncalled();
    const response = handler(new Request('http://localhost', { method }));
    expect(await readResponse(response)).toEqual([405, 'Webhooks are sent by POST']);
    expect((await response).headers.get('allow')).toBe('POST');
  });

  it('a forged signature with 401, and passes the diagnosis to onError', async () => {
    const { handler, onError, onWebhook } = uncalled();
    const response = handler(post(WEBHOOK, { secret: 'guessed' }));
    expect(await readResponse(response)).toEqual([401, 'Signature is not valid']);
    expect(onWebhook).not.toHaveBeenCalled();
    const [error] = onError.mock.lastCall ?? [];
    expect(isSluiceError(error, 'invalid_signature')).toBe(true);
    expect(error).toMatchObject({ details: { reason: 'mismatch', problem: 'wrong-secret' } });
    expect(JSON.stringify(error)).not.toContain(SECRET);
  });

  it('webhooks with a secret that was rotated, with one report that says so', async () => {
    const { handler, onError } = uncalled();
    await handler(post());
    const send = () => handler(post(WEBHOOK, { secret: 'the new secret' }));
    await Promise.all([send(), send(), send()]);
    expect(onError).toHaveBeenCalledOnce();
    expect(onError.mock.lastCall?.[0]).toMatchObject({
      details: { problem: 'wrong-secret' },
      hint: expect.stringContaining('rotated') as string,
    });
  });

  it('an old request with 401', async () => {
    const { handler } = uncalled();
    const sentAt = new Date(Date.now() - 301_000);
    const result = await readResponse(handler(post(WEBHOOK, { sentAt })));
    expect(result).toEqual([401, 'The webhook was sent too long ago']);
  });

  it('an x-signature alone with 401, unless allowed', async () => {
    const { handler } = uncalled();
    expect((await handler(post(WEBHOOK, { sender: 'hosted' }))).status).toBe(401);
  });

  it('a signed body that is not a webhook with 400', async () => {
    const { handler } = uncalled();
    const response = await handler(signedRequest({ body: '{"n":1}', secret: SECRET }));
    expect(response.status).toBe(400);
  });

  it('a body that is too large with 413, with or without a content-length', async () => {
    const { handler, onError } = uncalled({ maxBodyBytes: 1000 });
    const body = 'x'.repeat(1001);
    const declared = { 'content-length': '1001' };
    const cancel = vi.fn();
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(600)),
      cancel,
    });
    const unread = { [Symbol.asyncIterator]: () => expect.unreachable('the body was read') };
    for (const request of [
      { headers: declared, body: unread },
      { headers: {}, body },
      { headers: {}, body: new Response(body).body },
    ]) {
      const { status, headers } = await handler.receive(request);
      expect([status, headers['connection']]).toEqual([413, 'close']);
    }
    const init = { method: 'POST', body: endless, duplex: 'half' } as RequestInit;
    expect((await handler(new Request('http://localhost', init))).status).toBe(413);
    expect(cancel).toHaveBeenCalledOnce();
    expect(onError.mock.lastCall?.[0]).toMatchObject({ code: 'payload_too_large' });
  });

  it('an incomplete body with 400', async () => {
    const { handler } = uncalled();
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error('reset')),
    });
    const request = new Request('http://localhost', {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit);
    expect(await readResponse(handler(request))).toEqual([400, 'The body is incomplete']);
  });

  it('a body that was already read or parsed with 500 and the fix', async () => {
    const { handler, onError } = uncalled();
    const used = post();
    await used.text();
    const locked = post();
    locked.body?.getReader();
    for (const request of [used, locked]) {
      const [status, message] = await readResponse(handler(request));
      expect(status).toBe(500);
      expect(message).toContain('before any JSON parser');
    }
    const headers = signedHeaders('{}', { secret: SECRET });
    expect((await handler.receive({ headers, body: { parsed: true } })).status).toBe(500);
    expect(onError.mock.lastCall?.[0]).toMatchObject({ code: 'body_already_parsed' });
  });

  it('a large forgery without a diagnosis', async () => {
    const { handler, onError } = uncalled();
    const webhook = { ...WEBHOOK, tag: 'x'.repeat(1024 * 1024) };
    expect((await handler(post(webhook, { secret: 'guessed' }))).status).toBe(401);
    expect(onError.mock.lastCall?.[0]).toMatchObject({ details: { reason: 'mismatch' } });
    expect(onError.mock.lastCall?.[0]).not.toHaveProperty('details.problem');
  });

  it('invalid options at creation', () => {
    expect(() => createHandler({ secret: '' })).toThrow('Unable to verify signature');
    for (const wrong of [{ toleranceMs: Number.NaN }, { maxBodyBytes: 0 }]) {
      expect(() => createHandler({ secret: SECRET, ...wrong })).toThrow('must be');
    }
  });

  it('any unsigned input with a response, without calling a listener', async () => {
    const { handler, onWebhook } = uncalled({ allowXSignature: true });
    const header = fc.oneof(fc.string(), fc.constant(undefined), fc.array(fc.string()));
    const names = [
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'x-signature',
      'content-length',
    ];
    const headers = fc.dictionary(fc.constantFrom(...names), header);
    const body = fc.oneof(fc.anything(), fc.uint8Array(), fc.json());
    await fc.assert(
      fc.asyncProperty(
        body,
        headers,
        fc.constantFrom('POST', 'GET', undefined),
        async (body, headers, method) => {
          const { status } = await handler.receive({ method, headers, body });
          expect([400, 401, 405, 413, 500]).toContain(status);
        },
      ),
      { numRuns: 1000 },
    );
    expect(onWebhook).not.toHaveBeenCalled();
  });
});

describe('receive', () => {
  it('checks the timestamp as of the time at which the webhook was received', async () => {
    const { handler } = createTested();
    const sentAt = new Date(Date.now() - 3_600_000);
    const body = JSON.stringify(WEBHOOK);
    const headers = signedHeaders(body, { secret: SECRET, sentAt });
    expect(await handler.receive({ headers, body })).toMatchObject({ status: 401 });
    const receivedAt = sentAt.getTime() + 1_000;
    expect(await handler.receive({ headers, body, receivedAt })).toMatchObject({ status: 200 });
  });

  it('accepts chunks of bytes or text, and an empty body', async () => {
    const { handler } = createTested();
    const body = JSON.stringify({ ...WEBHOOK, tag: 'é ☕' });
    const bytes = new TextEncoder().encode(body);
    async function* chunks(size: number) {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    async function* text() {
      yield body.slice(0, 7);
      yield body.slice(7);
    }
    for (const chunked of [chunks(1), chunks(700), chunks(1e6), text()]) {
      const headers = signedHeaders(body, { secret: SECRET });
      expect((await handler.receive({ headers, body: chunked })).status).toBe(200);
    }
    const empty = { headers: {}, body: new Response(null).body ?? '' };
    expect((await handler.receive(empty)).status).toBe(401);
  });
});
