/**
 * Writes webhooks to Kafka. A message is confirmed once all in-sync replicas of its partition have
 * it.
 */
import { KAFKA, type KafkaTarget } from '@sluice/kit/contract';
import type { Destination } from '../destination.ts';
import { type QueueOptions, createQueue } from '../queues/queue.ts';
import { connectToFirst, resolveServers, toAddress } from '../queues/servers.ts';
import { connectToBroker } from './brokerConnection.ts';
import { type KafkaCluster, createCluster } from './cluster.ts';
import { LostClusterError, explainConnecting, explainWriting } from './failures.ts';

export const createKafka = (options: QueueOptions): Destination =>
  createQueue<KafkaTarget, KafkaCluster>(
    {
      broker: KAFKA,
      scopeOf: ({ mechanism }) => mechanism,
      isLost: (error) => error instanceof LostClusterError,
      explainConnecting,
      explainPublishing: (error, _cluster, { target }) => explainWriting(error, target),

      async open(target, servers, certificate) {
        const { murmur2 } = await import('@platformatic/kafka');
        return connectToFirst(servers, async (server) =>
          createCluster({
            first: await connectToBroker(server, target, certificate),
            address: toAddress(server),
            async connect({ host, port }) {
              const refused = options.guard.refuse(
                new URL(`${target.url.protocol}//${toUrlHost(host)}:${port}`),
              );
              if (refused !== undefined) throw new Error(refused);
              const found = await resolveServers(
                options.guard,
                { ...target, hosts: [host], port },
                [],
              );
              return connectToFirst(found, (each) => connectToBroker(each, target, certificate));
            },
            hash: murmur2,
          }),
        );
      },

      async publish(cluster, { target: { topic, key }, body, headers, forgetMs, fill }) {
        const { partition, offset } = await cluster.write(
          {
            topic,
            key: fill(key),
            value: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
            headers: new Map(
              Object.entries(headers).map(([name, value]) => [
                Buffer.from(name),
                Buffer.from(value),
              ]),
            ),
          },
          forgetMs,
        );
        return JSON.stringify({ topic, partition, offset: Number(offset) });
      },
    },
    options,
  );

const toUrlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);
