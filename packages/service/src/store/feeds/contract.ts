/**
 * Feeds: the deliveries of a stream that consumers read, by position. The transaction that records
 * a delivery as sent assigns its position, under a lock on the feed until it has committed. So
 * positions become visible in order, each after its commit is durable, and none is taken back.
 */
import type { DeliveryPhase, WebhookOrigin } from '@sluice/kit/contract';

/** A delivery as a consumer reads it. */
export interface FeedDelivery {
  id: string;
  position: number;
  phase: DeliveryPhase;
  records: number;
  /** UTF-8. */
  body: Uint8Array;
  part: number;
  parts: number;
  origin: WebhookOrigin;
  unverified: string | null;
}

export interface FeedPage {
  deliveries: FeedDelivery[];
  /** The newest position of the feed; 0 before the first. */
  head: number;
  /** When the first lease ends, in milliseconds; undefined without leases. */
  leaseEndsInMs: number | undefined;
}

/** Limits of a page. It has at least one delivery, regardless of its size. */
export interface FeedLimits {
  limit: number;
  maxBytes: number;
}

export interface FeedConsumer {
  name: string;
  position: number;
  /** Deliveries after `position` that are neither acknowledged nor leased, and those leased. */
  waiting: number;
  inFlight: number;
  missed: number;
  /** Creation time of the oldest delivery that is not acknowledged; null if there is none. */
  oldestAt: number | null;
  createdAt: number;
  activeAt: number;
}

/** Where a consumer continues. */
export type FeedStart =
  | { at: 'start' | 'end' }
  | { time: number }
  | { chain: string; block: number }
  | { position: number };

export interface FeedReads {
  /** Returns the newest position; 0 before the first. */
  readFeedHead(streamId: string): Promise<number>;
  /** Returns the deliveries after a position, without changing anything. */
  readFeedAfter(streamId: string, position: number, limits: FeedLimits): Promise<FeedPage>;
  listFeedConsumers(streamId: string): Promise<FeedConsumer[]>;
}

export interface FeedWrites {
  /**
   * Leases the next deliveries to a consumer for `ackMs`, those before others whose lease has
   * ended. Creates the consumer; returns undefined if the feed would have too many.
   */
  leaseFeed(
    streamId: string,
    consumer: string,
    limits: FeedLimits & { ackMs: number },
  ): Promise<FeedPage | undefined>;
  /**
   * Acknowledges deliveries. Returns how many the feed has, and the consumer's position; undefined
   * if there is no such consumer.
   */
  ackFeed(
    streamId: string,
    consumer: string,
    ids: readonly string[],
  ): Promise<{ acknowledged: number; position: number } | undefined>;
  /** Continues elsewhere, without acknowledgements and leases. Creates the consumer, as a read does. */
  resetFeedConsumer(
    streamId: string,
    consumer: string,
    start: FeedStart,
  ): Promise<FeedConsumer | undefined>;
  deleteFeedConsumer(streamId: string, consumer: string): Promise<boolean>;
  /**
   * Moves consumers past deliveries that are about to expire, and counts these as missed. Returns
   * the consumers that missed some.
   */
  skipExpiring(ages: {
    deliveredMs: number;
  }): Promise<{ streamId: string; consumer: string; missed: number }[]>;
}
