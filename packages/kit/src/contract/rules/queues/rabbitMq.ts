/**
 * Webhook URLs of RabbitMQ: `amqps://user:password@host:5671/vhost?exchange=NAME&routingKey=KEY`, as
 * in RabbitMQ's URI specification, with two parameters for the target.
 */
import { type QueueBroker, decodePart } from './broker.ts';
import { parseTemplate } from './template.ts';

export interface RabbitMqTarget {
  vhost: string;
  /** Empty for the default exchange, whose routing keys are names of queues. */
  exchange: string;
  /** Template of the routing key. */
  routingKey: string;
}

const EXAMPLE = 'amqp://host:5672/?routingKey=QUEUE';
/** Maximum length of a name in the protocol. */
const MAX_BYTES = 255;

export const RABBIT_MQ: QueueBroker<RabbitMqTarget> = {
  name: 'RabbitMQ',
  plain: { scheme: 'amqp:', port: 5672 },
  tls: { scheme: 'amqps:', port: 5671 },
  needs: 'a routing key',
  example: EXAMPLE,
  parameters: ['exchange', 'routingKey'],
  parseTarget({ pathname, searchParams }) {
    const path = pathname.slice(1);
    if (path.includes('/')) throw new Error('should have %2F for a / in the vhost');
    const exchange = searchParams.get('exchange') ?? '';
    const routingKey = searchParams.get('routingKey') ?? '';
    if (exchange === '' && routingKey === '') {
      throw new Error(`should have the name of a queue as routingKey, such as ${EXAMPLE}`);
    }
    const vhost = decodePart(path) || '/';
    for (const name of [vhost, exchange, routingKey]) {
      if (new TextEncoder().encode(name).length > MAX_BYTES) {
        throw new Error(`should have names of at most ${MAX_BYTES} bytes`);
      }
    }
    return { vhost, exchange, routingKey: parseTemplate(routingKey) };
  },
};
