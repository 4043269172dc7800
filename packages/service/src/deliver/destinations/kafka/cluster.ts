/** Writes messages to the topics of a Kafka cluster, each to the broker that leads its partition. */
import { setTimeout as wait } from 'node:timers/promises';
import type * as Client from '@platformatic/kafka';
import type { QueueConnection } from '../queues/queue.ts';
import type { Broker, BrokerConnection, Leaders } from './brokerConnection.ts';
import { LostClusterError, RejectedError, isStale } from './failures.ts';
import { type Writer, type Written, createWriter } from './writer.ts';

export interface KafkaCluster extends QueueConnection {
  /**
   * Writes a message, and resolves when all in-sync replicas have it.
   *
   * @param ms time after which the message need not be written
   * @throws RejectedError, UnreachableLeaderError, LostLeaderError or LostClusterError
   */
  write(message: KafkaMessage, ms: number): Promise<Written>;
}

export interface KafkaMessage {
  topic: string;
  key: string;
  value: Buffer;
  headers: Map<Buffer, Buffer>;
}

interface ClusterOptions {
  /** Connection to the first broker that was reached, which names the others. */
  first: BrokerConnection;
  /** IP address and port of the first broker. */
  address: string;
  /** Connects to a broker, if its address is allowed. */
  connect(broker: Broker): Promise<BrokerConnection>;
  hash: typeof Client.murmur2;
}

/** Time after which the leaders are read again, to find partitions that were added. */
const LEADERS_MS = 60_000;
/** Number of times that a message is written in one attempt while its partition gets a new leader. */
const MAX_TRIES = 5;
/** Wait before the first retry. Each one after it takes twice as long. */
const RETRY_MS = 100;
/** Clears the sign, as Kafka's own clients do. */
const MAX_INT = 0x7f_ff_ff_ff;

export function createCluster({ first, address, connect, hash }: ClusterOptions): KafkaCluster {
  const topics = new Map<string, { reading: Promise<Leaders>; readAt: number }>();
  const writers = new Map<string, Writer>();
  const writing = new Set<Promise<Written>>();
  let otherServers: string[] = [];
  let isEnding = false;
  let isClosed = false;

  const readLeaders = async (topic: string): Promise<Leaders> => {
    try {
      const found = await first.readLeaders(topic);
      otherServers = found.brokers.map(toServer);
      return found;
    } catch (cause) {
      throw cause instanceof RejectedError ? cause : new LostClusterError('', { cause });
    }
  };

  const leadersOf = (topic: string): Promise<Leaders> => {
    const known = topics.get(topic);
    if (known !== undefined && performance.now() - known.readAt < LEADERS_MS) return known.reading;
    const reading = readLeaders(topic);
    topics.set(topic, { reading, readAt: performance.now() });
    return reading;
  };

  const connectTo = async (broker: Broker): Promise<BrokerConnection> => {
    const connection = await connect(broker);
    if (isClosed) {
      await connection.close();
      throw new Error('the connection was closed');
    }
    return connection;
  };

  /** A slow or full topic delays no other one, because each has connections of its own. */
  const writerOf = (topic: string, leader: Broker): Writer => {
    const server = toServer(leader);
    const id = `${topic} ${server}`;
    let writer = writers.get(id);
    if (writer === undefined) {
      writer = createWriter(() => connectTo(leader));
      writers.set(id, writer);
    }
    return writer;
  };

  const writeOnce = async (
    { topic, key, ...message }: KafkaMessage,
    leaders: readonly (Broker | undefined)[],
    until: number,
  ): Promise<Written> => {
    const partition = (hash(key, true) & MAX_INT) % leaders.length;
    const leader = leaders[partition];
    if (leader === undefined) throw new RejectedError('LEADER_NOT_AVAILABLE');
    const record = { topic, partition, key: Buffer.from(key), ...message };
    return writerOf(topic, leader).write(record, until);
  };

  const write = async (message: KafkaMessage, until: number): Promise<Written> => {
    for (let tries = 1; ; tries++) {
      const reading = leadersOf(message.topic);
      try {
        return await writeOnce(message, (await reading).leaders, until);
      } catch (error) {
        if (topics.get(message.topic)?.reading === reading) topics.delete(message.topic);
        const waitMs = RETRY_MS * 2 ** (tries - 1);
        const isLast = tries === MAX_TRIES || performance.now() + waitMs > until;
        if (isLast || !isStale(error)) throw error;
        await wait(waitMs);
      }
    }
  };

  const close = async (): Promise<void> => {
    isEnding = true;
    isClosed = true;
    await Promise.allSettled([first, ...writers.values()].map((each) => each.close()));
  };

  const drain = async (): Promise<void> => {
    isEnding = true;
    await Promise.allSettled(writing);
    await close();
  };

  // Another cluster takes its place, so that the addresses are checked again.
  void first.closed.then(drain);

  return {
    address,
    get otherServers() {
      return otherServers;
    },
    isClosed: () => isEnding || first.isClosed(),
    async write(message, ms) {
      if (isEnding) throw new LostClusterError('the connection was closed');
      const written = write(message, performance.now() + ms);
      writing.add(written);
      try {
        return await written;
      } finally {
        writing.delete(written);
      }
    },
    drain,
    close,
  };
}

const toServer = ({ host, port }: Broker): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
