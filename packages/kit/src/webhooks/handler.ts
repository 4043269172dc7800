/**
 * One handler for webhooks, for every framework: verifies, drops duplicates, decodes, calls what
 * was registered, and answers.
 *
 * What a request meets, in order:
 * 1. not a POST: 405; too large: 413; broken off: 400; parsed by somebody before: 500;
 * 2. not signed rightly, or long ago: 401; signed, but no webhook: 400;
 * 3. the test webhook: 200, and nothing is called;
 * 4. under way already: the answer of the one under way;
 * 5. handled before: 200, and nothing is called;
 * 6. otherwise everything registered for it (of the notice that its block is gone: `onRemoved`
 *    alone) is called, one after the other:
 *    all resolved: 200, and only now the id counts as handled;
 *    `NeverAgain` thrown: 200, handled; `RetryLater`: 503 with `Retry-After`, not handled;
 *    anything else thrown: 500, not handled. Its message stays here: `onError` gets it.
 */
import type { Abi } from 'abitype';
import { WEBHOOK_HEADERS } from '../contract/signature.ts';
import type { AbiItem } from '../contract/streams.ts';
import { isSluiceError, SluiceError } from '../errors.ts';
import { isNeverAgain, isRetryLater } from './outcomes.ts';
import { decodeKnown, hasItems } from './decode.ts';
import type { AddressSpelling, DecodedLog, DecodedLogOf, UndecodedLog } from './decode.ts';
import { diagnose } from './diagnose.ts';
import { readHeader } from './headers.ts';
import type { WebhookHeaders } from './headers.ts';
import { chunksOf, readBody } from './readBody.ts';
import type { ReadBody } from './readBody.ts';
import { createMemorySeenStore } from './seen.ts';
import type { SeenStore } from './seen.ts';
import type { AptosWebhook } from '../contract/aptosWebhook.ts';
import { isAptosWebhook, secretsOf, toleranceOf, unwrap } from './unwrap.ts';
import type { ReceivedAptosWebhook, ReceivedWebhook, UnwrapRules, WebhookKey } from './unwrap.ts';

type AnyAbi = Abi | readonly AbiItem[];

/** What {@link createHandler} takes. */
export type HandlerOptions<A extends AnyAbi = readonly AbiItem[]> = WebhookKey &
  UnwrapRules & {
    /**
     * Decodes the logs; `as const`, it types names and arguments. Default: the ABI that each
     * webhook carries, which is the one set on its stream.
     */
    abi?: A | undefined;
    /** How decoded addresses are spelled, see {@link DecodeOptions}. Default `lower`. */
    addresses?: AddressSpelling | undefined;
    /**
     * Which deliveries have been handled. Default: {@link createMemorySeenStore}, enough for one
     * process. With `false` every attempt is handled.
     */
    seen?: SeenStore | false | undefined;
    /**
     * Largest body that is read. Sluice sends at most 8 MiB unless `--max-webhook-bytes` says otherwise, the hosted service more.
     * @unit bytes
     * @defaultValue 52_428_800 (50 MiB)
     */
    maxBodyBytes?: number | undefined;
    /**
     * Gets what went wrong: what your handlers threw, with the delivery, and `SluiceError`s of
     * requests that were refused, without one and at most once a second. A refused signature comes
     * with its {@link diagnose diagnosis} in `details`, if the body has at most 1 MiB. Default:
     * `console.error`.
     */
    onError?: ((error: unknown, delivery: AnyReceived | undefined) => void) | undefined;
  };

/** A delivery of either family. */
type AnyReceived = ReceivedWebhook | ReceivedAptosWebhook;

/** Is awaited; what it returns is ignored. */
export type Handle<T> = (value: T, delivery: ReceivedWebhook) => unknown;

/**
 * Every block is delivered twice: unconfirmed as soon as it appears, confirmed once it is deep
 * enough. A function alone is called for the confirmed one, so once for each event. With both, the
 * two of a pair never run at the same time, and an unconfirmed one that arrives late, after its
 * confirmed one was handled, is left out. A block that is reorganised away is not confirmed; see
 * {@link WebhookHandler.onRemoved}.
 */
