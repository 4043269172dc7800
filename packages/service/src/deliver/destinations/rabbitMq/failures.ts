/** Explains why a message was not confirmed: what happened, then what to do. */
import type { RabbitMqTarget } from '@sluice/kit/contract';
import { describeError } from '../../../base/log.ts';
import { explainAlert } from '../http/certificate.ts';
import type { QueueMessage } from '../queues/queue.ts';
import type { QueueTarget } from '../queues/target.ts';
import { PublishError, readMaxBytes } from './publishing.ts';

/** Returns why a connection could not be opened. */
export function explainConnecting(
  error: unknown,
  { vhost }: Pick<QueueTarget<RabbitMqTarget>, 'vhost'>,
): string {
  const alert = explainAlert(error as Error);
  if (alert !== undefined) return alert;
  const { message } = error as Error;
  if (message.includes('Login was refused')) {
    return 'the broker rejected the login: correct the user and password in the webhook URL. The user guest may connect only from the same machine';
  }
  // The client drops the text of this error.
  if (message.includes('got <ConnectionClose')) {
    return `the broker rejected the vhost ${vhost}: create it (rabbitmqctl add_vhost), and give the user permission for it (rabbitmqctl set_permissions)`;
  }
  if (message.includes('wrong version number')) {
    return 'the broker does not offer TLS: start the webhook URL with amqp:';
  }
  if (message === 'connect ETIMEDOUT') return 'the broker did not accept the connection in time';
  return /^(Socket closed abruptly|Frame size|Invalid frame)|ECONNRESET/.test(message)
    ? 'the server closed the connection, or is not a RabbitMQ broker: check the host and port, and start the webhook URL with amqps: if the broker uses TLS'
    : describeError(error);
}

/** Returns why a message was not confirmed over an open connection. */
export function explainPublishing(
  error: unknown,
  { blockedBy }: { blockedBy: string | undefined },
  { target: { vhost, exchange, routingKey }, fill }: QueueMessage<RabbitMqTarget>,
): string {
  if (!(error instanceof PublishError)) return describeError(error);
  const { reason, message } = error;
  const key = fill(routingKey);
  switch (reason) {
    case 'lost':
      return 'the connection was lost before the message was confirmed';
    case 'unroutable':
      return exchange === ''
        ? `the queue ${key} does not exist in the vhost ${vhost}: create it, or correct routingKey in the webhook URL`
        : `no queue is bound to the exchange ${exchange} for the routing key ${key}: bind one, or correct the webhook URL`;
    case 'rejected':
      return 'a queue rejected the message, because it is full or has failed: consume messages, or raise its max-length or max-length-bytes';
    case 'blocked':
      return `the broker takes no messages now (${blockedBy ?? 'alarm'}): free memory or disk, or raise vm_memory_high_watermark or lower disk_free_limit`;
    case 'tooLong':
      return `the routing key ${key} is longer than 255 bytes: shorten routingKey in the webhook URL`;
    case 'refused':
      return explainRefusal(message, exchange, vhost);
  }
}

/** Returns why the broker closed a channel. */
function explainRefusal(error: string, exchange: string, vhost: string): string {
  const text = error.split(' - ').slice(1).join(' - ').replace(/"$/, '') || error;
  const maxBytes = readMaxBytes(error)?.toLocaleString('en');
  if (maxBytes !== undefined) {
    return `the message is larger than the broker's max_message_size of ${maxBytes} bytes: raise it, or set maxWebhookBytes to at most ${maxBytes}`;
  }
  if (error.includes('NOT_FOUND')) {
    return `the exchange ${exchange} does not exist in the vhost ${vhost}: create it, or correct exchange in the webhook URL`;
  }
  return error.includes('ACCESS_REFUSED')
    ? `the broker does not permit this: ${text}. Let the user write to the exchange (rabbitmqctl set_permissions, set_topic_permissions), or use another exchange`
    : `the broker rejected the message: ${text}`;
}

/** Returns whether the channel or the connection was lost, so that a message may have been stored. */
export const isLost = (error: unknown): boolean =>
  error instanceof PublishError && error.reason === 'lost';
