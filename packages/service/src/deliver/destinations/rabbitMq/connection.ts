/** A connection to a RabbitMQ server, with a channel for each exchange and template. */
import type { Duplex } from 'node:stream';
import type { RabbitMqTarget } from '@sluice/kit/contract';
import type { ChannelModel } from 'amqplib';
import type { CertifiedKey } from '../http/clientCertificate.ts';
import type { QueueConnection } from '../queues/queue.ts';
import { type Server, toAddress, toTlsOptions } from '../queues/servers.ts';
import type { QueueTarget } from '../queues/target.ts';
import { type PublishChannel, openChannel } from './channel.ts';
import { type Message, PublishError } from './publishing.ts';

export interface RabbitMqConnection extends QueueConnection {
  /** Why the broker reads no messages now; undefined if it does. */
  readonly blockedBy: string | undefined;
  /**
   * Publishes a message, and resolves when it is confirmed.
   *
   * @throws PublishError
   */
  publish(message: Message): Promise<void>;
}

/** Time to connect to one server, including TLS and the login. */
const CONNECT_MS = 3_000;
/** Interval of heartbeats. A connection is lost if two of them are missing. */
const HEARTBEAT_S = 3;
/** Time for the confirmations of messages that the broker read before it was blocked. */
const BLOCKED_MS = 1_000;
/** Time for the broker to close the connection. */
const CLOSE_MS = 2_000;
/**
 * Time for the broker to close a channel. It takes long if a queue does not respond. If the broker
 * reads nothing from the connection because of that, all of its channels are lost.
 */
const CHANNEL_CLOSE_MS = 10_000;
/** Maximum number of channels. Brokers allow 2,047 by default. */
const MAX_CHANNELS = 1_000;

export async function connectTo(
  server: Server,
  { isTls, login, vhost }: QueueTarget<RabbitMqTarget>,
  certificate: CertifiedKey | undefined,
): Promise<RabbitMqConnection> {
  const { connect } = await import('amqplib');
  const model = await connect(
    {
      protocol: isTls ? 'amqps' : 'amqp',
      hostname: server.ip,
      port: server.port,
      // The client decodes the name.
      vhost: encodeURIComponent(vhost),
      heartbeat: HEARTBEAT_S,
      ...(login && { username: login.user, password: login.password }),
    },
    {
      timeout: CONNECT_MS,
      noDelay: true,
      clientProperties: { connection_name: 'Sluice' },
      ...(isTls && toTlsOptions(server, certificate)),
    },
  );
  return manage(model, toAddress(server));
}

function manage(model: ChannelModel, address: string): RabbitMqConnection {
  /** Channels by exchange and template, the least recently used first. */
  const channels = new Map<string, PublishChannel>();
  const inFlight = new Set<Promise<void>>();
  let blockedBy: string | undefined;
  let isClosed = false;

  // The `close` event follows.
  model.on('error', () => {});
  model.on('close', () => {
    isClosed = true;
    // The client ends a socket, and does not close it if the broker is silent.
    destroy();
  });
  model.on('blocked', (reason) => {
    blockedBy = reason;
    setTimeout(() => {
      if (blockedBy === undefined) return;
      for (const channel of channels.values()) channel.fail(new PublishError('blocked'));
    }, BLOCKED_MS).unref();
  });
  model.on('unblocked', () => (blockedBy = undefined));

  const destroy = (): void =>
    void (model.connection as unknown as { stream: Duplex }).stream.destroy(new Error('closed'));

  /** Closes something in time, or else the connection. */
  const closeInTime = async (closing: Promise<void>, limitMs: number): Promise<void> => {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      destroy();
      resolve();
    }, limitMs);
    await Promise.race([closing.catch(() => {}), late]);
    clearTimeout(timer);
  };

  const drop = (key: string, channel: PublishChannel): void => {
    if (channels.get(key) === channel) channels.delete(key);
    void closeInTime(channel.close(), CHANNEL_CLOSE_MS);
  };

  const channelOf = (key: string): PublishChannel => {
    let channel = channels.get(key);
    if (channel === undefined) {
      const opened = openChannel(model, () => {
        if (channels.get(key) === opened) channels.delete(key);
      });
      channel = opened;
      const [oldest] = channels;
      if (channels.size >= MAX_CHANNELS && oldest !== undefined) drop(...oldest);
    }
    channels.delete(key);
    channels.set(key, channel);
    return channel;
  };

  const publish = async (message: Message): Promise<void> => {
    if (blockedBy !== undefined) throw new PublishError('blocked');
    const key = JSON.stringify([message.exchange, message.template]);
    const channel = channelOf(key);
    // Otherwise, the broker would keep the message, and those of later attempts, until its queue
    // responds again.
    const timer = setTimeout(() => drop(key, channel), message.forgetMs);
    await channel.publish(message).finally(() => clearTimeout(timer));
  };

  const close = async (): Promise<void> => {
    if (!isClosed) await closeInTime(model.close(), CLOSE_MS);
  };

  return {
    address,
    otherServers: [],
    get blockedBy() {
      return blockedBy;
    },
    isClosed: () => isClosed,
    publish(message) {
      const published = publish(message);
      const settled = published.catch(() => {}).finally(() => inFlight.delete(settled));
      inFlight.add(settled);
      return published;
    },
    async drain() {
      await Promise.all(inFlight);
      await close();
    },
    close,
  };
}
