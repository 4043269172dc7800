/**
 * Webhook URLs of queues: `nats://user:password@host:4222/subject`. Each webhook is a message with
 * the body and headers of the request.
 */

interface QueueScheme {
  broker: string;
  /** The port of URLs without one. */
  port: number;
  isTls: boolean;
}

/** The schemes of the URLs, spelled as the clients of the brokers spell them. */
const SCHEMES: Readonly<Record<string, QueueScheme>> = {
  'nats:': { broker: 'NATS', port: 4222, isTls: false },
  'tls:': { broker: 'NATS', port: 4222, isTls: true },
};

const PLACEHOLDERS = ['stream', 'tag', 'chain', 'phase'] as const;

/** Values of a webhook that a subject may contain. */
export type SubjectValues = Record<(typeof PLACEHOLDERS)[number], string>;

/** The URL of a stream whose webhooks go to a queue. */
export interface QueueUrl extends QueueScheme {
  /** Servers of one cluster, without brackets. All use the same port. */
  hosts: readonly string[];
  /** The subject, with placeholders. */
  subject: string;
  /** Name of the JetStream stream that must take the messages; undefined for any. */
  stream: string | undefined;
}

const EXAMPLE = 'nats://host:4222/sluice.{stream}';
/** Matches one part of a subject. Servers reserve `*` and `>`, which match other subjects. */
const TOKEN = /^[^\s.*>]+$/;

/** Returns the scheme of a queue's URL; undefined for other URLs. */
export const queueSchemeOf = (url: string): QueueScheme | undefined =>
  SCHEMES[/^[a-z]+:(?=\/\/)/i.exec(url)?.[0].toLowerCase() ?? ''];

/**
 * Parses the webhook URL of a queue.
 *
 * @throws Error with the problem, which completes "webhookUrl …"
 */
export function parseQueueUrl(text: string): QueueUrl {
  const scheme = queueSchemeOf(text);
  const url = scheme && URL.parse(text);
  if (!url || url.hostname === '') {
    throw new Error(`should be a URL with a host and a subject, such as ${EXAMPLE}`);
  }
  const hosts = url.hostname.replaceAll(/[[\]]/g, '').split(',');
  if (hosts.includes('')) throw new Error('should have commas only between hosts');
  if ([...url.searchParams.keys()].some((name) => name !== 'stream') || url.hash !== '') {
    throw new Error('should have no parameter after the subject except ?stream=NAME');
  }
  return {
    ...scheme,
    hosts,
    port: url.port === '' ? scheme.port : Number(url.port),
    subject: parseSubject(url.pathname.slice(1)),
    stream: url.searchParams.get('stream') || undefined,
  };
}

function parseSubject(path: string): string {
  const subject = decode(path);
  if (subject === '') throw new Error(`should have a subject after the host, such as ${EXAMPLE}`);
  const tokens = subject.split('.');
  if (!tokens.every((token) => TOKEN.test(token)) || subject.startsWith('$')) {
    throw new Error(
      'should have a subject of parts that are separated by dots, without spaces, * and >, and without $ at the start',
    );
  }
  for (const text of subject.split('{').slice(1)) {
    const placeholder = `{${text.slice(0, text.indexOf('}') + 1)}`;
    if (!PLACEHOLDERS.some((name) => placeholder === `{${name}}`)) {
      const known = PLACEHOLDERS.map((name) => `{${name}}`);
      throw new Error(`should have only the placeholders ${known.join(', ')}, not ${placeholder}`);
    }
  }
  return subject;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Error('should have a % only before two hexadecimal digits');
  }
}

/** Returns why a text that starts with a queue's scheme is not a valid URL; undefined if it is. */
export function queueUrlProblem(text: string): string | undefined {
  try {
    parseQueueUrl(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Returns the subject of a webhook. Characters that a part of a subject cannot have become `_`, as
 * does an empty value, such as each value of a test webhook.
 */
export const toSubject = (subject: string, values: SubjectValues): string =>
  PLACEHOLDERS.reduce(
    (filled, name) =>
      filled.replaceAll(`{${name}}`, values[name].replaceAll(/[^\w-]/g, '_') || '_'),
    subject,
  );

/** Returns whether a subject depends on the webhook. */
export const hasPlaceholder = (subject: string): boolean => subject.includes('{');
