/** Reads the webhooks of a stream whose `webhookUrl` is `sluice://feed`. */
import type { FeedDelivery } from '../../contract/shapes.generated.ts';
import type { WebhookFamily } from '../../families/webhooks.ts';
import type { WebhookReceiver } from '../../webhooks/handler/types.ts';
import { readSigned, toReceived, unwrap } from '../../webhooks/unwrap.ts';
import type { ReceivedOf, UnwrapRules } from '../../webhooks/unwrap.ts';
import { readDeliveries } from './deliveries.ts';
import type { FeedCalls, ReadDelivery } from './deliveries.ts';

/** Options of `feed` in both modes. */
export interface FeedRules<Family extends WebhookFamily> extends Pick<UnwrapRules, 'toleranceMs'> {
  /** Chain family of the stream. Default: `evm`. For `any`, all families are accepted. */
  readonly family?: Family | undefined;
  /** The stream's secret, or several during a rotation. Without one, signatures are not verified. */
  readonly secrets?: readonly string[] | undefined;
  readonly secret?: string | undefined;
  /** Number of the additional destination whose feed it is. Default: the `webhookUrl`. */
  readonly destination?: number | undefined;
  /** Maximum number of deliveries per request, 1 to 1000. Default: 100. */
  readonly limit?: number | undefined;
  /** Signal that ends the iteration without an error. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a `feed` whose deliveries are shared by all readers of a consumer. */
export interface SharedFeedOptions<Family extends WebhookFamily = 'evm'> extends FeedRules<Family> {
  readonly mode?: 'share' | undefined;
  /** Name of the consumer. The first read creates it, at the oldest delivery that is kept. */
  readonly consumer: string;
  /**
   * Time to acknowledge the deliveries of a request before they are returned again, 1000 to
   * 3600000. Choose it longer than the handling of `limit` deliveries takes.
   * @unit milliseconds
   * @default 60000
   */
  readonly leaseMs?: number | undefined;
}

/** Options of a `feed` that is read completely, by a program that keeps its own position. */
export interface EachFeedOptions<Family extends WebhookFamily = 'evm'> extends FeedRules<Family> {
  readonly mode: 'each';
  /**
   * The `position` after which to read. Default: the position of `consumer`, or the end of the feed
   * without one.
   */
  readonly after?: number | undefined;
  readonly consumer?: string | undefined;
}

/** A webhook of a feed. With a secret, it is verified; otherwise, `verifiedBy` is undefined. */
export type FeedWebhook<Family extends WebhookFamily = 'evm'> = ReceivedOf<Family> &
  Readonly<FeedDelivery>;

/** A webhook of a feed that is shared by all readers of a consumer. */
export type SharedFeedWebhook<Family extends WebhookFamily = 'evm'> = FeedWebhook<Family> & {
  /**
   * Acknowledges the webhook, so that it is not returned again. Acknowledgements are sent in
   * batches, at most 100 ms later. The promise resolves before that, but not while 1,000 of them
   * are unsent.
   */
  readonly ack: () => Promise<void>;
};

/**
 * The webhooks of a feed. Each iteration reads ahead by one page, retries failed requests until the
 * service responds, and sends all acknowledgements before it ends. Throws a SluiceError if the
 * service permanently rejects a request, and if the last acknowledgements cannot be sent.
 */
export interface Feed<Webhook> extends AsyncIterable<Webhook> {
  /**
   * Passes each webhook to a handler, one at a time, and acknowledges those that it handles. The
   * others are returned again after their lease. Resolves when the signal is aborted.
   */
  handle(handler: WebhookReceiver): Promise<void>;
}

/** Methods of a client that read feeds. */
export interface FeedMethods {
  /** Reads a feed with other readers of a consumer: each webhook is leased to one of them. */
  feed<Family extends WebhookFamily = 'evm'>(
    streamId: string,
    options: SharedFeedOptions<Family>,
  ): Feed<SharedFeedWebhook<Family>>;
  /** Reads all webhooks of a feed, without leases and acknowledgements. */
  feed<Family extends WebhookFamily = 'evm'>(
    streamId: string,
    options: EachFeedOptions<Family>,
  ): Feed<FeedWebhook<Family>>;
}

export type AnyFeedOptions = SharedFeedOptions<WebhookFamily> | EachFeedOptions<WebhookFamily>;

export function createFeed(
  calls: FeedCalls,
  streamId: string,
  options: AnyFeedOptions,
): Feed<SharedFeedWebhook<WebhookFamily>> {
  const { family, secret, secrets, toleranceMs, signal, ...query } = options;
  const isShared = query.mode !== 'each';
  const read = () => readDeliveries(calls, streamId, query, signal);

  const toWebhook = ({ receivedAt, ack, ...delivery }: ReadDelivery) => ({
    ...receive(delivery, receivedAt, { family, secret, secrets, toleranceMs }),
    ...delivery,
    ...(isShared && { ack }),
  });

  return {
    async *[Symbol.asyncIterator]() {
      for await (const delivery of read()) {
        yield toWebhook(delivery) as SharedFeedWebhook<WebhookFamily>;
      }
    },
    async handle(handler) {
      for await (const { headers, body, receivedAt, ack } of read()) {
        const { status } = await handler.receive({ headers, body, receivedAt });
        if (status === 200 && isShared) await ack();
      }
    },
  };
}

/** Verifies a delivery if there is a secret, as of the time at which it was received. */
function receive(
  { headers, body }: FeedDelivery,
  receivedAt: number,
  { family, secret, secrets, toleranceMs }: FeedRules<WebhookFamily>,
): ReceivedOf<WebhookFamily> {
  const request = { headers, body, family };
  if (secret === undefined && secrets === undefined) {
    const { raw, claim } = readSigned(request);
    return { ...toReceived(raw, claim, request), verifiedBy: undefined };
  }
  const key = secrets === undefined ? { secret: secret! } : { secrets };
  return unwrap({ ...request, ...key, toleranceMs, now: () => receivedAt });
}