export type Handles<T> =
  | Handle<T>
  | { readonly unconfirmed: Handle<T>; readonly confirmed?: Handle<T> }
  | { readonly unconfirmed?: Handle<T>; readonly confirmed: Handle<T> };

type EventName<A extends AnyAbi> = DecodedLogOf<A>['name'];
type LogNamed<A extends AnyAbi, Name> = OnChain<
  number extends A['length'] ? DecodedLog : Extract<DecodedLogOf<A>, { readonly name: Name }>
>;

/** A log with the chain it is from. */
export type OnChain<Log> = Log & {
  /** Hex, e.g. `0x1`. A log is known by its chain, its transaction and its `logIndex` together. */
  readonly chainId: string;
};

/** What an adapter hands over: a request of any framework. */
export interface IncomingWebhook {
  /** Absent: POST. */
  readonly method?: string | undefined;
  readonly headers: WebhookHeaders;
  /** Raw (text, bytes) or chunks of bytes; anything else is answered as parsed before. */
  readonly body: unknown;
}

/** What to answer; for adapters. */
export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON with a `message`. */
  readonly body: string;
}

/** The part of a {@link WebhookHandler} that an adapter needs. */
export interface WebhookReceiver {
  /** Never rejects. */
  receive(request: IncomingWebhook): Promise<WebhookAnswer>;
  readonly maxBodyBytes: number;
}

/**
 * A handler of web requests, to register functions with. Each method returns the handler itself.
 */
export interface WebhookHandler<A extends AnyAbi = readonly AbiItem[]> extends WebhookReceiver {
  /** Never rejects. */
  (request: Request): Promise<Response>;
  /**
   * Calls for each event of that name, in the order of the logs. To store an event use
   * (`chainId`, `transactionHash`, `logIndex`) as its key. Without an ABI (none here, and the stream
   * has none) no log has a name: `onError` gets `missing_abi`, once for each stream, unless
   * {@link onUndecoded} takes the logs.
   * @throws SluiceError `invalid_argument` when the given ABI has no such event.
   */
  on<Name extends EventName<A>>(name: Name, handles: Handles<LogNamed<A, Name>>): this;
  /** Calls for each log that the ABI cannot decode, with the reason; without an ABI for every log. */
  onUndecoded(handles: Handles<OnChain<UndecodedLog>>): this;
  /** Calls for each webhook as a whole, after the events in it. */
  onWebhook(handles: Handles<ReceivedWebhook['webhook']>): this;
  /**
   * Calls for each block that left the chain after it was delivered, with the webhook that is taken
   * back: undo what you stored of that block hash. Sluice tells it of streams with `notifyRemoved`;
   * without a function here the notice is answered with 200, and nothing else is called for it.
   * Never at the same time as the deliveries of its block. The events may have come again in another
   * block by then, and the block itself may return and be delivered again.
   */
  onRemoved(handle: Handle<ReceivedWebhook['webhook']>): this;
  /**
   * Calls for each webhook of an Aptos stream. There every block is final, so each is delivered once,
   * and nothing else that is registered is called for it.
   */
  onAptosWebhook(handle: (webhook: AptosWebhook, delivery: ReceivedAptosWebhook) => unknown): this;
}

/**
 * Makes a handler of web requests: the value to export in Next (`export const POST = handler`) and
 * in Workers, Bun and Deno (`export default { fetch: handler }`). For Express, Fastify, Hono and
 * `node:http` wrap it with the adapter in `@sluice/kit/express` and so on.
 *
 * Answer within 15 seconds, or the sender takes the attempt for failed: put long work into a queue.
 * A webhook whose handlers failed in the middle comes again as a whole, so each must bear being
 * called twice with the same event.
 *
 * @example
 * const handler = createHandler({ secret, abi: erc20Abi })
 *   .on('Transfer', async ({ args }) => { await credit(args.to, args.value); });
 *
 * @throws SluiceError `missing_secret` without a key, `invalid_argument` for a number out of bounds.
 */
