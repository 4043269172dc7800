/** NATS JetStream for the benchmark of queues. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { startNats } from '@sluice/testkit';
import { createNats } from '../../packages/service/src/deliver/destinations/nats/nats.ts';
import type { BenchBroker } from './queue.ts';

export async function startNatsBench(): Promise<BenchBroker> {
  const { url, stop } = await startNats();
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'BENCH', subjects: ['bench.>'] });
  await connection.close();
  return {
    webhookUrl: `${url}/bench.{stream}`,
    createDestination: createNats,
    async connect() {
      const bare = await connect({ servers: url, noAsyncTraces: true });
      const client = jetstream(bare);
      return {
        publish(signed, body) {
          const message = headers();
          for (const [name, value] of Object.entries(signed)) message.append(name, value);
          return client.publish('bench.bare', body, {
            headers: message,
            msgID: crypto.randomUUID(),
            timeout: 30_000,
          });
        },
        close: () => bare.close(),
      };
    },
    stop,
  };
}
