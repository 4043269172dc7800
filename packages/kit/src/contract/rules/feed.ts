/**
 * The built-in feed: a stream with the `webhookUrl` `sluice://feed` sends nothing. Consumers read its
 * webhooks from the service instead.
 */

/** The `webhookUrl` of a stream that is read as a feed. */
export const FEED_URL = 'sluice://feed';

/** Maximum number of deliveries per response, and the default. */
export const MAX_FEED_LIMIT = 1_000;
export const FEED_LIMIT = 100;

/**
 * Maximum time that a read waits for deliveries, in milliseconds. It is shorter than the default
 * timeout of the client.
 */
export const MAX_FEED_WAIT_MS = 25_000;

/** Default time to acknowledge a delivery, in milliseconds, before it is returned again. */
export const FEED_LEASE_MS = 60_000;
export const MIN_FEED_LEASE_MS = 1_000;
export const MAX_FEED_LEASE_MS = 3_600_000;

const CONSUMER = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/**
 * Returns whether a name is valid for a consumer: 1 to 63 lowercase letters, digits, dots, dashes
 * and underscores, starting with a letter or digit.
 */
export const isConsumerName = (name: string): boolean => CONSUMER.test(name);
