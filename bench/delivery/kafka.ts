/** A topic of Kafka for the benchmark of queues, in the mock cluster of librdkafka. */
import { ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka';
import { startKafkaMock } from '@sluice/testkit';
import { createKafka } from '../../packages/service/src/deliver/destinations/kafka/kafka.ts';
import type { BenchBroker } from './queue.ts';

export async function startKafkaBench(): Promise<BenchBroker> {
  const { brokers, stop } = await startKafkaMock();
  return {
    webhookUrl: `kafka://${brokers[0]}/bench`,
    createDestination: createKafka,
    async connect() {
      const producer = new Producer({
        clientId: 'bench',
        bootstrapBrokers: [...brokers],
        serializers: stringSerializers,
        acks: ProduceAcks.ALL,
        maxInflights: 512,
      });
      return {
        publish: (headers, body) =>
          producer.send({
            messages: [
              { topic: 'bare', key: crypto.randomUUID(), value: body.toString(), headers },
            ],
          }),
        close: () => producer.close(),
      };
    },
    stop,
  };
}
