/** A message for RabbitMQ, and the reasons for which it is not confirmed. */

export interface Message {
  /** Empty for the default exchange. */
  exchange: string;
  /** Template from which the routing key was filled. */
  template: string;
  routingKey: string;
  content: Buffer;
  headers: Record<string, string>;
  id: string;
  /** Milliseconds after which the message is no longer waited for. */
  forgetMs: number;
}

type Reason =
  /** The channel or the connection was lost, for a reason that does not concern the message. */
  | 'lost'
  /** No queue gets the message. */
  | 'unroutable'
  /** A queue rejected the message. */
  | 'rejected'
  /** The broker is short of memory or disk, and reads nothing from publishers. */
  | 'blocked'
  /** The routing key is longer than the protocol allows. */
  | 'tooLong'
  /** The broker closed the channel, as described by `detail`. */
  | 'refused';

export class PublishError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, detail = '') {
    super(detail);
    this.reason = reason;
  }
}

/** Returns the maximum size of messages, if an error of a channel is about it. */
export function readMaxBytes(error: string): number | undefined {
  const [, maxBytes] = /larger than configured max size (\d+)/.exec(error) ?? [];
  return maxBytes === undefined ? undefined : Number(maxBytes);
}

/** Properties of a message, which the kit's receivers need or which tools show. */
export const toProperties = ({ id, headers }: Message) => ({
  headers,
  messageId: id,
  contentType: 'application/json',
  timestamp: Math.floor(Date.now() / 1_000),
  appId: 'sluice',
  persistent: true,
  mandatory: true,
});
