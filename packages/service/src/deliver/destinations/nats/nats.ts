/**
 * Publishes webhooks to NATS JetStream. A stream confirms a message once the majority of its replicas
 * have it.
 */
import type { JetStreamClient, PubAck } from '@nats-io/jetstream';
import type { ConnectionOptions, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { NATS, type NatsTarget } from '@sluice/kit/contract';
import type { Destination } from '../destination.ts';
import type { Login } from '../login.ts';
import {
  type BrokerClient,
  type QueueConnection,
  type QueueMessage,
  type QueueOptions,
  createQueue,
} from '../queues/queue.ts';
import { connectToFirst, toAddress, toTlsOptions } from '../queues/servers.ts';
import { explainConnecting, explainPublishing, isLost } from './failures.ts';
import { createManager } from './manager.ts';

export interface NatsOpen extends QueueConnection {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  createHeaders(): MsgHdrs;
}

/** Time to connect to one server, including TLS and the login. */
const CONNECT_MS = 3_000;
/** Interval of pings. A connection is lost if two of them get no response. */
const PING_MS = 2_000;

export const createNats = (options: QueueOptions): Destination => createQueue(CLIENT, options);

const CLIENT: BrokerClient<NatsTarget, NatsOpen> = {
  broker: NATS,
  isLost,
  explainConnecting,
  explainPublishing,

  async open({ isTls, login }, servers, certificate) {
    const { connect, headers } = await import('@nats-io/transport-node');
    const { jetstream } = await import('@nats-io/jetstream');
    return connectToFirst(servers, async (server) => {
      const address = toAddress(server);
      const connection = await connect({
        ...toLoginOptions(login),
        servers: address,
        name: 'Sluice',
        timeout: CONNECT_MS,
        pingInterval: PING_MS,
        reconnect: false,
        // `address` is checked, and other addresses are not.
        resolve: false,
        ignoreClusterUpdates: true,
        noAsyncTraces: true,
        ...(isTls && { tls: toTlsOptions(server, certificate) }),
      });
      return {
        connection,
        client: jetstream(connection),
        createHeaders: headers,
        address,
        otherServers: connection.info?.connect_urls ?? [],
        isClosed: () => connection.isClosed(),
        drain: () => connection.drain(),
        close: () => connection.close(),
      };
    });
  },

  async publish(open, message) {
    const { id } = message;
    const { stream, seq, duplicate } = await store(open, message, id);
    // Older servers confirm a repeat with the position 0 while the first message is not replicated
    // yet. It may never be, for example because its leader fails.
    if (seq === 0) throw new Error(IN_FLIGHT);
    if (!duplicate || !(await isCopyLost(open.connection, stream, seq, id))) {
      return JSON.stringify({ stream, seq, duplicate });
    }
    // The broker would drop a message with this ID until the duplicate window of the stream is over.
    const again = await store(open, message);
    return JSON.stringify({ stream, seq: again.seq, duplicate: false, lostSeq: seq });
  },
};

/** @param msgID lets the broker drop repeats. Default: it keeps the message in any case. */
async function store(
  { client, createHeaders }: NatsOpen,
  { target, body, headers, forgetMs, fill }: QueueMessage<NatsTarget>,
  msgID?: string,
): Promise<PubAck> {
  const all = createHeaders();
  for (const [name, value] of Object.entries(headers)) all.append(name, value);
  return client.publish(fill(target.subject), body, {
    headers: all,
    timeout: forgetMs,
    ...(msgID !== undefined && { msgID }),
    ...(target.stream !== undefined && { expect: { streamName: target.stream } }),
  });
}

const IN_FLIGHT =
  'the broker has an earlier copy of the message, which is not replicated yet: the message is published again later';

/**
 * Returns whether the first copy of a repeat is certainly lost, because another message has its
 * position or the stream ends before it. Servers that lose messages in a crash may keep their IDs.
 */
async function isCopyLost(
  connection: NatsConnection,
  stream: string,
  seq: number,
  id: string,
): Promise<boolean> {
  const { PubHeaders } = await import('@nats-io/jetstream');
  try {
    const { streams } = await createManager(connection);
    const found = await streams.getMessage(stream, { seq });
    if (found !== null) return found.header.get(PubHeaders.MsgIdHdr) !== id;
    // A consumer or a limit may also have removed it.
    return (await streams.info(stream)).state.last_seq < seq;
  } catch {
    // The user needs no permission to read.
    return false;
  }
}

/** A user without a password is a token, as in other NATS clients. */
function toLoginOptions(
  login: Login | undefined,
): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> {
  if (login === undefined) return {};
  const { user, password } = login;
  return password === '' ? { token: user } : { user, pass: password };
}
