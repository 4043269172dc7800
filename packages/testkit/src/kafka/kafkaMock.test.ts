import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../until.ts';
import { type KafkaMock, startKafkaMock } from './kafkaMock.ts';

let mock: KafkaMock;
beforeAll(async () => {
  mock = await startKafkaMock({ brokers: 3 });
});
afterAll(() => mock?.stop());

async function produce(...lines: string[]): Promise<void> {
  const broker = `127.0.0.1:${mock.network.port}`;
  const kcat = spawn('kcat', ['-P', '-b', broker, '-t', 'a', '-K', ':', '-H', 'x-own=a value']);
  kcat.stdin.end(lines.join('\n'));
  await once(kcat, 'close');
}

test('a topic keeps what clients write that know only the proxy, until the process is killed', async () => {
  await produce('key:one', 'key:two');
  expect(mock.brokers).toHaveLength(3);
  const records = await mock.read('a');
  expect(records).toMatchObject([
    { key: 'key', headers: { 'x-own': 'a value' }, body: 'one' },
    { key: 'key', headers: { 'x-own': 'a value' }, body: 'two', partition: records[0]!.partition },
  ]);
  await mock.kill();
  await mock.start();
  await produce('key:three');
  const after = await until('the new cluster has the message', async () => {
    const found = await mock.read('a');
    return found.length > 0 && found;
  });
  expect(after).toMatchObject([{ body: 'three' }]);
});

test('a follower gets earlier and later messages of a topic', async () => {
  await produce('key:four');
  const bodies: string[] = [];
  await mock.follow('a', ({ body }) => void bodies.push(body));
  await until('the earlier message has arrived', () => bodies.includes('four'));
  await produce('key:five');
  await until('the later message has arrived', () => bodies.includes('five'));
  expect(bodies).toEqual([...new Set(bodies)]);
});
