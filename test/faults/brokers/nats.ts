import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startNats, until } from '@sluice/testkit';
import type { FaultBroker } from './broker.ts';

const NAME = 'HOOKS';
const READS_AT_ONCE = 100;

/** Starts three NATS servers with a replicated JetStream stream. */
export async function startNatsBroker(): Promise<FaultBroker> {
  const nats = await startNats({ servers: 3, isProxied: true });
  const connection = await connect({
    servers: nats.servers.map(({ directUrl }) => directUrl),
    ignoreClusterUpdates: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    pingInterval: 1_000,
  });
  const manager = await jetstreamManager(connection, { checkAPI: false });
  await until('the queue is replicated', () =>
    manager.streams
      .add({ name: NAME, subjects: ['hooks.>'], num_replicas: 3, discard: 'new' })
      .catch(() => false),
  );
  return {
    url: `${nats.url}/hooks.{stream}.{phase}?stream=${NAME}`,
    servers: nats.servers,
    count: () =>
      manager.streams.info(NAME).then(
        ({ state }) => state.messages,
        () => undefined,
      ),
    async isReplicated() {
      const info = await manager.streams.info(NAME).catch(() => undefined);
      const { leader, replicas = [] } = info?.cluster ?? {};
      return Boolean(leader) && replicas.length === 2 && replicas.every(({ current }) => current);
    },
    async limitTo(count = -1) {
      await until('the limit of the queue is set', () =>
        manager.streams.update(NAME, { max_msgs: count }).catch(() => false),
      );
    },
    leader: async () => (await manager.streams.info(NAME)).cluster!.leader!,
    async readIds() {
      const { first_seq: first, last_seq: last } = (await manager.streams.info(NAME)).state;
      const counts = new Map<string, number>();
      for (let seq = first; seq <= last; seq += READS_AT_ONCE) {
        const length = Math.min(READS_AT_ONCE, last - seq + 1);
        const some = Array.from({ length }, (_, n) =>
          manager.streams.getMessage(NAME, { seq: seq + n }),
        );
        for (const message of await Promise.all(some)) {
          const id = message!.header.get('webhook-id');
          counts.set(id, (counts.get(id) ?? 0) + 1);
        }
      }
      return counts;
    },
    async hasLost(id, confirmation) {
      const { stream, seq } = JSON.parse(confirmation) as { stream: string; seq: number };
      if (stream !== NAME || seq < 1) return false;
      // There is no message at a position that a new leader does not have.
      const message = await manager.streams.getMessage(NAME, { seq }).catch(() => null);
      return message?.header.get('webhook-id') !== id;
    },
    async stop() {
      await connection.close();
      await nats.stop();
    },
  };
}
