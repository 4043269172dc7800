/** Sends edited copies of deliveries to test URLs, signed only with a test secret. */
import { randomUUID } from 'node:crypto';
import { COPY_HEADER } from '@sluice/kit/contract';
import { RetryableError } from '../base/errors.ts';
import type { SendResult } from './destinations/destination.ts';
import type { Sender } from './send/send.ts';
import { type TurnNeeds, refuseLocalFailure, takeTurn } from './testWebhook.ts';

export interface DeliveryCopy {
  /** ID of the delivery that was edited. */
  of: string;
  url: string;
  /** The edited body, which is sent unchanged. */
  body: string;
  /** The only secret that signs the copy. */
  secret: string;
}

export interface CopySender {
  /** Returns why copies cannot be sent to this URL, or undefined. */
  refuse(url: string): Promise<string | undefined>;
  /**
   * Sends a copy once.
   *
   * @throws RetryableError `unavailable` if many copies are in flight, or if this process or the
   *   ledger failed, not the receiver
   */
  send(copy: DeliveryCopy): Promise<SendResult & { webhookId: string }>;
}

/** Maximum number of copies in flight. Each has its own connection. */
const MAX_COPIES = 8;

export function createCopySender({
  createSender,
  ...turns
}: {
  /** Creates a sender that signs only with this secret, and reaches only inboxes and HTTP URLs. */
  createSender(secret: string): Pick<Sender, 'send' | 'destinationOf' | 'close'>;
} & TurnNeeds): CopySender {
  const withSender = async <T>(
    secret: string,
    use: (sender: Pick<Sender, 'send' | 'destinationOf'>) => Promise<T>,
  ): Promise<T> => {
    const sender = createSender(secret);
    try {
      return await use(sender);
    } finally {
      await sender.close();
    }
  };
  const sendCopy = async ({ of, url, body, secret }: DeliveryCopy) => {
    const busy = await takeTurn(turns, url);
    const webhookId = randomUUID();
    if (busy !== undefined) return { ...failedWith(busy), webhookId };
    const result = await withSender(secret, (sender) =>
      sender.send({
        url,
        // The stream's headers may contain credentials of its receiver, so they are left out.
        headers: { [COPY_HEADER]: of },
        // A new ID lets a receiver that ignores duplicates accept the copy.
        id: webhookId,
        body: Buffer.from(body),
        queueSize: 0,
        recordsCharged: 0,
      }),
    );
    refuseLocalFailure(result, 'copy');
    return { ...result, webhookId };
  };
  let inFlight = 0;
  return {
    refuse: (url) => withSender('', (sender) => sender.destinationOf(url).refuse(new URL(url))),
    async send(copy) {
      if (inFlight >= MAX_COPIES) {
        throw new RetryableError(
          'unavailable',
          `${MAX_COPIES} copies are in flight: try again shortly`,
        );
      }
      inFlight++;
      try {
        return await sendCopy(copy);
      } finally {
        inFlight--;
      }
    },
  };
}

const failedWith = (error: string): SendResult => ({
  startedAt: Date.now(),
  durationMs: 0,
  status: null,
  error,
  responseBody: '',
  transport: null,
});
