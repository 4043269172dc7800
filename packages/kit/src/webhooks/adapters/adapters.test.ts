/** Runs the same suite for every adapter, with its real framework and a socket. */
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toExpress } from './express.ts';
import { toFastify } from './fastify.ts';
import { createHandler } from '../handler/handler.ts';
import type { WebhookHandler } from '../handler/types.ts';
import { toHono } from './hono.ts';
import { toNodeListener } from './node.ts';
import { createFakeSender, sampleWebhook, signedHeaders, signedRequest } from '../testing.ts';

const SECRET = 'the streams secret';
const MAX_BYTES = 200_000;
const WEBHOOK = sampleWebhook('erc20-transfer', { tag: 'é ☕ \\" "q"' });
/** A webhook that is larger than a socket chunk and the default limit of `express.json`. */
const LARGE = { ...WEBHOOK, tag: 'ü'.repeat(75_000) };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Starts a server and returns its base URL. */
async function serve(listener: Listener): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Creates a Node listener that runs a web handler, like Workers, Bun, Deno and Next. */
const overWeb =
  (fetch: (request: Request) => Response | Promise<Response>): Listener =>
  async (incoming, outgoing) => {
    const { method = 'GET', headers, url = '/' } = incoming;
    const body = method === 'GET' ? null : incoming;
    const init = { method, headers, body, duplex: 'half' } as unknown as RequestInit;
    const response = await fetch(new Request(`http://localhost${url}`, init));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  };

const runFastify = async (app: ReturnType<typeof fastify>): Promise<string> => {
  cleanups.push(() => app.close());
  return await app.listen({ port: 0, host: '127.0.0.1' });
};

const ADAPTERS: Record<string, (handler: WebhookHandler) => Promise<string>> = {
  'node:http': (handler) => serve(toNodeListener(handler)),
  'Express 5': (handler) => serve(express().post('/webhooks', toExpress(handler))),
  'Express 5, before a JSON parser': (handler) =>
    serve(express().post('/webhooks', toExpress(handler)).use(express.json())),
  'Express 5, after express.raw': (handler) =>
    serve(
      express()
        .use(express.raw({ type: '*/*', limit: '1mb' }))
        .post('/webhooks', toExpress(handler)),
    ),
  'Express 5, after a JSON parser that keeps rawBody': (handler) =>
    serve(
      express()
        .use(
          express.json({
            limit: '1mb',
            verify: (request, _response, buffer) => Object.assign(request, { rawBody: buffer }),
          }),
        )
        .post('/webhooks', toExpress(handler)),
    ),
  'Fastify 5': async (handler) =>
    runFastify(fastify().register(toFastify(handler, { path: '/webhooks' }))),
  'Fastify 5, with a prefix': async (handler) =>
    runFastify(fastify().register(toFastify(handler), { prefix: '/webhooks' })),
  Hono: (handler) => serve(overWeb(new Hono().post('/webhooks', toHono(handler)).fetch)),
  'Hono, after middleware that read the body': (handler) =>
    serve(
      overWeb(
        new Hono()
          .use(async (context, next) => {
            await context.req.text();
            await next();
          })
          .post('/webhooks', toHono(handler)).fetch,
      ),
    ),
  'Hono, after middleware that parsed the body': (handler) =>
    serve(
      overWeb(
        new Hono()
          .use(async (context, next) => {
            await context.req.json();
            await next();
          })
          .post('/webhooks', toHono(handler)).fetch,
      ),
    ),
  'the handler itself': (handler) => serve(overWeb(handler)),
};

