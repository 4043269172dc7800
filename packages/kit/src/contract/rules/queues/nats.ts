/** Webhook URLs of NATS JetStream: `nats://user:password@host:4222/subject?stream=NAME`. */
import { type QueueBroker, decodePart } from './broker.ts';
import { parseTemplate } from './template.ts';

export interface NatsTarget {
  /** Template of the subject. */
  subject: string;
  /** Name of the JetStream stream that must take the messages; undefined for any. */
  stream: string | undefined;
}

const EXAMPLE = 'nats://host:4222/sluice.{stream}';
/** Matches one part of a subject. Servers reserve `*` and `>`, which match other subjects. */
const TOKEN = /^[^\s.*>]+$/;

export const NATS: QueueBroker<NatsTarget> = {
  name: 'NATS',
  plain: { scheme: 'nats:', port: 4222 },
  tls: { scheme: 'tls:', port: 4222 },
  needs: 'a subject',
  example: EXAMPLE,
  parameters: ['stream'],
  parseTarget({ pathname, searchParams }) {
    const subject = decodePart(pathname.slice(1));
    if (subject === '') throw new Error(`should have a subject after the host, such as ${EXAMPLE}`);
    if (!subject.split('.').every((token) => TOKEN.test(token)) || subject.startsWith('$')) {
      throw new Error(
        'should have a subject of parts that are separated by dots, without spaces, * and >, and without $ at the start',
      );
    }
    return { subject: parseTemplate(subject), stream: searchParams.get('stream') || undefined };
  },
};
