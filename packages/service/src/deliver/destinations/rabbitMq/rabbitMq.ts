/**
 * Publishes webhooks to RabbitMQ. The broker confirms a message once each queue that gets it has
 * stored it: a quorum queue or a stream, once the majority of its replicas have it.
 */
import { RABBIT_MQ, type RabbitMqTarget } from '@sluice/kit/contract';
import type { Destination } from '../destination.ts';
import { type BrokerClient, type QueueOptions, createQueue } from '../queues/queue.ts';
import { connectToFirst } from '../queues/servers.ts';
import { type RabbitMqConnection, connectTo } from './connection.ts';
import { explainConnecting, explainPublishing, isLost } from './failures.ts';
import { PublishError } from './publishing.ts';

/** Maximum length of a routing key in the protocol. */
const MAX_KEY_BYTES = 255;

export const createRabbitMq = (options: QueueOptions): Destination => createQueue(CLIENT, options);

const CLIENT: BrokerClient<RabbitMqTarget, RabbitMqConnection> = {
  broker: RABBIT_MQ,
  scopeOf: ({ vhost }) => vhost,
  isLost,
  explainConnecting,
  explainPublishing,

  open: (target, servers, certificate) =>
    connectToFirst(servers, (server) => connectTo(server, target, certificate)),

  async publish(connection, { id, target, body, headers, forgetMs, fill }) {
    const { exchange, routingKey: template } = target;
    const routingKey = fill(template);
    if (Buffer.byteLength(routingKey) > MAX_KEY_BYTES) throw new PublishError('tooLong');
    await connection.publish({
      exchange,
      template,
      routingKey,
      content: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      headers,
      id,
      forgetMs,
    });
    return JSON.stringify({ exchange, routingKey });
  },
};
