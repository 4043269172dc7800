/** Explains why a message was not confirmed: what happened, then what to do. */
import type { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { NatsTarget } from '@sluice/kit/contract';
import { describeError } from '../../../base/log.ts';
import { findCertificateFault } from '../../../base/certificateErrors.ts';
import { explainAlert } from '../http/certificate.ts';
import type { QueueMessage } from '../queues/queue.ts';
import type { QueueTarget } from '../queues/target.ts';
import { createManager } from './manager.ts';

/** Error codes of JetStream, as in `nats errors ls`. */
const API_ERRORS: Readonly<Record<number, string>> = {
  10_008: 'JetStream is temporarily unavailable, for example while its servers elect a leader',
  10_023: 'the JetStream servers have no resources left: extend their storage or memory',
  10_054:
    "the message is larger than the stream's maximum message size: raise it (nats stream edit --max-msg-size), or set maxWebhookBytes",
  10_060:
    'another JetStream stream has the subject: correct ?stream=NAME in the webhook URL, or remove it',
  10_077: 'the JetStream stream is full: consume messages, or raise its limits (nats stream edit)',
};

/** Messages of the client that do not name the cause. */
const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  "server does not support 'tls'":
    'the broker does not offer TLS: start the webhook URL with nats:',
  'error connecting - node provided an undefined error':
    'the connection was closed before the broker accepted it: check that a NATS server listens at the host and port',
};

/** Returns why a connection could not be opened. */
export function explainConnecting(error: unknown, { isTls }: Pick<QueueTarget, 'isTls'>): string {
  const alert = explainAlert(error as Error);
  if (alert !== undefined) return alert;
  const { name, message } = error as Error;
  switch (name) {
    case 'AuthorizationError':
      return `the broker rejected the login: ${message}. Correct the user and password, or the token, in the webhook URL`;
    case 'TimeoutError':
      return 'the broker did not accept the connection in time';
    case 'ConnectionError':
      return CONNECTION_ERRORS[message] ?? describeError(error);
    default:
      return !isTls && findCertificateFault(error) !== undefined
        ? 'the broker uses TLS: start the webhook URL with tls:'
        : describeError(error);
  }
}

/** Returns why a message was not confirmed over an open connection. */
export async function explainPublishing(
  error: unknown,
  { connection }: { connection: NatsConnection },
  { target, fill }: QueueMessage<NatsTarget>,
): Promise<string> {
  const subject = fill(target.subject);
  const { name, message, cause } = error as Error;
  const reason = (cause as Error | undefined)?.name;
  if (name === 'JetStreamApiError') return explainApi(error as JetStreamApiError);
  if (name === 'JetStreamNotEnabled') return explainSilence(connection, subject);
  if (reason === 'PermissionViolationError') {
    return `the broker does not permit this: ${message}. Allow the user to publish to ${subject} and to subscribe to _INBOX.>`;
  }
  if (name === 'InvalidArgumentError' && message.includes('max_payload')) {
    const limit = connection.info?.max_payload ?? 0;
    return `the message is larger than the broker's max_payload of ${limit.toLocaleString('en')} bytes: raise max_payload, or set maxWebhookBytes to at most ${(limit - HEADER_BYTES).toLocaleString('en')}`;
  }
  return isLost(error) ? 'the connection was lost before the message was confirmed' : message;
}

/** Bytes for the headers of a message, of which the custom ones take most. */
const HEADER_BYTES = 24 * 1024;

const explainApi = (error: JetStreamApiError): string =>
  `${API_ERRORS[error.code] ?? 'JetStream rejected the message'} (${error.message}, code ${error.code})`;

/** Returns whether the connection was lost, so that a message may have been confirmed. */
export const isLost = (error: unknown): boolean =>
  /^(connection closed|closed connection|connection draining)$/.test((error as Error).message);

/** Returns why no server responded to a subject. */
async function explainSilence(connection: NatsConnection, subject: string): Promise<string> {
  try {
    const { streams } = await createManager(connection);
    const stream = await streams.find(subject);
    return `the JetStream stream ${stream} has no leader now: check its servers (nats stream info ${stream})`;
  } catch (error) {
    return (error as Error).message === 'no stream matches subject'
      ? `no JetStream stream has the subject ${subject}: create one (nats stream add NAME --subjects '${subject}')`
      : 'JetStream did not respond: check that it is enabled for the account, and that its servers have a leader';
  }
}
