/** The built-in receiver: takes webhooks in process, keeps them, and answers as it is told. */
import { setTimeout as wait } from 'node:timers/promises';
import { WEBHOOK_HEADERS, signWebhook } from '@sluice/kit/contract';
import type { Store } from './store/store.ts';

/** Takes a webhook, and answers after its wait. */
export type ReceiveInbox = (
  inbox: string,
  request: { headers: Record<string, string>; body: string },
) => Promise<{ status: number; body: string }>;

export function createInbox({
  store,
  secret,
}: {
  store: Store;
  /** The account's streams secret. */
  secret(): string;
}): ReceiveInbox {
  return async (inbox, { headers, body }) => {
    const { request, answer } = await store.receiveInInbox({
      inbox,
      webhookId: headers[WEBHOOK_HEADERS.id] ?? '',
      headers,
      body,
      verified: headers[WEBHOOK_HEADERS.signature] === signWebhook(body, secret()),
    });
    if (answer.delayMs > 0) await wait(answer.delayMs, undefined, { ref: false });
    return { status: request.status, body: answer.body };
  };
}
