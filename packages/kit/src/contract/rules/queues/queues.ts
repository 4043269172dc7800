/** The brokers whose queues webhooks can be sent to. */
import { type QueueBroker, parseBrokerUrl, schemeOf } from './broker.ts';
import { KAFKA } from './kafka.ts';
import { NATS } from './nats.ts';
import { RABBIT_MQ } from './rabbitMq.ts';

export const QUEUE_BROKERS: readonly QueueBroker[] = [NATS, RABBIT_MQ, KAFKA];

/** Schemes of the URLs, with `//`. */
export const QUEUE_SCHEMES: readonly string[] = QUEUE_BROKERS.flatMap(({ plain, tls }) => [
  `${plain.scheme}//`,
  `${tls.scheme}//`,
]);

/** The forms of the URLs, for messages. */
export const QUEUE_FORMS = QUEUE_BROKERS.map(
  ({ plain, tls, needs }) => `${plain.scheme}// or ${tls.scheme}// with ${needs}`,
).join(', ');

/** Returns the broker that a URL is meant for; undefined for URLs that are not of queues. */
export function queueBrokerOf(url: string): QueueBroker | undefined {
  const scheme = schemeOf(url);
  return QUEUE_BROKERS.find(({ plain, tls }) => scheme === plain.scheme || scheme === tls.scheme);
}

/** Returns why a text that starts with a queue's scheme is not a valid URL; undefined if it is. */
export function queueUrlProblem(text: string): string | undefined {
  try {
    parseBrokerUrl(queueBrokerOf(text)!, text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
