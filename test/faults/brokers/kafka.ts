import { startKafkaMock } from '@sluice/testkit';
import type { FaultBroker } from './broker.ts';

const TOPIC = 'hooks';

/**
 * Starts the mock cluster of librdkafka: three brokers in one process, which can only be stopped and
 * resumed together. It has no replicas and no limits, and loses its messages when it is killed.
 */
export async function startKafkaBroker(): Promise<FaultBroker> {
  const mock = await startKafkaMock({ brokers: 3 });
  const { network, kill, resume, start, stop } = mock;
  const onlyStops = (): never => {
    throw new Error('the mock cluster of Kafka can only be stopped and cut off');
  };
  return {
    url: `kafka://127.0.0.1:${network.port}/${TOPIC}`,
    servers: [{ name: 'mock', network, kill, pause: () => void mock.pause(), resume, start }],
    count: () =>
      mock.read(TOPIC).then(
        ({ length }) => length,
        () => undefined,
      ),
    isReplicated: async () => true,
    limitTo: onlyStops,
    leader: onlyStops,
    async readIds() {
      const counts = new Map<string, number>();
      for (const { headers } of await mock.read(TOPIC)) {
        const id = headers['webhook-id']!;
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      return counts;
    },
    stop,
  };
}