export function createHandler<const A extends AnyAbi = readonly AbiItem[]>(
  options: HandlerOptions<A>,
): WebhookHandler<A> {
  // Fail when the program starts, not at the first webhook.
  secretsOf(options);
  toleranceOf(options);
  const { abi, seen = createMemorySeenStore(), maxBodyBytes = 50 * 1024 * 1024 } = options;
  if (!(maxBodyBytes >= 1)) {
    throw new SluiceError('invalid_argument', 'maxBodyBytes must be 1 or more', {
      hint: 'Leave it out for 50 MiB.',
    });
  }
  const registered: Registered = {
    events: new Map(),
    undecoded: [],
    webhooks: [],
    removed: [],
    aptos: [],
  };
  const reporter = createReporter(options);
  const streamsWithoutAbi = new Set<string>();
  const underWay = new Map<string, Promise<WebhookAnswer>>();

  const receive = async ({ method = 'POST', headers, body }: IncomingWebhook) => {
    if (method !== 'POST') return answer(405, 'Webhooks come by POST', { allow: 'POST' });
    const declared = Number(readHeader(headers, 'content-length') ?? 0);
    const read: ReadBody =
      declared > maxBodyBytes ? { failed: 'too-large' } : await readBody(body, maxBodyBytes);
    if ('failed' in read) return refuseBody(read.failed, maxBodyBytes, reporter);
    let delivery: AnyReceived;
    try {
      delivery = unwrap({ ...options, family: 'any', headers, body: read.raw });
    } catch (error) {
      reporter.refused(error, headers, read.raw);
      return refuse(error);
    }
    reporter.secretIsProven();
    if (delivery.isTest) return answer(200, 'Test webhook received');
    if (seen === false) return await handle(delivery, headers);
    return await once(delivery, headers, seen);
  };

  const once = (delivery: AnyReceived, headers: WebhookHeaders, store: SeenStore) => {
    const { id } = delivery;
    let handling = underWay.get(id);
    if (handling === undefined) {
      handling = (async () => {
        try {
          if (await store.has(id)) return answer(200, 'Handled before');
        } catch (error) {
          reporter.failed(error, delivery);
          return answer(500, 'The handler failed');
        }
        const result = await handle(delivery, headers);
        if (result.status === 200) await remember(store, id, delivery);
        return result;
      })().finally(() => underWay.delete(id));
      underWay.set(id, handling);
    }
    return handling;
  };

  /** The work is done: that it cannot be noted down is no reason to have it sent again. */
  const remember = async (store: SeenStore, id: string, delivery: AnyReceived) => {
    try {
      await store.add(id);
    } catch (error) {
      reporter.failed(error, delivery);
    }
  };

  const turns = new Map<string, Promise<unknown>>();

  /** Lets the deliveries of a block wait for each other. */
  const inTurn = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = turns.get(key);
    const mine = (async () => {
      await before;
      return await work();
    })();
    const settled = mine.catch(() => undefined);
    turns.set(key, settled);
    try {
      return await mine;
    } finally {
      if (turns.get(key) === settled) turns.delete(key);
    }
  };

  const handle = (delivery: AnyReceived, headers: WebhookHeaders): Promise<WebhookAnswer> =>
    isAptos(delivery)
      ? attempt(delivery, async () => {
          for (const each of registered.aptos) await each(delivery.webhook, delivery);
        })
      : handleEvm(delivery, headers);

  const handleEvm = (
    delivery: ReceivedWebhook,
    headers: WebhookHeaders,
  ): Promise<WebhookAnswer> => {
    const pair = pairId(delivery, headers);
    return inTurn(pair, () =>
      attempt(delivery, async () => {
        const { confirmed, removed } = delivery.webhook;
        const isPaired = seen !== false && hasPairs(registered);
        const removal = `${pair}.removed`;
        // A block that was gone and is there again begins anew.
        const isLate =
          isPaired && !confirmed && (await seen.has(pair)) && !(await seen.has(removal));
        if (lacksAbi(delivery.webhook)) {
          streamsWithoutAbi.add(delivery.webhook.streamId);
          const message = `No ABI for the events of stream ${delivery.webhook.streamId}`;
          reporter.failed(new SluiceError('missing_abi', message), delivery);
        }
        await callAll(registered, delivery, options, isLate);
        if (isPaired && (confirmed || removed)) {
          await remember(seen, removed ? removal : pair, delivery);
        }
      }),
    );
  };

  /** Whether events are wanted that no ABI names. Reported once for each stream. */
  const lacksAbi = ({ logs, abi: own, streamId, removed }: ReceivedWebhook['webhook']): boolean =>
    logs.length > 0 &&
    !removed &&
    !hasItems(abi ?? own) &&
    registered.events.size > 0 &&
    registered.undecoded.length === 0 &&
    !streamsWithoutAbi.has(streamId);

  /** Does the user's work and answers with what came of it. */
  const attempt = async (
    delivery: AnyReceived,
    work: () => Promise<void>,
  ): Promise<WebhookAnswer> => {
    try {
      await work();
      return answer(200, 'Handled');
    } catch (error) {
      if (isNeverAgain(error)) return answer(200, 'Dropped');
      if (isRetryLater(error)) {
        const seconds = Math.min(Math.ceil(error.afterMs / 1000), MAX_RETRY_AFTER_SECONDS);
        return answer(503, 'Retry later', { 'retry-after': String(seconds) });
      }
      reporter.failed(error, delivery);
      return answer(500, 'The handler failed');
    }
  };

  const face: Omit<WebhookHandler<A>, keyof CallableFunction> = {
    receive,
    maxBodyBytes,
    on(name, handles) {
      if (abi !== undefined && !abi.some((it) => it.type === 'event' && it.name === name)) {
        throw new SluiceError('invalid_argument', `The ABI has no event ${name}`, {
          hint: 'Check the spelling, and that the ABI is the one of the contract.',
        });
      }
      const handlers = registered.events.get(name) ?? [];
      handlers.push(toPhases(handles as Handles<OnChain<DecodedLog>>));
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

/** The service waits no longer than this, whatever is asked. */
const MAX_RETRY_AFTER_SECONDS = 24 * 3600;

interface Phases<T> {
  readonly unconfirmed?: Handle<T>;
  readonly confirmed?: Handle<T>;
}

interface Registered {
  readonly events: Map<string, Phases<OnChain<DecodedLog>>[]>;
  readonly undecoded: Phases<OnChain<UndecodedLog>>[];
  readonly webhooks: Phases<ReceivedWebhook['webhook']>[];
  readonly removed: Handle<ReceivedWebhook['webhook']>[];
  readonly aptos: ((webhook: AptosWebhook, delivery: ReceivedAptosWebhook) => unknown)[];
}

const isAptos = (delivery: AnyReceived): delivery is ReceivedAptosWebhook =>
  isAptosWebhook(delivery.webhook);

const toPhases = <T>(handles: Handles<T>): Phases<T> =>
  typeof handles === 'function' ? { confirmed: handles } : handles;

const isPair = ({ unconfirmed, confirmed }: Phases<never>): boolean =>
  unconfirmed !== undefined && confirmed !== undefined;

const hasPairs = ({ events, undecoded, webhooks }: Registered): boolean =>
  [...events.values()].flat().some(isPair) || undecoded.some(isPair) || webhooks.some(isPair);

/** Equal for the deliveries of a block, or of one part of a block that was split. */
function pairId({ webhook }: ReceivedWebhook, headers: WebhookHeaders): string {
  const part = /^\d{1,6}\/\d{1,6}$/.exec(readHeader(headers, WEBHOOK_HEADERS.part) ?? '')?.[0];
  return ['pair', webhook.streamId, webhook.chainId, webhook.block?.hash, part ?? '1/1'].join('.');
}

async function callAll(
  { events, undecoded, webhooks, removed }: Registered,
  delivery: ReceivedWebhook,
  { abi, addresses }: Pick<HandlerOptions<AnyAbi>, 'abi' | 'addresses'>,
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
    const { decoded, undecoded: unknown } = decodeKnown(webhook.logs, abi ?? webhook.abi, {
      addresses,
    });
    const chainId = webhook.chainId || '0x1';
    for (const log of decoded) await call(events.get(log.name), { ...log, chainId });
    for (const log of unknown) await call(undecoded, { ...log, chainId });
  }
  await call(webhooks, webhook);
}

function answer(status: number, message: string, headers?: Record<string, string>): WebhookAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ message }),
  };
}

