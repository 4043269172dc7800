/** Inboxes: receivers inside the service that store webhooks. */
import type {
  Inbox,
  InboxResponse,
  InboxDelivery,
  InboxRequest,
  InboxRequestSummary,
} from '@sluice/kit/contract';

export interface InboxReads {
  /** Lists inboxes, sorted by name. */
  listInboxes(): Promise<Inbox[]>;
  /** Lists the requests of an inbox, newest first. */
  listInboxRequests(page: {
    inbox: string;
    limit: number;
    /** The last id of the previous page. */
    after?: string | undefined;
  }): Promise<{ rows: InboxRequestSummary[]; next: string | undefined }>;
  readInboxRequest(inbox: string, id: string): Promise<InboxRequest | undefined>;
}

export interface InboxWrites {
  /**
   * Creates the inbox, or changes its response and resets its number of received requests to 0.
   * Returns undefined if it would be one inbox too many.
   */
  setInbox(name: string, answer: InboxResponse): Promise<Inbox | undefined>;
  /** Deletes the inbox with its requests; returns false if it does not exist. */
  deleteInbox(name: string): Promise<boolean>;
  clearInbox(name: string): Promise<void>;
  /**
   * Stores a webhook, and deletes the oldest ones that exceed the inbox's limits. Creates the inbox
   * if it does not exist; returns undefined if it would be one inbox too many.
   */
  receiveInInbox(received: {
    inbox: string;
    webhookId: string;
    delivery: InboxDelivery | null;
    headers: Record<string, string>;
    body: string;
    verified: boolean;
  }): Promise<{ request: InboxRequestSummary; answer: InboxResponse } | undefined>;
}
