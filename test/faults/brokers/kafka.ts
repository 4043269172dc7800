import { setTimeout as wait } from 'node:timers/promises';
import { startKafkaMock } from '@sluice/testkit';
import type { FaultBroker } from './broker.ts';

const TOPIC = 'hooks';
const QUIET_MS = 5_000;

/**
 * Starts the mock cluster of librdkafka: three brokers in one process, which can only be stopped and
 * resumed together. It has no replicas and no limits, and loses its messages when it is killed. It
 * keeps few of them, so they are read as they arrive.
 */
export async function startKafkaBroker(): Promise<FaultBroker> {
  const mock = await startKafkaMock({ brokers: 3 });
  const { network, kill, resume, start, stop } = mock;
  const counts = new Map<string, number>();
  let count = 0;
  await mock.follow(TOPIC, ({ headers }) => {
    const id = headers['webhook-id']!;
    counts.set(id, (counts.get(id) ?? 0) + 1);
    count++;
  });
  const onlyStops = (): never => {
    throw new Error('the mock cluster of Kafka can only be stopped and cut off');
  };
  return {
    url: `kafka://127.0.0.1:${network.port}/${TOPIC}`,
    servers: [{ name: 'mock', network, kill, pause: () => void mock.pause(), resume, start }],
    count: async () => count,
    isReplicated: async () => true,
    limitTo: onlyStops,
    leader: onlyStops,
    async readIds() {
      // The follower is at the end once nothing has arrived for a while.
      for (let before = -1; before !== count; await wait(QUIET_MS)) before = count;
      return counts;
    },
    stop,
  };
}
