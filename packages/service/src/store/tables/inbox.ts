export interface InboxTables {
  inbox: { name: string; answer: string; received: number };
  inbox_request: InboxRequestTable;
}

/** A webhook received by an inbox. */
interface InboxRequestTable {
  id: string;
  inbox: string;
  received_at: number;
  webhook_id: string;
  /** JSON of an `InboxDelivery`; null for a test webhook. */
  delivery: string | null;
  /** 1 if the signature of the webhook is valid, otherwise 0. */
  verified: number;
  /** HTTP status of the response. */
  status: number;
  /** Headers as a JSON object. */
  headers: string;
  body: string;
  body_bytes: number;
  answer_body: string;
  answer_delay_ms: number;
}
