import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseBrokerUrl } from './broker.ts';
import { KAFKA } from './kafka.ts';
import { NATS } from './nats.ts';
import { RABBIT_MQ } from './rabbitMq.ts';
import { queueBrokerOf, queueUrlProblem } from './queues.ts';
import { fillTemplate } from './template.ts';

test('a URL of NATS has a host, a subject and possibly a JetStream stream', () => {
  expect(parseBrokerUrl(NATS, 'nats://user:pass@Broker.example/hooks.{stream}.{chain}')).toEqual({
    isTls: false,
    hosts: ['Broker.example'],
    port: 4222,
    subject: 'hooks.{stream}.{chain}',
    stream: undefined,
  });
  expect(parseBrokerUrl(NATS, 'TLS://a,b,c:4333/hooks?stream=HOOKS')).toMatchObject({
    isTls: true,
    hosts: ['a', 'b', 'c'],
    port: 4333,
    stream: 'HOOKS',
  });
  expect(parseBrokerUrl(NATS, 'nats://[::1]:4222/hooks')).toMatchObject({ hosts: ['::1'] });
});

test('a URL of Kafka has a topic, and possibly a key and a mechanism of the login', () => {
  expect(parseBrokerUrl(KAFKA, 'kafka://broker/hooks')).toEqual({
    isTls: false,
    hosts: ['broker'],
    port: 9092,
    topic: 'hooks',
    key: '{stream}',
    mechanism: 'PLAIN',
  });
  const url = 'Kafka+SSL://user:pass@a,b/hooks?key={chain}.a&sasl=scram-sha-512';
  expect(parseBrokerUrl(KAFKA, url)).toMatchObject({
    isTls: true,
    hosts: ['a', 'b'],
    port: 9093,
    key: '{chain}.a',
    mechanism: 'SCRAM-SHA-512',
  });
});

test('a URL of RabbitMQ has a host, a vhost, an exchange and a routing key', () => {
  const url = 'amqps://user:pass@a,b/orders%2Feu?exchange=hooks&routingKey=paid.{chain}';
  expect(parseBrokerUrl(RABBIT_MQ, url)).toEqual({
    isTls: true,
    hosts: ['a', 'b'],
    port: 5671,
    vhost: 'orders/eu',
    exchange: 'hooks',
    routingKey: 'paid.{chain}',
  });
  for (const [place, vhost] of Object.entries({ '': '/', '/': '/', '/%2F': '/', '/eu': 'eu' })) {
    expect(parseBrokerUrl(RABBIT_MQ, `amqp://host${place}?routingKey=queue`)).toMatchObject({
      isTls: false,
      port: 5672,
      vhost,
      exchange: '',
      routingKey: 'queue',
    });
  }
});

test.each([
  ['amqp://', /host and a routing key, such as amqp:/],
  ['amqp://a', /name of a queue as routingKey/],
  ['amqp://a/b/c?routingKey=q', /%2F for a \//],
  ['amqp://a/%zz?routingKey=q', /% only before/],
  ['amqp://a/?routingKey=q&x=1', /no parameters except exchange and routingKey$/],
  ['amqp://a/?routingKey={block}', /only the placeholders/],
  [`amqp://a/?routingKey=${'é'.repeat(128)}`, /at most 255 bytes/],
  ['nats://', /host and a subject, such as nats:/],
  ['nats://:4222/a', /host and a subject/],
  ['nats://a:4222,b:4222/a', /host and a subject/],
  ['nats://a', /subject after the host/],
  ['nats://a,,b/a', /commas only between hosts/],
  ['nats://a/%zz', /% only before/],
  ['nats://a/hooks.', /parts that are separated by dots/],
  ['nats://a/hooks.>', /without spaces, \* and >/],
  ['nats://a/$JS.API', /without \$ at the start/],
  ['nats://a/a{chain', /not \{$/],
  ['nats://a/a{block}', /only the placeholders \{stream\}, .*not \{block\}/],
  ['nats://a/a?stream=b&x=1', /no parameters except stream$/],
  ['nats://a/a#b', /no # and/],
  ['kafka://a', /topic after the host, such as kafka:/],
  ['kafka://a/b/c', /a topic of at most 249 letters, digits/],
  ['kafka://a/..', /topic/],
  [`kafka://a/${'b'.repeat(250)}`, /a topic of at most 249/],
  ['kafka://a/b?key={block}', /only the placeholders/],
  [
    'kafka://a/b?sasl=gssapi',
    /one of these values of \?sasl=: plain, scram-sha-256, scram-sha-512/,
  ],
  ['kafka://a/b?acks=1', /no parameters except key and sasl$/],
])('%s: its problem says what to change', (url, problem) => {
  expect(queueUrlProblem(url)).toMatch(problem);
});

test('a broker is known by the scheme of its URLs', () => {
  expect(queueBrokerOf('Nats://a/b')).toBe(NATS);
  expect(queueBrokerOf('tls://a/b')).toBe(NATS);
  expect(queueBrokerOf('kafka+ssl://a/b')).toBe(KAFKA);
  expect(queueBrokerOf('amqps://a/b')).toBe(RABBIT_MQ);
  for (const url of ['https://a/b', 'sluice://feed', 'nats:a', 'constructor://a', '']) {
    expect(queueBrokerOf(url)).toBeUndefined();
  }
});

test('property: each value is one word of a filled template', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, text, text, (stream, tag, chain, phase) => {
      const filled = fillTemplate('a.{stream}.{tag}.{chain}.{phase}', {
        stream,
        tag,
        chain,
        phase,
      });
      expect(filled).toMatch(/^a(\.[\w-]+){4}$/);
    }),
  );
});
