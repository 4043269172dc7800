/**
 * The built-in receiver: accepts webhooks without a network request, stores them, and returns the
 * configured response.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { describeWebhook } from '@sluice/kit';
import {
  COPY_HEADER,
  type InboxDelivery,
  WEBHOOK_HEADERS,
  readInboxName,
  signWebhook,
} from '@sluice/kit/contract';
import { cleanReceiverText } from '../../../base/foreignText.ts';
import { describeError } from '../../../base/log.ts';
import { describeTimeout } from '../../../base/timedOut.ts';
import { isUnavailable } from '../../../store/engine/unavailable.ts';
import type { Store } from '../../../store/store.ts';
import { withDeadline } from '../../send/deadline.ts';
import type { Destination, OutgoingWebhook, SendResult } from '../destination.ts';
import { statusError, urlProblemOf } from '../httpStatus.ts';

export const TOO_MANY_INBOXES =
  'The service already has the maximum number of inboxes. Delete one, or use an existing one.';

/** Returns the chain and phase of a delivery from its webhook. */
export type ReadChainAndPhase = (webhook: object) => Pick<InboxDelivery, 'chainId' | 'phase'>;

type Received = Pick<SendResult, 'status' | 'error' | 'responseBody' | 'localFailure'>;

export function createInbox({
  store,
  secret,
  readChainAndPhase,
}: {
  store: Pick<Store, 'receiveInInbox'>;
  readChainAndPhase: ReadChainAndPhase;
  /** Returns the account's streams secret. */
  secret(): string;
}): Destination {
  /** Stores a webhook and responds after the configured delay. */
  const receive = async (
    url: string,
    headers: Record<string, string>,
    bytes: Uint8Array,
  ): Promise<Received> => {
    const body = Buffer.from(bytes).toString();
    const received = await store.receiveInInbox({
      inbox: readInboxName(url)!,
      webhookId: headers[WEBHOOK_HEADERS.id] ?? '',
      // A copy has an edited body, which may not describe a delivery.
      delivery: COPY_HEADER in headers ? null : readDelivery(body, readChainAndPhase),
      headers,
      body,
      verified: headers[WEBHOOK_HEADERS.signature] === signWebhook(body, secret()),
    });
    if (received === undefined) throw new Error(TOO_MANY_INBOXES);
    const { request, answer } = received;
    if (answer.delayMs > 0) await wait(answer.delayMs, undefined, { ref: false });
    const { status } = request;
    const responseBody = cleanReceiverText(url)(answer.body);
    return { status, error: statusError(status), responseBody };
  };

  return {
    takes: (url) => readInboxName(url) !== undefined,
    isIsolable: false,
    refuse: () => Promise.resolve(undefined),
    hostOf: () => undefined,
    async send({ url, body, sign }: OutgoingWebhook, limitMs) {
      const startedAt = Date.now();
      const beganAt = performance.now();
      const received = await within(limitMs, receive(url, sign(startedAt), body));
      const { status } = received;
      return {
        ...received,
        startedAt,
        durationMs: Math.round(performance.now() - beganAt),
        urlProblem: status === null ? undefined : urlProblemOf(status),
        transport: null,
      };
    },
    tidy() {},
    close: () => Promise.resolve(),
  };
}

/** Returns the result of a webhook, or why there is none within the time. */
function within(limitMs: number, received: Promise<Received>): Promise<Received> {
  const failed = (error: string): Received => ({ status: null, error, responseBody: '' });
  const known = received.catch((error: unknown): Received => ({
    ...failed(describeError(error)),
    ...(isUnavailable(error) && { localFailure: { cause: 'LEDGER', isSent: false } }),
  }));
  return withDeadline(limitMs, known, () => failed(describeTimeout(limitMs)));
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
