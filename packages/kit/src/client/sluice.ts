/** `@sluice/kit/sluice`: a client for the routes that only Sluice has. */
import { createFeed } from './feed/feed.ts';
import type { AnyFeedOptions, FeedMethods } from './feed/feed.ts';
import type { ConnectionOptions } from './request.ts';
import { createSluiceCalls } from './sluiceCalls.ts';
import type { SluiceCalls } from './sluiceCalls.ts';

export type * from '../contract/shapes.generated.ts';
export type * from '../contract/liveEvent.ts';
export type { OneOrMany } from '../contract/generic.ts';
export * from '../contract/rules/auditHash.ts';
export * from '../contract/unverified.ts';
export { isSluiceError, SluiceError, type SluiceErrorCode } from '../errors.ts';
export type { ImportAddressesOptions } from './importAddresses.ts';
export type {
  EachFeedOptions,
  Feed,
  FeedMethods,
  FeedRules,
  FeedWebhook,
  SharedFeedOptions,
  SharedFeedWebhook,
} from './feed/feed.ts';
export type { AnyPage, ListedPage, ListResult } from './pages.ts';
export type { CallOptions, CallResult, WithResponse } from './request.ts';
export type {
  LiveEventsOptions,
  LiveState,
  ReceivedLiveEvent,
  SluiceCalls,
} from './sluiceCalls.ts';

/**
 * Options of {@link createSluiceClient}. Omit `apiKey` if a console session's cookie authenticates
 * the calls.
 */
export type SluiceClientOptions = ConnectionOptions;

/** The methods of a Sluice client. They reject only with a SluiceError. */
export interface SluiceClient extends SluiceCalls, FeedMethods {}

/**
 * Creates a client for the routes that only Sluice has.
 * @throws SluiceError `invalid_argument` if an option is invalid.
 */
export function createSluiceClient(options: SluiceClientOptions): SluiceClient {
  const calls = createSluiceCalls(options);
  return {
    ...calls,
    feed: (streamId: string, feed: AnyFeedOptions) => createFeed(calls, streamId, feed) as never,
  };
}