/** What goes out is our own words alone: nothing of the user's errors, nothing of the diagnosis. */
function refuse(error: unknown): WebhookAnswer {
  if (isSluiceError(error, 'invalid_signature') || isSluiceError(error, 'stale_timestamp')) {
    return answer(401, error.message);
  }
  if (isSluiceError(error, 'invalid_webhook')) return answer(400, error.message);
  return answer(500, 'The handler failed');
}

function refuseBody(
  failed: 'too-large' | 'broken-off' | 'already-parsed',
  maxBodyBytes: number,
  reporter: Reporter,
): WebhookAnswer {
  if (failed === 'broken-off') return answer(400, 'The body broke off');
  if (failed === 'too-large') {
    const message = `The body is larger than ${maxBodyBytes} bytes`;
    reporter.problem(
      new SluiceError('payload_too_large', message, { hint: 'Raise maxBodyBytes of the handler.' }),
    );
    // The rest of the body is not read, so the connection cannot be used again.
    return answer(413, message, { connection: 'close' });
  }
  const error = new SluiceError('body_already_parsed', 'The body was read or parsed before');
  reporter.problem(error);
  return answer(500, `${error.message}. ${error.hint}`);
}

interface Reporter {
  /** What the user's own code threw. */
  failed(error: unknown, delivery: AnyReceived): void;
  /** What a request was refused for; seldom enough that forgers can neither flood nor tire us. */
  problem(error: unknown): void;
  /** As {@link problem}, with a diagnosis where the signature was wrong. */
  refused(error: unknown, headers: WebhookHeaders, body: string | Uint8Array): void;
  /** A webhook has verified: the secret is right. */
  secretIsProven(): void;
}

