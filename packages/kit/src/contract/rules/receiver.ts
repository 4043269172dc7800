import { FEED_URL } from './feed.ts';
import { readInboxName } from './inbox.ts';

/** Names the receiver behind a webhook URL: its host, its inbox or its feed. */
export function receiverOf({ webhookUrl }: { webhookUrl: string }): string {
  if (webhookUrl === FEED_URL) return 'the feed';
  const inbox = readInboxName(webhookUrl);
  return inbox === undefined ? (URL.parse(webhookUrl)?.host ?? 'the receiver') : `inbox ${inbox}`;
}
