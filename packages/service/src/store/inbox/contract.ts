/** The built-in receiver. */
import type {
  Inbox,
  InboxAnswer,
  InboxDelivery,
  InboxRequest,
  InboxRequestSummary,
} from '@sluice/kit/contract';

export interface InboxReads {
  /** By name. */
  listInboxes(): Promise<Inbox[]>;
  /** Newest first. */
  listInboxRequests(page: {
    inbox: string;
    limit: number;
    /** The last id of the page before. */
    after?: string | undefined;
  }): Promise<{ rows: InboxRequestSummary[]; next: string | undefined }>;
  readInboxRequest(inbox: string, id: string): Promise<InboxRequest | undefined>;
}

export interface InboxWrites {
  /** Makes it, or changes how it answers, and counts from 0 again. */
  setInbox(name: string, answer: InboxAnswer): Promise<Inbox>;
  /** With what came into it; false where there is none. */
  deleteInbox(name: string): Promise<boolean>;
  clearInbox(name: string): Promise<void>;
  /** Keeps a webhook, and the newest before it; makes the inbox where there is none. */
  receiveInInbox(received: {
    inbox: string;
    webhookId: string;
    delivery: InboxDelivery | null;
    headers: Record<string, string>;
    body: string;
    verified: boolean;
  }): Promise<{ request: InboxRequestSummary; answer: InboxAnswer }>;
}
