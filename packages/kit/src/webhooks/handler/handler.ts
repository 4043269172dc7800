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
import { WEBHOOK_HEADERS } from '../../contract/rules/signature.ts';
import type { AbiItem, AptosWebhook } from '../../contract/shapes.generated.ts';
import { SluiceError } from '../../errors.ts';
import { isDoNotRetry, isRetryLater } from '../outcomes.ts';
import { decodeKnown, hasItems } from '../decode.ts';
import type { DecodedLog, UndecodedLog } from '../decode.ts';
import { readHeader } from '../adapters/headers.ts';
import type { WebhookHeaders } from '../adapters/headers.ts';
import { chunksOf, readBody } from '../adapters/readBody.ts';
import type { ReadBody } from '../adapters/readBody.ts';
import { createMemorySeenStore } from '../seen.ts';
import type { SeenStore } from '../seen.ts';
import { diagnose } from '../diagnose.ts';
import { isAptosWebhook, secretsOf, toleranceOf, unwrap } from '../unwrap.ts';
import type { ReceivedAptosWebhook, ReceivedWebhook } from '../unwrap.ts';
import { refuse, refuseBody, createReporter, createResponse, type Reporter } from './reporter.ts';
import type {
  WithChainId,
  WebhookResponse,
  HandlerOptions,
  HandlerRules,
  AnyAbi,
  HandlerFunction,
  HandlerFunctions,
  AnyReceived,
  IncomingWebhook,
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
  const { abi, seen = createMemorySeenStore(), maxBodyBytes = 50 * 1024 * 1024 } = options;
  if (!(maxBodyBytes >= 1)) {
    const hint = 'Leave it out for 50 MiB.';
    throw new SluiceError('invalid_argument', 'maxBodyBytes must be 1 or more', { hint });
  }
  const registered: Registered = {
    events: new Map(),
    undecoded: [],
    webhooks: [],
    removed: [],
    aptos: [],
  };
  const reporter = createReporter(options.onError, verifier);
  const streamsWithoutAbi = new Set<string>();
  const underWay = new Map<string, Promise<WebhookResponse>>();

  const receive = async ({ method = 'POST', headers, body }: IncomingWebhook) => {
    if (method !== 'POST')
      return createResponse(405, 'Webhooks are sent by POST', { allow: 'POST' });
    const declared = Number(readHeader(headers, 'content-length') ?? 0);
    const read: ReadBody =
      declared > maxBodyBytes ? { failed: 'too-large' } : await readBody(body, maxBodyBytes);
    if ('failed' in read) return refuseBody(read.failed, maxBodyBytes, reporter);
    const request = { headers, body: read.raw };
    let delivery: AnyReceived;
    try {
      delivery = await verifier.verify(request);
    } catch (error) {
      await reporter.refused(error, request);
      return refuse(error);
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
        if (result.status === 200) await remember(reporter, store, id, delivery);
        return result;
      })().finally(() => underWay.delete(id));
      underWay.set(id, handling);
    }
    return handling;
  };

  const inTurn = createTurns();

  const handle = (delivery: AnyReceived, headers: WebhookHeaders): Promise<WebhookResponse> =>
    isAptos(delivery)
      ? attempt(reporter, delivery, async () => {
          for (const each of registered.aptos) await each(delivery.webhook, delivery);
        })
      : handleEvm(delivery, headers);

  const handleEvm = (delivery: ReceivedWebhook, headers: WebhookHeaders) => {
    const pair = pairId(delivery, headers);
    return inTurn(pair, () =>
      attempt(reporter, delivery, async () => {
        const { confirmed, removed, streamId } = delivery.webhook;
        const isPaired = seen !== false && hasPairs(registered);
        const removal = `${pair}.removed`;
        // A removed block may return, so an unconfirmed delivery after the removal webhook is not
        // late.
        const isLate =
          isPaired && !confirmed && (await seen.has(pair)) && !(await seen.has(removal));
        if (lacksAbi(delivery.webhook)) {
          streamsWithoutAbi.add(streamId);
          const message = `No ABI for the events of stream ${streamId}`;
          reporter.failed(new SluiceError('missing_abi', message), delivery);
        }
        await callAll(registered, delivery, options, isLate);
        if (isPaired && (confirmed || removed)) {
          await remember(reporter, seen, removed ? removal : pair, delivery);
        }
      }),
    );
  };

  /**
   * Returns whether there is no ABI for the functions of events, and the stream was not reported
   * yet.
   */
  const lacksAbi = ({ logs, abi: own, streamId, removed }: ReceivedWebhook['webhook']): boolean =>
    logs.length > 0 &&
    !removed &&
    !hasItems(abi ?? own) &&
    registered.events.size > 0 &&
    registered.undecoded.length === 0 &&
    !streamsWithoutAbi.has(streamId);

  const face: Omit<WebhookHandler<A>, keyof CallableFunction> = {
    receive,
    maxBodyBytes,
    on(name, handles) {
      if (abi !== undefined && !abi.some((it) => it.type === 'event' && it.name === name)) {
        throw new SluiceError('invalid_argument', `The ABI has no event ${name}`, {
          hint: 'Check the spelling and the ABI.',
        });
      }
      const handlers = registered.events.get(name) ?? [];
      handlers.push(toPhases(handles as HandlerFunctions<WithChainId<DecodedLog>>));
      registered.events.set(name, handlers);
      return handler;
    },
    onUndecoded(handles) {
      registered.undecoded.push(toPhases(handles));
      return handler;
    },
    onWebhook(handles) {
      registered.webhooks.push(toPhases(handles));
      return handler;
    },
    onRemoved(handle) {
      registered.removed.push(handle);
      return handler;
    },
    onAptosWebhook(handle) {
      registered.aptos.push(handle);
      return handler;
    },
  };
  const handler = Object.assign(
    async (request: Request) => toResponse(await receive(fromRequest(request))),
    face,
  ) as WebhookHandler<A>;
  return handler;
}

