/**
 * The built-in receiver: accepts webhooks without a network request, stores them, and returns the
 * configured response.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { describeWebhook } from '@sluice/kit';
import { type InboxDelivery, WEBHOOK_HEADERS, signWebhook } from '@sluice/kit/contract';
import type { Store } from '../../../store/store.ts';

/** Stores a webhook and responds after the configured delay. */
export type ReceiveInbox = (
  inbox: string,
  request: { headers: Record<string, string>; body: Uint8Array },
) => Promise<{ status: number; body: string }>;

export const TOO_MANY_INBOXES =
  'The service already has the maximum number of inboxes. Delete one, or use an existing one.';

/** Returns the chain and phase of a delivery from its webhook. */
export type ReadChainAndPhase = (webhook: object) => Pick<InboxDelivery, 'chainId' | 'phase'>;

export function createInbox({
  store,
  secret,
  readChainAndPhase,
}: {
  store: Store;
  readChainAndPhase: ReadChainAndPhase;
  /** Returns the account's streams secret. */
  secret(): string;
}): ReceiveInbox {
  return async (inbox, { headers, body: bytes }) => {
    const body = Buffer.from(bytes).toString();
    const received = await store.receiveInInbox({
      inbox,
      webhookId: headers[WEBHOOK_HEADERS.id] ?? '',
      delivery: readDelivery(body, readChainAndPhase),
      headers,
      body,
      verified: headers[WEBHOOK_HEADERS.signature] === signWebhook(body, secret()),
    });
    if (received === undefined) throw new Error(TOO_MANY_INBOXES);
    const { request, answer } = received;
    if (answer.delayMs > 0) await wait(answer.delayMs, undefined, { ref: false });
    return { status: request.status, body: answer.body };
  };
}

/**
 * Returns the details of a delivery from its webhook; null for a test webhook, which has no stream.
 */
function readDelivery(body: string, readChainAndPhase: ReadChainAndPhase): InboxDelivery | null {
  const webhook = JSON.parse(body) as AnyWebhook;
  const { streamId, tag, block } = webhook;
  if (streamId === '') return null;
  return {
    streamId,
    tag,
    blockNumber: Number(block.number),
    about: describeWebhook(webhook),
    ...readChainAndPhase(webhook),
  };
}

/** The parts that the webhooks of all families have. */
type AnyWebhook = Parameters<typeof describeWebhook>[0] & {
  readonly streamId: string;
  readonly tag: string;
  readonly block: { readonly number: string };
};
