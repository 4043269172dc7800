import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQueueUrl, queueSchemeOf, queueUrlProblem, toSubject } from './queue.ts';

test('a URL of a queue has a host, a subject and possibly a JetStream stream', () => {
  expect(parseQueueUrl('nats://user:pass@Broker.example/hooks.{stream}.{chain}')).toEqual({
    broker: 'NATS',
    isTls: false,
    hosts: ['Broker.example'],
    port: 4222,
    subject: 'hooks.{stream}.{chain}',
    stream: undefined,
  });
  expect(parseQueueUrl('TLS://a,b,c:4333/hooks?stream=HOOKS')).toMatchObject({
    isTls: true,
    hosts: ['a', 'b', 'c'],
    port: 4333,
    stream: 'HOOKS',
  });
  expect(parseQueueUrl('nats://[::1]:4222/hooks')).toMatchObject({ hosts: ['::1'] });
});

test.each([
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
  ['nats://a/a?stream=b&x=1', /no parameter .* except \?stream=NAME/],
  ['nats://a/a#b', /no parameter/],
])('%s: its problem says what to change', (url, problem) => {
  expect(queueUrlProblem(url)).toMatch(problem);
});

test('other URLs are not of queues', () => {
  for (const url of ['https://a/b', 'sluice://feed', 'nats:a', 'constructor://a', '']) {
    expect(queueSchemeOf(url)).toBeUndefined();
  }
});

test('property: each value is one part of the subject', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, text, text, (stream, tag, chain, phase) => {
      const subject = toSubject('a.{stream}.{tag}.{chain}.{phase}', { stream, tag, chain, phase });
      expect(subject).toMatch(/^a(\.[\w-]+){4}$/);
    }),
  );
});
