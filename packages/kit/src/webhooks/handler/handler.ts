/**
 * A webhook handler for every framework: verifies webhooks, drops duplicates, decodes logs, calls
 * the registered functions, and responds.
 *
 * Responses, in order of the checks:
 * 1. not a POST: 405; too large: 413; incomplete: 400; already parsed: 500;
 * 2. wrong signature or timestamp: 401; signed, but not a webhook: 400;
 * 3. the test webhook: 200, and no function is called;
 * 4. a duplicate of a delivery in progress: the same response as for that delivery;
 * 5. a delivery that was handled before: 200, and no function is called;
 * 6. otherwise, the registered functions are called in order:
 *    - all functions succeed: 200, and the id counts as handled;
 *    - `DoNotRetry` is thrown: 200, and the id counts as handled;
 *    - `RetryLater` is thrown: 503 with `Retry-After`;
 *    - any other error is thrown: 500. Only `onError` gets the error.
 */
import type { AbiItem } from '../../contract/shapes.generated.ts';
import { SluiceError } from '../../errors.ts';
import { createHandlerParts } from '../../families/handler.ts';
import type { AnyAbi } from '../../families/handlerMethods.ts';
import type { AnyReceived } from '../../families/webhooks.ts';
import { readHeader } from '../adapters/headers.ts';
import type { WebhookHeaders } from '../adapters/headers.ts';
import { chunksOf, readBody } from '../adapters/readBody.ts';
import type { ReadBody } from '../adapters/readBody.ts';
import { createMemorySeenStore } from '../seen.ts';
import type { SeenStore } from '../seen.ts';
import { diagnose } from '../diagnose.ts';
import { secretsOf, toleranceOf, unwrap } from '../unwrap.ts';
import { markHandled } from './attempt.ts';
import { toRejectedResponse, refuseBody, createReporter, createResponse } from './reporter.ts';
import type {
  WebhookResponse,
  HandlerOptions,
  HandlerRules,
  IncomingWebhook,
  ReadRequest,
  Verifier,
  WebhookHandler,
} from './types.ts';

/**
 * Creates a handler for web requests, to export in Next (`export const POST = handler`) and in
 * Workers, Bun and Deno (`export default { fetch: handler }`). For Express, Fastify, Hono and
 * `node:http`, wrap it with an adapter such as `@sluice/kit/express`.
 *
 * The registered functions must finish within 15 seconds, or the attempt fails. Move long-running
 * work to a queue. If one of them fails, the complete webhook is sent again, so they must be
 * idempotent.
 *
 * @example
 * ```ts
 * const handler = createHandler({ secret, abi: erc20Abi }).on('Transfer', async ({ args }) => {
 *   await credit(args.to, args.value);
 * });
 * ```
 *
 * @throws SluiceError `missing_secret` without a secret, `invalid_argument` for a number out of
 * bounds.
 */
export function createHandler<const A extends AnyAbi = readonly AbiItem[]>(
  options: HandlerOptions<A>,
): WebhookHandler<A> {
  toleranceOf(options);
  secretsOf(options);
  return toHandler(options, {
    verify: (request) => unwrap({ ...options, ...request, family: 'any' }),
    diagnose: (request) => diagnose({ ...options, ...request }),
  });
}

/** Creates a handler whose requests are verified by `verifier`. */
export function toHandler<A extends AnyAbi>(
  options: HandlerRules<A>,
  verifier: Verifier,
): WebhookHandler<A> {
  const { seen = createMemorySeenStore(), maxBodyBytes = 50 * 1024 * 1024 } = options;
  if (!(maxBodyBytes >= 1)) {
    const hint = 'Leave it out for 50 MiB.';
    throw new SluiceError('invalid_argument', 'maxBodyBytes must be 1 or more', { hint });
  }
  const reporter = createReporter(options.onError, verifier);
  const underWay = new Map<string, Promise<WebhookResponse>>();

  const receive = async ({ method = 'POST', headers, body, receivedAt }: IncomingWebhook) => {
    if (method !== 'POST')
      return createResponse(405, 'Webhooks are sent by POST', { allow: 'POST' });
    const declared = Number(readHeader(headers, 'content-length') ?? 0);
    const read: ReadBody =
      declared > maxBodyBytes ? { failed: 'too-large' } : await readBody(body, maxBodyBytes);
    if ('failed' in read) return refuseBody(read.failed, maxBodyBytes, reporter);
    const request: ReadRequest = { headers, body: read.raw };
    if (receivedAt !== undefined) request.now = () => receivedAt;
    let delivery: AnyReceived;
    try {
      delivery = await verifier.verify(request);
    } catch (error) {
      await reporter.refused(error, request);
      return toRejectedResponse(error);
    }
    if (delivery.isTest) return createResponse(200, 'Test webhook received');
    if (seen === false) return await handle(delivery, headers);
    return await once(delivery, headers, seen);
  };

  const once = (delivery: AnyReceived, headers: WebhookHeaders, store: SeenStore) => {
    const { id } = delivery;
    let handling = underWay.get(id);
    if (handling === undefined) {
      handling = (async () => {
        try {
          if (await store.has(id)) return createResponse(200, 'Handled before');
        } catch (error) {
          reporter.failed(error, delivery);
          return createResponse(500, 'The handler failed');
        }
        const result = await handle(delivery, headers);
        if (result.status === 200) await markHandled(reporter, store, id, delivery);
        return result;
      })().finally(() => underWay.delete(id));
      underWay.set(id, handling);
    }
    return handling;
  };

  const { methods, handle } = createHandlerParts(options, seen, reporter, () => handler);

  const handler = Object.assign(
    async (request: Request) => toResponse(await receive(fromRequest(request))),
    methods,
    { receive, maxBodyBytes },
  ) as unknown as WebhookHandler<A>;
  return handler;
}

function fromRequest(request: Request): IncomingWebhook {
  const { method, headers, body } = request;
  const isTaken = request.bodyUsed || body?.locked;
  return { method, headers, body: isTaken ? undefined : body ? chunksOf(body) : '' };
}

/** Converts a response to a web `Response`, for adapters. */
export const toResponse = ({ status, headers, body }: WebhookResponse): Response =>
  new Response(body, { status, headers });
