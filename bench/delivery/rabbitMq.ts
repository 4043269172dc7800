/** A quorum queue of RabbitMQ for the benchmark of queues. */
import { startRabbitMq } from '@sluice/testkit';
import { connect } from 'amqplib';
import { createRabbitMq } from '../../packages/service/src/deliver/destinations/rabbitMq/rabbitMq.ts';
import type { BenchBroker } from './queue.ts';

const QUEUE = 'bench';

export async function startRabbitMqBench(): Promise<BenchBroker> {
  const { url, stop } = await startRabbitMq();
  const model = await connect(url);
  const channel = await model.createChannel();
  await channel.assertQueue(QUEUE, { arguments: { 'x-queue-type': 'quorum' } });
  await model.close();
  return {
    webhookUrl: `${url}/?routingKey=${QUEUE}`,
    createDestination: createRabbitMq,
    async connect() {
      const bare = await connect(url, { noDelay: true });
      const confirming = await bare.createConfirmChannel();
      return {
        publish(headers, body) {
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          const options = {
            headers,
            messageId: crypto.randomUUID(),
            contentType: 'application/json',
            persistent: true,
            mandatory: true,
          };
          confirming.sendToQueue(QUEUE, body, options, (error: unknown) =>
            error === null ? resolve() : reject(error),
          );
          return promise;
        },
        close: () => bare.close(),
      };
    },
    stop,
  };
}