const REPORT_EVERY_MS = 1000;
/** A diagnosis hashes a body many times; forgers are not to choose how much work that is. */
const MAX_DIAGNOSED_LENGTH = 1024 * 1024;

function createReporter(options: HandlerOptions<never> | HandlerOptions<AnyAbi>): Reporter {
  // oxlint-disable-next-line no-console -- an error that nobody hears is lost
  const { onError = (error: unknown) => console.error(error) } = options;
  let lastAt = Number.NEGATIVE_INFINITY;
  let secretIsProven = false;

  const tell = (error: unknown, delivery?: AnyReceived) => {
    try {
      onError(error, delivery);
    } catch {
      // The answer to the sender matters more than a reporter that fails.
    }
  };
  const seldom = (report: () => void) => {
    const at = Date.now();
    if (Math.abs(at - lastAt) < REPORT_EVERY_MS) return;
    lastAt = at;
    report();
  };

  return {
    failed: tell,
    problem: (error) => seldom(() => tell(error)),
    refused: (error, headers, body) =>
      seldom(() => {
        if (!isSluiceError(error, 'invalid_signature') || body.length > MAX_DIAGNOSED_LENGTH) {
          return tell(error);
        }
        const found = diagnose({ ...options, headers, body, secretIsProven });
        tell(
          new SluiceError(error.code, error.message, {
            hint: found && [found.message, found.fix].join(' '),
            details: { ...error.details, ...found },
          }),
        );
      }),
    secretIsProven: () => {
      secretIsProven = true;
    },
  };
}

function fromRequest(request: Request): IncomingWebhook {
  const { method, headers, body } = request;
  const isTaken = request.bodyUsed || body?.locked;
  return { method, headers, body: isTaken ? undefined : body ? chunksOf(body) : '' };
}

/** The answer as a web response; for adapters. */
export const toResponse = ({ status, headers, body }: WebhookAnswer): Response =>
  new Response(body, { status, headers });
