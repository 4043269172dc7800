/**
 * Feeds: the deliveries of a stream that consumers read, by position. The transaction that records
 * a delivery as sent assigns its position, under a lock on the feed until it has committed. So
 * positions become visible in order, each after its commit is durable, and none is taken back.
 */
import type {
  AcknowledgeFeed,
  DeliveryPhase,
  FeedConsumer,
  FeedStart,
  ReleaseFeed,
  WebhookOrigin,
} from '@sluice/kit/contract';

/** A delivery with a position, without its body. */
export interface PlacedDelivery {
  id: string;
  position: number;
  matchId: string;
  blockDay: string;
  phase: DeliveryPhase;
  records: number;
  attempts: number;
  bodyBytes: number;
  isReplayed: boolean;
}

/** A delivery as a consumer reads it. */
export interface FeedDelivery extends Pick<
  PlacedDelivery,
  'id' | 'position' | 'phase' | 'records'
> {
  /** UTF-8. */
  body: Uint8Array;
  part: number;
  parts: number;
  origin: WebhookOrigin;
  unverified: string | null;
}

/** The next deliveries of a feed. */
export interface FeedRead {
  placed: PlacedDelivery[];
  /** The position after which this read looked. */
  position: number;
  /** The newest position of the feed; 0 before the first. */
  head: number;
  /** Time of the read by the ledger's clock. */
  now: number;
  /** When the first lease of the consumer ends, in milliseconds; undefined without leases. */
  leaseEndsInMs?: number | undefined;
}

/** Limits of a page. It has at least one delivery, regardless of its size. */
export interface FeedLimits {
  limit: number;
  maxBytes: number;
}

/** Deliveries to acknowledge: exactly one of the fields is set. */
export type FeedAcknowledged = Omit<AcknowledgeFeed, 'consumer'>;

/** How far a consumer is behind. */
export interface FeedLag extends Pick<FeedConsumer, 'name' | 'unread' | 'leased' | 'missed'> {
  streamId: string;
}

/** A consumer with old deliveries that it has not acknowledged. */
export interface FeedBehind {
  streamId: string;
  tag: string;
  consumer: string;
  /** Creation time of the first of them. */
  oldestAt: number;
}

export interface FeedReads {
  /** Returns the newest positions of these feeds by stream; a feed without deliveries is absent. */
  readFeedHeads(streamIds: readonly string[]): Promise<Record<string, number>>;
  /**
   * Returns the deliveries after a position, without changing anything. By default, after the
   * consumer's position, or after the newest if there is no such consumer.
   */
  readFeedAfter(
    streamId: string,
    start: { after?: number | undefined; consumer?: string | undefined },
    limits: FeedLimits,
  ): Promise<FeedRead>;
  /** Adds the bodies to deliveries. Omits deliveries that were deleted meanwhile. */
  readFeedBodies(placed: readonly PlacedDelivery[]): Promise<FeedDelivery[]>;
  listFeedConsumers(streamId: string): Promise<FeedConsumer[]>;
  /** Lists the consumers of all streams, at most 1,000, those that are furthest behind first. */
  listFeedLags(): Promise<FeedLag[]>;
  /** Lists the consumers whose first unacknowledged delivery was created before this time. */
  listFeedsBehind(createdBefore: number): Promise<FeedBehind[]>;
}

export interface FeedUpkeep {
  /**
   * Moves consumers past deliveries that are older than `deliveredMs`, counts these as missed, and
   * adds their blocks to the holes of the stream. Returns the consumers that missed some.
   */
  skipExpiring(ages: {
    deliveredMs: number;
  }): Promise<{ streamId: string; consumer: string; missed: number }[]>;
  /** Deletes the feeds and consumers of deleted streams. */
  deleteFeeds(): Promise<void>;
}

export interface FeedWrites {
  /**
   * Leases the next deliveries to a consumer for `leaseMs`, those before others whose lease has
   * ended. Creates the consumer at the oldest delivery; returns undefined if the feed would have too
   * many.
   */
  leaseFeed(
    streamId: string,
    consumer: string,
    limits: FeedLimits & { leaseMs: number },
  ): Promise<FeedRead | undefined>;
  /**
   * Acknowledges deliveries. Returns how many of them are acknowledged now, and the consumer's
   * position; undefined if there is no such consumer.
   */
  acknowledgeFeed(
    streamId: string,
    consumer: string,
    acknowledged: FeedAcknowledged,
  ): Promise<{ acknowledged: number; position: number } | undefined>;
  /**
   * Ends the lease of deliveries, so that the next read may return them. Ignores those whose lease
   * ends at another time, because another reader may have them. Returns how many were released;
   * undefined if there is no such consumer.
   */
  releaseFeed(
    streamId: string,
    consumer: string,
    released: Omit<ReleaseFeed, 'consumer'>,
  ): Promise<number | undefined>;
  /**
   * Moves a consumer elsewhere, without acknowledgements and leases. Creates the consumer; returns
   * undefined if the feed would have too many.
   */
  resetFeedConsumer(
    streamId: string,
    consumer: string,
    start: FeedStart,
  ): Promise<FeedConsumer | undefined>;
  deleteFeedConsumer(streamId: string, consumer: string): Promise<boolean>;
}
