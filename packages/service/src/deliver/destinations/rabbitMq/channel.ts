/**
 * Publishes the messages of one exchange and template over a channel of their own, because an error
 * or a queue that does not respond takes the channel with all of its messages.
 */
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { type Message, PublishError, readMaxBytes, toProperties } from './publishing.ts';

export interface PublishChannel {
  publish(message: Message): Promise<void>;
  /** Fails the messages in flight. */
  fail(reason: PublishError): void;
  /** Closes the channel at the broker, which then forgets what it has not confirmed. */
  close(): Promise<void>;
}

/**
 * Maximum number of messages of a channel that wait for their confirmation. If a queue does not
 * respond, a broker stops reading from the whole connection after 400.
 */
const MAX_IN_FLIGHT = 200;

/** @param onClosed called when the channel can no longer be used */
export function openChannel(model: ChannelModel, onClosed: () => void): PublishChannel {
  const inFlight = new Set<(error: PublishError) => void>();
  /** IDs of messages that the broker returned, each shortly before its confirmation. */
  const returned = new Set<string>();
  /** Messages that wait until others are confirmed. */
  const waiting: (() => void)[] = [];
  let failure: Error | undefined;

  const opening = model.createConfirmChannel();
  opening.then(
    (channel) => {
      channel.on('error', (error: Error) => (failure = error));
      channel.on('return', ({ properties }) => returned.add(String(properties.messageId)));
      channel.on('close', () => {
        onClosed();
        for (const proceed of waiting.splice(0)) proceed();
      });
    },
    () => onClosed(),
  );

  /** Returns why a message that was in flight when the channel was closed is not confirmed. */
  const toFailure = ({ content, routingKey }: Message): PublishError => {
    const { message: detail = '' } = failure ?? {};
    return failure === undefined || isAboutAnother(detail, content.length, routingKey)
      ? new PublishError('lost')
      : new PublishError('refused', detail);
  };

  const send = (channel: ConfirmChannel, message: Message, settle: (error?: Error) => void) => {
    const { exchange, routingKey, content, id } = message;
    channel.publish(exchange, routingKey, content, toProperties(message), (error: unknown) => {
      const isReturned = returned.delete(id);
      if (error === null) settle(isReturned ? new PublishError('unroutable') : undefined);
      else if ((error as Error).message === NACKED) settle(new PublishError('rejected'));
      else settle(toFailure(message));
    });
  };

  return {
    async publish(message) {
      const channel = await opening.catch(() => {
        throw new PublishError('lost');
      });
      if (inFlight.size >= MAX_IN_FLIGHT) {
        await new Promise<void>((proceed) => waiting.push(proceed));
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      inFlight.add(reject);
      try {
        send(channel, message, (error) => (error === undefined ? resolve() : reject(error)));
        await promise;
      } catch (error) {
        // The client throws this if the channel was closed before.
        throw (error as Error).name === 'IllegalOperationError' ? toFailure(message) : error;
      } finally {
        inFlight.delete(reject);
        waiting.shift()?.();
      }
    },
    fail(reason) {
      for (const reject of inFlight) reject(reason);
    },
    async close() {
      await (await opening).close();
    },
  };
}

/** Message of the error with which the client reports a rejection. */
const NACKED = 'message nacked';

/** Returns whether the error of a channel was caused by another message than the one described. */
function isAboutAnother(error: string, bytes: number, routingKey: string): boolean {
  const maxBytes = readMaxBytes(error);
  const isAboutTopic = error.includes("access to topic '");
  return (
    (maxBytes !== undefined && bytes <= maxBytes) ||
    (isAboutTopic && !error.includes(`access to topic '${routingKey}' in exchange`))
  );
}
