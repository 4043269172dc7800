/** Webhook URLs of Kafka: `kafka+ssl://user:password@host:9093/topic?key={stream}&sasl=scram-sha-512`. */
import { type QueueBroker, decodePart } from './broker.ts';
import { parseTemplate } from './template.ts';

/** SASL mechanisms, as Kafka's `sasl.mechanism` spells them. */
const SASL_MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;
export type SaslMechanism = (typeof SASL_MECHANISMS)[number];

export interface KafkaTarget {
  topic: string;
  /** Template of the key. Messages with the same key are in the same partition, in order. */
  key: string;
  /** How the login of the URL is sent. */
  mechanism: SaslMechanism;
}

const EXAMPLE = 'kafka://host:9092/topic';
/** Matches the names that brokers allow. */
const TOPIC = /^(?!\.{1,2}$)[\w.-]{1,249}$/;

export const KAFKA: QueueBroker<KafkaTarget> = {
  name: 'Kafka',
  plain: { scheme: 'kafka:', port: 9092 },
  tls: { scheme: 'kafka+ssl:', port: 9093 },
  needs: 'a topic',
  example: EXAMPLE,
  parameters: ['key', 'sasl'],
  parseTarget({ pathname, searchParams }) {
    const topic = decodePart(pathname.slice(1));
    if (topic === '') throw new Error(`should have a topic after the host, such as ${EXAMPLE}`);
    if (!TOPIC.test(topic)) {
      throw new Error(
        'should have a topic of at most 249 letters, digits, dots, hyphens and underscores',
      );
    }
    return {
      topic,
      key: parseTemplate(searchParams.get('key') || '{stream}'),
      mechanism: parseMechanism(searchParams.get('sasl') ?? 'PLAIN'),
    };
  },
};

function parseMechanism(text: string): SaslMechanism {
  const mechanism = SASL_MECHANISMS.find((each) => each === text.toUpperCase());
  if (mechanism === undefined) {
    const known = SASL_MECHANISMS.map((each) => each.toLowerCase()).join(', ');
    throw new Error(`should have one of these values of ?sasl=: ${known}`);
  }
  return mechanism;
}
