/**
 * The built-in receiver: a stream whose `webhookUrl` is `sluice://inbox/<name>` delivers into the
 * service itself, where what came can be looked at. It is made by the first webhook that comes.
 */

import type { DeliverySummary } from './sluice.ts';

/** How an inbox answers. */
export interface InboxAnswer {
  /** 200 to 599. */
  status: number;
  /** Before it answers, at most 20,000. */
  delayMs: number;
  /** At most 1,000 characters. */
  body: string;
  /** So many of the first webhooks since the answer was set are answered with `failStatus`. */
  failFirst: number;
  /** And every so many; 0 for none. */
  failEvery: number;
  /** 200 to 599. */
  failStatus: number;
}

/** How an inbox answers until it is told otherwise. */
export const DEFAULT_INBOX_ANSWER: InboxAnswer = {
  status: 200,
  delayMs: 0,
  body: '',
  failFirst: 0,
  failEvery: 0,
  failStatus: 500,
};

/** An inbox and how it answers. */
export interface Inbox {
  name: string;
  /** The `webhookUrl` of its streams. */
  url: string;
  answer: InboxAnswer;
  /** Webhooks that came since the answer was set. */
  received: number;
  /** Of these and earlier ones, how many are kept: the newest 500, at most 64 MiB. */
  kept: number;
  /** When the newest came; null before the first. */
  lastAt: number | null;
}

/** The delivery that a webhook in an inbox was of, as it was then. */
export type InboxDelivery = Pick<
  DeliverySummary,
  'streamId' | 'tag' | 'chainId' | 'blockNumber' | 'phase' | 'about'
>;

/** A webhook that came into an inbox. */
export interface InboxRequestSummary {
  id: string;
  inbox: string;
  receivedAt: number;
  /** Its `webhook-id`: the id of the delivery, but of test webhooks. */
  webhookId: string;
  /** What of; null of a test webhook. */
  delivery: InboxDelivery | null;
  /** Whether its `x-signature` is that of its body and the streams secret. */
  verified: boolean;
  /** How it was answered. */
  status: number;
  sizeBytes: number;
}

/** A webhook that came into an inbox, whole. */
export interface InboxRequest extends InboxRequestSummary {
  headers: Record<string, string>;
  /** The bytes that were signed. */
  body: string;
  /** With which body it was answered, and after what wait. */
  answer: Pick<InboxAnswer, 'body' | 'delayMs'>;
}

/** A page of an inbox. */
export interface InboxPage {
  /** Newest first. */
  result: InboxRequestSummary[];
  /** Absent on the last page. */
  cursor?: string;
}

const PREFIX = 'sluice://inbox/';
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Whether an inbox can be called so: 1 to 63 small letters, digits and dashes. */
export const isInboxName = (name: string): boolean => NAME.test(name);

/** The `webhookUrl` of a stream that delivers into this inbox. */
export const toInboxUrl = (name: string): string => PREFIX + name;

/** The inbox that a `webhookUrl` names; undefined where it names none. */
export function readInboxName(webhookUrl: string): string | undefined {
  if (!webhookUrl.startsWith(PREFIX)) return undefined;
  const name = webhookUrl.slice(PREFIX.length);
  return isInboxName(name) ? name : undefined;
}
