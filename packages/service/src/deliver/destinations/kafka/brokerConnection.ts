/** A connection to one Kafka broker. It uses the protocol of the client, but not its reconnection. */
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type * as Client from '@platformatic/kafka';
import type { KafkaTarget } from '@sluice/kit/contract';
import type { CertifiedKey } from '../http/clientCertificate.ts';
import type { Server } from '../queues/servers.ts';
import type { QueueTarget } from '../queues/target.ts';
import { RejectedError, UNREADABLE } from './failures.ts';
import { guardResponses } from './responses.ts';
import { toSasl } from './sasl.ts';

export interface BrokerConnection {
  isClosed(): boolean;
  /** Resolves when the connection is closed or lost. */
  readonly closed: Promise<void>;
  /**
   * Returns the leader of each partition of a topic; undefined for those without one.
   *
   * @throws RejectedError
   */
  readLeaders(topic: string): Promise<Leaders>;
  /**
   * Writes records of one topic, and resolves when all in-sync replicas have those that were
   * accepted.
   */
  produce(records: PartitionRecord[]): Promise<Map<number, PartitionResult>>;
  close(): Promise<void>;
}

export interface Leaders {
  leaders: readonly (Broker | undefined)[];
  brokers: readonly Broker[];
}

/** A broker, as it can be reached according to the cluster. */
export interface Broker {
  host: string;
  port: number;
}

export type PartitionRecord = Client.MessageRecord & { partition: number };

/** The position of the first record, or why none was written. */
export type PartitionResult = { offset: bigint } | { error: RejectedError };

/** Time to connect to one broker, including TLS and the login. */
const CONNECT_MS = 3_000;
/** Time that a broker waits for its replicas. */
const REPLICATE_MS = 5_000;
/** Time after which a connection without a response is lost. */
const RESPONSE_MS = 6_000;
const ALL_IN_SYNC_REPLICAS = -1;

/**
 * Connects to the address of the server, and to no other.
 *
 * @throws Error of the connection or the login
 */
export async function connectToBroker(
  { ip, port, name }: Server,
  { isTls, login, mechanism }: QueueTarget<KafkaTarget>,
  certificate: CertifiedKey | undefined,
): Promise<BrokerConnection> {
  const client = await import('@platformatic/kafka');
  const connection = new client.Connection('sluice', {
    connectTimeout: CONNECT_MS,
    requestTimeout: RESPONSE_MS,
    ...(isTls && { tls: { ...toTlsName(name), ...certificate } }),
    ...(login && { sasl: toSasl(client, login, mechanism) }),
  });
  let lost: Error | undefined;
  connection.on('error', (error) => (lost ??= error));
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  connection.once('close', onClose);
  /**
   * Returns a response even if it has errors, which concern single topics or partitions.
   *
   * @throws RejectedError if it cannot be read, or the error of the connection
   */
  const receive = async <Response>(request: Promise<Response>): Promise<Response> => {
    try {
      return await request;
    } catch (error) {
      const { response } = error as { response?: Response };
      if (response !== undefined) return response;
      if (lost !== undefined || client.GenericError.isGenericError(error as Error)) {
        throw lost ?? error;
      }
      throw new RejectedError(UNREADABLE);
    }
  };
  const connected = connection.connect(ip, port);
  guardResponses(connection.socket, isTls ? 'secureConnect' : 'connect');
  await connected;

  const { apiKeys } = await receive(client.apiVersionsV1.api.async(connection, '', ''));
  const newestOf = <Api extends { key: number; version: number }>(...apis: Api[]): Api => {
    const [{ key }] = apis as [Api];
    const range = apiKeys.find(({ apiKey }) => apiKey === key);
    const newest = apis.find(
      ({ version }) => range && range.minVersion <= version && version <= range.maxVersion,
    );
    if (newest === undefined)
      throw new Error('the version of the broker is not supported: use Kafka 1.0 or later');
    return newest;
  };
  const toError = (code: number, detail?: string | null) =>
    new RejectedError(client.protocolErrorsCodesById[code] ?? `code ${code}`, detail);
  const { metadataV12, metadataV4, metadataV1, produceV9, produceV7, produceV3 } = client;
  const metadata = newestOf(metadataV12.api, metadataV4.api, metadataV1.api);
  const produce = newestOf(produceV9.api, produceV7.api, produceV3.api);

  return {
    isClosed: () => !connection.isConnected(),
    closed,
    async readLeaders(topic) {
      const { brokers, topics } = await receive(metadata.async(connection, [topic], true));
      const found = topics.find(({ name: each }) => each === topic);
      if (found === undefined) throw toError(UNKNOWN_TOPIC);
      if (found.partitions.length === 0) throw toError(found.errorCode || UNKNOWN_TOPIC);
      const byId = new Map(
        brokers.map(({ nodeId, host, port: at }) => [nodeId, { host, port: at }]),
      );
      const leaders = found.partitions
        .toSorted((a, b) => a.partitionIndex - b.partitionIndex)
        .map(({ leaderId }) => byId.get(leaderId));
      return { leaders, brokers: [...byId.values()] };
    },
    async produce(records) {
      const written = produce.async(connection, ALL_IN_SYNC_REPLICAS, REPLICATE_MS, records, {});
      const { responses } = (await receive(written)) as Client.produceV9.ProduceResponse;
      return new Map(
        responses
          .flatMap(({ partitionResponses }) => partitionResponses)
          .map(({ index, errorCode, errorMessage, baseOffset }) => [
            index,
            errorCode === 0 ? { offset: baseOffset } : { error: toError(errorCode, errorMessage) },
          ]),
      );
    },
    close: () => connection.close(),
  };
}

const UNKNOWN_TOPIC = 3;

/** Returns the options with which TLS compares the certificate with a name or an IP address. */
const toTlsName = (name: string): object =>
  isIP(name) === 0
    ? { servername: name }
    : {
        checkServerIdentity: (_: string, certificate: never) =>
          checkServerIdentity(name, certificate),
      };