/** Creates a function that runs work with the same key sequentially. */
function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const turns = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const mine = Promise.resolve(turns.get(key)).then(work);
    const settled = mine
      .catch(() => undefined)
      .finally(() => turns.get(key) === settled && turns.delete(key));
    turns.set(key, settled);
    return mine;
  };
}

/** Marks a delivery as handled. Reports errors instead of throwing, which would cause a retry. */
async function remember(reporter: Reporter, store: SeenStore, id: string, delivery: AnyReceived) {
  try {
    await store.add(id);
  } catch (error) {
    reporter.failed(error, delivery);
  }
}

/** Runs registered functions and returns the response. */
async function attempt(
  reporter: Reporter,
  delivery: AnyReceived,
  work: () => Promise<void>,
): Promise<WebhookResponse> {
  try {
    await work();
    return createResponse(200, 'Handled');
  } catch (error) {
    if (isDoNotRetry(error)) return createResponse(200, 'Dropped');
    if (isRetryLater(error)) {
      const seconds = Math.min(Math.ceil(error.afterMs / 1000), MAX_RETRY_AFTER_SECONDS);
      return createResponse(503, 'Retry later', { 'retry-after': String(seconds) });
    }
    reporter.failed(error, delivery);
    return createResponse(500, 'The handler failed');
  }
}

/** The longest wait that the service accepts from a `Retry-After`. */
const MAX_RETRY_AFTER_SECONDS = 24 * 3600;

const isAptos = (delivery: AnyReceived): delivery is ReceivedAptosWebhook =>
  isAptosWebhook(delivery.webhook);

function fromRequest(request: Request): IncomingWebhook {
  const { method, headers, body } = request;
  const isTaken = request.bodyUsed || body?.locked;
  return { method, headers, body: isTaken ? undefined : body ? chunksOf(body) : '' };
}

/** Converts a response to a web `Response`, for adapters. */
export const toResponse = ({ status, headers, body }: WebhookResponse): Response =>
  new Response(body, { status, headers });

interface Phases<T> {
  readonly unconfirmed?: HandlerFunction<T>;
  readonly confirmed?: HandlerFunction<T>;
}

interface Registered {
  readonly events: Map<string, Phases<WithChainId<DecodedLog>>[]>;
  readonly undecoded: Phases<WithChainId<UndecodedLog>>[];
  readonly webhooks: Phases<ReceivedWebhook['webhook']>[];
  readonly removed: HandlerFunction<ReceivedWebhook['webhook']>[];
  readonly aptos: ((webhook: AptosWebhook, delivery: ReceivedAptosWebhook) => unknown)[];
}

const toPhases = <T>(handles: HandlerFunctions<T>): Phases<T> =>
  typeof handles === 'function' ? { confirmed: handles } : handles;

const isPair = ({ unconfirmed, confirmed }: Phases<never>): boolean =>
  unconfirmed !== undefined && confirmed !== undefined;

const hasPairs = ({ events, undecoded, webhooks }: Registered): boolean =>
  [...events.values(), undecoded, webhooks].flat().some(isPair);

/**
 * Returns a key that all deliveries of a block to a stream share. If a block is split, each part
 * has a separate key.
 */
function pairId({ webhook }: ReceivedWebhook, headers: WebhookHeaders): string {
  const part = /^\d{1,6}\/\d{1,6}$/.exec(readHeader(headers, WEBHOOK_HEADERS.part) ?? '')?.[0];
  return ['pair', webhook.streamId, webhook.chainId, webhook.block?.hash, part ?? '1/1'].join('.');
}

async function callAll(
  { events, undecoded, webhooks, removed }: Registered,
  delivery: ReceivedWebhook,
  rules: HandlerRules<AnyAbi>,
  isLate: boolean,
): Promise<void> {
  const { webhook } = delivery;
  if (webhook.removed) {
    for (const handle of removed) await handle(webhook, delivery);
    return;
  }
  const call = async <T>(phases: readonly Phases<T>[] | undefined, value: T) => {
    for (const phase of phases ?? []) {
      if (isLate && isPair(phase)) continue;
      await (webhook.confirmed ? phase.confirmed : phase.unconfirmed)?.(value, delivery);
    }
  };
  if (webhook.logs.length > 0 && (events.size > 0 || undecoded.length > 0)) {
    const abi = rules.abi ?? webhook.abi;
    const { decoded, undecoded: unknown } = decodeKnown(webhook.logs, abi, rules);
    const chainId = webhook.chainId || '0x1';
    for (const log of decoded) await call(events.get(log.name), { ...log, chainId });
    for (const log of unknown) await call(undecoded, { ...log, chainId });
  }
  await call(webhooks, webhook);
}
