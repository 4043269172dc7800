import { expect, test } from 'vitest';
import { problemOfUrl } from '../draft/problems.ts';
import { DESTINATION_KINDS, isExample, kindOf } from './kinds.ts';

test('each kind has the URL that it begins with, and only examples have names to replace', () => {
  for (const kind of DESTINATION_KINDS) expect(kindOf(kind.start), kind.title).toBe(kind);
  const examples = DESTINATION_KINDS.filter(({ start }) => isExample(start));
  expect(examples.map(({ title }) => title)).toEqual(['NATS', 'RabbitMQ', 'Kafka', 'PostgreSQL']);
  for (const { start } of examples) {
    expect(problemOfUrl(start)).toMatch(/^Replace the names/);
    expect(problemOfUrl(start.replace(/\bhost\b/, 'broker.example'))).toBeUndefined();
  }
});

test('the scheme of a URL decides its kind', () => {
  const titleOf = (url: string): string => kindOf(url).title;
  expect(titleOf('sluice://inbox/demo')).toBe('Inbox');
  expect(titleOf('tls://a/subject')).toBe('NATS');
  expect(titleOf('kafka+ssl://a/topic')).toBe('Kafka');
  expect(titleOf('postgresql://a/b?schema=c')).toBe('PostgreSQL');
  expect([titleOf(''), titleOf('https://a.example'), titleOf('ftp://a')]).toEqual(
    Array.from({ length: 3 }, () => 'Webhook'),
  );
});
