import { setTimeout as wait } from 'node:timers/promises';
import { startRabbitMq } from '@sluice/testkit';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import type { FaultBroker } from './broker.ts';

const NAME = 'hooks';
/** Unconfirmed messages that the reader gets at a time. */
const PREFETCH = 1_000;
/** Messages that the reader acknowledges at a time. */
const ACKED = 500;
/** Time without a message after which reading fails. */
const STALLED_MS = 30_000;
/** Entries of the log that a replica may lack while messages arrive. */
const MAX_LAG = 1_000;

/** Starts three RabbitMQ servers with a quorum queue. */
export async function startRabbitMqBroker(): Promise<FaultBroker> {
  const rabbit = await startRabbitMq({ servers: 3, isProxied: true });
  let open: { model: ChannelModel; channel: Channel } | undefined;

  /** Returns a channel to the first server that responds. */
  const channelOf = async (): Promise<Channel> => {
    if (open !== undefined) return open.channel;
    let failure: unknown;
    for (const { directUrl } of rabbit.servers) {
      try {
        const model = await connect(`${directUrl}?heartbeat=2`, { timeout: 2_000 });
        const lose = () => {
          if (open?.model === model) open = undefined;
        };
        model.on('error', lose);
        model.on('close', lose);
        const channel = await model.createChannel();
        channel.on('error', lose);
        open = { model, channel };
        return channel;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
  const count = async (): Promise<number | undefined> => {
    try {
      return (await (await channelOf()).checkQueue(NAME)).messageCount;
    } catch {
      return undefined;
    }
  };
  const [first] = rabbit.servers;

  await (await channelOf()).assertQueue(NAME, { arguments: { 'x-queue-type': 'quorum' } });
  return {
    url: `${rabbit.url}/?routingKey=${NAME}`,
    servers: rabbit.servers,
    count,
    async isReplicated() {
      const status = await first!
        .ctl('eval', `rabbit_quorum_queue:status(<<"/">>, <<"${NAME}">>).`)
        .catch(() => '');
      const written = [...status.matchAll(/"Commit Index">>,\s*(\d+)/g)].map(([, at]) =>
        Number(at),
      );
      return (
        written.length === 3 &&
        Math.max(...written) - Math.min(...written) < MAX_LAG &&
        status.includes('leader')
      );
    },
    async limitTo(limit) {
      if (limit === undefined) await first!.ctl('clear_policy', 'limit');
      else {
        const policy = JSON.stringify({ 'max-length': limit, overflow: 'reject-publish' });
        await first!.ctl('set_policy', 'limit', NAME, policy, '--apply-to', 'queues');
      }
    },
    async leader() {
      const [, name] = /(n\d)@/.exec(await first!.ctl('list_queues', 'leader')) ?? [];
      return name!;
    },
    async readIds() {
      const counts = new Map<string, number>();
      const expected = (await count())!;
      const channel = await channelOf();
      let read = 0;
      let readAt = performance.now();
      await channel.prefetch(PREFETCH);
      await channel.consume(NAME, (message) => {
        const id = message!.properties.headers!['webhook-id'] as string;
        counts.set(id, (counts.get(id) ?? 0) + 1);
        read++;
        readAt = performance.now();
        if (read % ACKED === 0 || read === expected) channel.ack(message!, true);
      });
      while (read < expected) {
        if (performance.now() - readAt > STALLED_MS) {
          throw new Error(`read ${read} of ${expected} messages`);
        }
        await wait(100);
      }
      return counts;
    },
    async stop() {
      await open?.model.close().catch(() => {});
      await rabbit.stop();
    },
  };
}
