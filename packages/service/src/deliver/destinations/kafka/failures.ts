/** Explains why a message was not written: what happened, then what to do. */
import { describeError } from '../../../base/log.ts';
import type { KafkaTarget } from '@sluice/kit/contract';
import { explainAlert } from '../http/certificate.ts';
import type { QueueTarget } from '../queues/target.ts';

/** A server sent something else than responses of Kafka. */
export class NotKafkaError extends Error {
  readonly isTls: boolean;

  constructor(isTls: boolean) {
    super('the server does not respond like a Kafka broker: check the host and port');
    this.isTls = isTls;
  }
}

/** The broker that leads the partition cannot be reached. */
export class UnreachableLeaderError extends Error {}

/** The connection to the broker that leads the partition was lost while it had the message. */
export class LostLeaderError extends Error {}

/** The connection that names the leaders was lost or closed, so a new one is needed. */
export class LostClusterError extends Error {}

/** A broker rejected a message, or a request for the leaders of its topic. */
export class RejectedError extends Error {
  /** Name of the error code in Kafka's protocol. */
  readonly id: string;

  constructor(id: string, detail?: string | null) {
    super(detail ?? id);
    this.id = id;
  }
}

/** Errors that pass once another broker leads the partition, so the leaders are read again. */
const STALE = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_OR_FOLLOWER',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'BROKER_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
]);

/** Returns whether another broker may lead the partition now, or soon. */
export const isStale = (error: unknown): boolean =>
  error instanceof UnreachableLeaderError ||
  error instanceof LostLeaderError ||
  (error instanceof RejectedError && STALE.has(error.id));

export const TOO_LARGE: ReadonlySet<string> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
]);

const TOO_LARGE_FIX =
  "the message is larger than the topic allows: raise its max.message.bytes, or the broker's message.max.bytes, or set maxWebhookBytes";
const NO_LEADER = 'the partition has no leader now: check the brokers of the topic';
const NO_REPLICAS =
  'the topic has fewer in-sync replicas than its min.insync.replicas: check its brokers';

/** The ID of an error for a response that the client cannot read. */
export const UNREADABLE = 'UNREADABLE';

const REJECTIONS: Readonly<Record<string, (topic: string) => string>> = {
  MESSAGE_TOO_LARGE: () => TOO_LARGE_FIX,
  RECORD_LIST_TOO_LARGE: () => TOO_LARGE_FIX,
  UNKNOWN_TOPIC_OR_PARTITION: (topic) =>
    `the topic ${topic} does not exist: create it (kafka-topics.sh --create --topic ${topic}), or correct the webhook URL`,
  TOPIC_AUTHORIZATION_FAILED: (topic) =>
    `the user may not write to the topic ${topic}: allow it (kafka-acls.sh --add --producer --topic ${topic} --allow-principal User:NAME)`,
  CLUSTER_AUTHORIZATION_FAILED: () =>
    'the user lacks a right of the cluster: allow it to write to the topic, or create the topic',
  LEADER_NOT_AVAILABLE: () => NO_LEADER,
  NOT_LEADER_OR_FOLLOWER: () => NO_LEADER,
  NOT_ENOUGH_REPLICAS: () => NO_REPLICAS,
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: () => NO_REPLICAS,
  REQUEST_TIMED_OUT: () => 'the in-sync replicas did not confirm the message in time',
  [UNREADABLE]: () => 'the response of the broker cannot be read',
  KAFKA_STORAGE_ERROR: () => 'the broker cannot write to its disk: check its logs and free space',
};

/** Returns why a message was not written. */
export function explainWriting(error: unknown, target: QueueTarget<KafkaTarget>): string {
  if (error instanceof UnreachableLeaderError) {
    return `the leader of the partition cannot be used: ${explainConnecting(error.cause, target)}`;
  }
  if (error instanceof LostLeaderError || error instanceof LostClusterError) {
    return `the connection was lost before the message was confirmed: ${describeError(innermost(error))}`;
  }
  return error instanceof RejectedError ? explainRejection(error, target) : describeError(error);
}

function explainRejection({ id, message }: RejectedError, { topic }: KafkaTarget): string {
  const explained = REJECTIONS[id]?.(topic) ?? 'the broker rejected the message';
  return `${explained} (${message === id ? id : `${id}: ${message}`})`;
}

const USES_TLS = 'the broker uses TLS: start the webhook URL with kafka+ssl:';

/** Returns why no broker of the URL could be used. */
export function explainConnecting(error: unknown, target: QueueTarget<KafkaTarget>): string {
  if (error instanceof RejectedError) return explainRejection(error, target);
  const { isTls, login, mechanism } = target;
  const cause = innermost(error);
  const alert = explainAlert(cause);
  if (alert !== undefined) return alert;
  const refused = chain(error).find(({ apiId }) => apiId !== undefined);
  if (refused?.apiId === 'UNSUPPORTED_SASL_MECHANISM') {
    return `the broker does not accept ${mechanism}: set ?sasl= in the webhook URL to one of its mechanisms (${mechanismsOf(error)})`;
  }
  if (refused?.apiId === 'ILLEGAL_SASL_STATE') {
    return 'the broker expects no login at this port: remove it from the webhook URL, or correct the port';
  }
  if (refused?.apiId === 'SASL_AUTHENTICATION_FAILED') {
    return `the broker rejected the login: ${refused.serverErrorMessage ?? refused.message} Correct the user, the password or ?sasl= in the webhook URL`;
  }
  if (cause instanceof NotKafkaError) return cause.isTls ? USES_TLS : cause.message;
  const texts = chain(error).map(({ message }) => message);
  const says = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  if (isTls && says(/TLS handshake failed|wrong version number|packet length too long/i)) {
    return 'the broker does not offer TLS at this port: start the webhook URL with kafka:, or correct the port';
  }
  if (says(/^SASL authentication failed|server signature|SCRAM/)) {
    return `the login failed: ${cause.message}. Correct the user, the password or ?sasl= in the webhook URL`;
  }
  if (says(/timed out/i)) return 'the broker did not accept the connection in time';
  if (says(/^Connection closed/)) {
    const fixes = [
      login === undefined ? 'add a login if it requires one' : 'check the login and ?sasl=',
      ...(isTls ? [] : ['start the webhook URL with kafka+ssl: if the port uses TLS']),
    ];
    return `the broker closed the connection: ${fixes.join(', and ')}`;
  }
  return describeError(cause);
}

/** An error of the client. */
interface ClientError extends Error {
  /** Name of the error code in Kafka's protocol. */
  apiId?: string;
  serverErrorMessage?: string | null;
  errors?: readonly Error[];
  response?: { mechanisms?: readonly string[] };
}

/** Returns an error, then what caused it. */
function chain(error: unknown): ClientError[] {
  const { cause, errors = [] } = error as ClientError;
  return [error as ClientError, ...[cause, ...errors].flatMap((each) => (each ? chain(each) : []))];
}

/** Returns the mechanisms that a broker offers. */
const mechanismsOf = (error: unknown): string =>
  chain(error)
    .flatMap(({ response }) => response?.mechanisms ?? [])
    .join(', ')
    .toLowerCase();

const innermost = (error: unknown): Error => chain(error).at(-1)!;
