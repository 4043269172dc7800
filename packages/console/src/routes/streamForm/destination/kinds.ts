/** The kinds of destinations, which differ by the scheme of the webhook URL. */
import {
  FEED_URL,
  isTablesUrl,
  QUEUE_BROKERS,
  queueBrokerOf,
  TABLES_EXAMPLE,
} from '@sluice/kit/contract';
import { DEFAULT_INBOX_URL } from '../../../data/inboxes.ts';

export interface DestinationKind {
  title: string;
  /** A few words on where webhooks go. */
  text: string;
  /** Webhook URL to begin with; its names are for the user to replace. */
  start: string;
  /** Explanation of the URL. */
  help: string;
  isOf: (url: string) => boolean;
}

const MASKED = 'The login is stored encrypted, and shown as *** once saved.';

const INBOX: DestinationKind = {
  title: 'Inbox',
  text: 'shown in this console',
  start: DEFAULT_INBOX_URL,
  help: 'This service stores the webhooks and shows them under Inbox.',
  isOf: (url) => url.startsWith('sluice:') && url !== FEED_URL,
};

const WITHOUT_POST: readonly DestinationKind[] = [
  {
    title: 'Feed',
    text: 'read by your program',
    start: FEED_URL,
    help: 'Your program reads the webhooks from this service, so it needs no URL.',
    isOf: (url) => url === FEED_URL,
  },
  ...QUEUE_BROKERS.map((broker): DestinationKind => ({
    title: broker.name,
    text: `messages with ${broker.needs}`,
    start: broker.example,
    help: `The broker must confirm a test message before the stream is saved. In a subject, routing key or key, {stream}, {tag}, {chain} and {phase} are replaced. Use ${broker.tls.scheme}// for TLS. ${MASKED}`,
    isOf: (url) => queueBrokerOf(url) === broker,
  })),
  {
    title: 'PostgreSQL',
    text: 'rows in tables',
    start: TABLES_EXAMPLE,
    help: `The tables are created in this schema before the stream is saved. A schema has the rows of one stream. ${MASKED}`,
    isOf: isTablesUrl,
  },
];

/** The kind of all URLs that are of no other kind. */
const WEBHOOK: DestinationKind = {
  title: 'Webhook',
  text: 'a POST to your URL',
  start: '',
  help: 'Must respond to a test webhook with 2xx before the stream is saved.',
  isOf: (url) => ![INBOX, ...WITHOUT_POST].some(({ isOf }) => isOf(url)),
};

export const DESTINATION_KINDS: readonly DestinationKind[] = [INBOX, WEBHOOK, ...WITHOUT_POST];

export const kindOf = (url: string): DestinationKind =>
  DESTINATION_KINDS.find(({ isOf }) => isOf(url))!;

/** Returns whether a URL still has the names of its kind's example, which the user must replace. */
export const isExample = (url: string): boolean => {
  const { start } = kindOf(url);
  return url === start && /\bhost\b/.test(start);
};
