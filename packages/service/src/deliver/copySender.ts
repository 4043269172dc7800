/** Sends edited copies of deliveries to test URLs, signed only with a test secret. */
import { randomUUID } from 'node:crypto';
import { COPY_HEADER } from '@sluice/kit/contract';
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
   * @throws RetryableError `unavailable` if this process or the ledger failed, not the receiver
   */
  send(copy: DeliveryCopy): Promise<SendResult & { webhookId: string }>;
}

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
  return {
    refuse: (url) => withSender('', (sender) => sender.destinationOf(url).refuse(new URL(url))),
    async send({ of, url, body, secret }) {
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