describe.each(Object.entries(ADAPTERS))('%s', (name, start) => {
  async function startTested() {
    const onError = vi.fn();
    const onWebhook = vi.fn();
    const handler = createHandler({ secret: SECRET, maxBodyBytes: MAX_BYTES, onError });
    handler.onWebhook(onWebhook);
    const url = `${await start(handler)}/webhooks`;
    const unverified = ['receipts'];
    const sender = createFakeSender({ to: url, secret: SECRET, scheduleMs: [0], unverified });
    return { url, sender, onError, onWebhook };
  }

  it.each([
    ['a webhook', WEBHOOK],
    ['a large webhook', LARGE],
  ])('passes on %s unchanged', async (_, webhook) => {
    const { sender, onWebhook } = await startTested();
    const { delivered, attempts } = await sender.send(webhook, { id: 'one' });
    expect(attempts[0]).toMatchObject({ status: 200, body: '{"message":"Handled"}' });
    expect(delivered).toBe(true);
    expect(onWebhook).toHaveBeenCalledExactlyOnceWith(
      webhook,
      expect.objectContaining({
        id: 'one',
        verifiedBy: 'webhook-signature',
        unverified: ['receipts'],
      }),
    );
    expect((await sender.send(webhook, { id: 'one' })).delivered).toBe(true);
    expect(onWebhook).toHaveBeenCalledOnce();
  });

  it('responds to the test webhook, failures and forgeries', async () => {
    const { url, sender, onWebhook, onError } = await startTested();
    expect((await sender.send(sampleWebhook('test'))).delivered).toBe(true);
    onWebhook.mockRejectedValueOnce(new Error('secret detail'));
    const { attempts } = await sender.send(WEBHOOK);
    expect(attempts.map((it) => it.status)).toEqual([500, 200]);
    expect(attempts[0]?.body).toBe('{"message":"The handler failed"}');
    expect(onError).toHaveBeenCalledOnce();
    const forged = await fetch(signedRequest({ url, webhook: WEBHOOK, secret: 'guessed' }));
    expect(forged.status).toBe(401);
    expect(forged.headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/);
    // In this setup, the middleware throws for an empty body.
    if (name === 'Hono, after middleware that parsed the body') return;
    const empty = await fetch(url, { method: 'POST', headers: signedHeaders('', { secret: 'x' }) });
    expect(empty.status).toBe(401);
  });

  it('responds 413 to a body that is too large', async () => {
    const { url, onWebhook } = await startTested();
    const body = JSON.stringify({ ...WEBHOOK, tag: 'x'.repeat(MAX_BYTES) });
    for (const chunked of [false, true]) {
      expect(await statusOf(url, body, chunked)).toBe(413);
    }
    expect(onWebhook).not.toHaveBeenCalled();
  });
});

it('node:http responds 413 to a sender that never ends the body', async () => {
  const handler = createHandler({ secret: SECRET, maxBodyBytes: 10, onError: () => undefined });
  const url = await serve(toNodeListener(handler));
  const status = await new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', agent: false }, (response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    request.on('error', reject);
    request.write('x'.repeat(11));
  });
  expect(status).toBe(413);
});

/**
 * Sends a body and returns the status. Uses `node:http`, which also reports a response that arrives
 * while the body is being sent.
 */
function statusOf(url: string, body: string, chunked: boolean): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = signedHeaders(body, { secret: SECRET });
    if (!chunked) headers['content-length'] = String(Buffer.byteLength(body));
    const request = httpRequest(url, { method: 'POST', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
    request.end(body);
  });
}

describe('a body that a parser has consumed', () => {
  const start = async (run: (handler: WebhookHandler) => Promise<string>) => {
    const onError = vi.fn();
    const url = await run(createHandler({ secret: SECRET, onError }));
    return { url: `${url}/webhooks`, onError };
  };

  it.each([
    [
      'Express',
      (handler: WebhookHandler) =>
        serve(express().use(express.json()).post('/webhooks', toExpress(handler))),
    ],
    [
      'Express, with a form parser that consumed the stream',
      (handler: WebhookHandler) =>
        serve(
          express()
            .use((request, _response, next) => {
              request.on('end', () => next());
              request.resume();
            })
            .post('/webhooks', toExpress(handler)),
        ),
    ],
    [
      'Hono',
      (handler: WebhookHandler) =>
        serve(
          overWeb(
            new Hono()
              .use(async (context, next) => {
                await context.req.raw.text();
                await next();
              })
              .post('/webhooks', toHono(handler)).fetch,
          ),
        ),
    ],
  ])('%s: 500 with the fix', async (_, run) => {
    const { url, onError } = await start(run);
    const response = await fetch(signedRequest({ url, webhook: WEBHOOK, secret: SECRET }));
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('before any JSON parser');
    expect(onError.mock.lastCall?.[0]).toMatchObject({ code: 'body_already_parsed' });
  });
});

describe('next to other routes', () => {
  it('Fastify still parses their JSON', async () => {
    const app = fastify();
    app.register(toFastify(createHandler({ secret: SECRET }), { path: '/webhooks' }));
    app.post('/json', (request) => Promise.resolve({ got: request.body }));
    const response = await app.inject({ method: 'POST', url: '/json', payload: { a: 1 } });
    expect(response.json()).toEqual({ got: { a: 1 } });
    const body = JSON.stringify(WEBHOOK);
    const headers = signedHeaders(body, { secret: SECRET });
    const taken = await app.inject({ method: 'POST', url: '/webhooks', headers, payload: body });
    expect(taken.statusCode).toBe(200);
  });
});

it.each(['express', 'fastify', 'hono', 'node', '../testing'])(
  '@sluice/kit/%s imports only files of the kit',
  async (name) => {
    const text = await readFile(new URL(`${name}.ts`, import.meta.url), 'utf8');
    const imported = [...text.matchAll(/ from '([^']+)'/g)].map(([, it]) => it);
    expect(imported.filter((it) => !it?.startsWith('.'))).toEqual([]);
  },
);
